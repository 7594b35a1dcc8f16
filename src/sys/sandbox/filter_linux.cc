#include "sys/sandbox/filter_linux.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"

// The filter is a deny list, not an allow list: compilers, interpreters and build systems of the next ten years must
// run under it. It contains calls that change the machine (clock, modules, swap), create or enter namespaces (the way
// out of the sandbox), inspect other programs, or have led into the kernel more often than builds needed them (bpf,
// io_uring, userfaultfd, keyrings). The result is EPERM, which programs expect; ENOSYS where they then fall back.
//
// Sockets are an exception: there are more than forty families, and several (VSOCK to the host of a virtual machine)
// ignore namespaces. So only the four that builds use are allowed.

namespace wheelsmith::sys {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t k_architecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t k_foreign_numbers = 0x40000000;  // x32: the same architecture, other numbers
#elif defined(__aarch64__)
constexpr std::uint32_t k_architecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t k_foreign_numbers = 0xffffffff;
#else
#error "the system call filter supports x86-64 and aarch64"
#endif

constexpr std::uint32_t k_new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                           CLONE_NEWPID | CLONE_NEWNET | 0x80 /* CLONE_NEWTIME */;

// Numbers that older headers lack are the same on all architectures from 424 on.
constexpr std::array k_forbidden = {
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    428 /* open_tree */,
    429 /* move_mount */,
    430 /* fsopen */,
    431 /* fsconfig */,
    432 /* fsmount */,
    433 /* fspick */,
    442 /* mount_setattr */,
    467 /* open_tree_attr */,
    SYS_chroot,
    SYS_setns,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_acct,
    SYS_quotactl,
    443 /* quotactl_fd */,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_syslog,
    SYS_open_by_handle_at,
    SYS_lookup_dcookie,
    SYS_nfsservctl,
    SYS_vhangup,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_fanotify_init,
    SYS_process_vm_writev,
#if defined(__x86_64__)
    SYS_iopl,
    SYS_ioperm,
    SYS_uselib,
    SYS_ustat,
    SYS_sysfs,
    SYS__sysctl,
    SYS_create_module,
    SYS_modify_ldt,
#endif
};
// Programs fall back when these do not exist at all.
constexpr std::array<long, 4> k_missing = {SYS_clone3, 425 /* io_uring_setup */, 426 /* io_uring_enter */,
                                           427 /* io_uring_register */};

class Program {
 public:
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t yes = 0, std::uint8_t no = 0) {
    m_lines.push_back({code, yes, no, value});
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void answer(std::uint32_t what) { add(BPF_RET | BPF_K, what); }
  static std::uint32_t error(int number) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number); }

  // The number is loaded.
  void refuse(long number, int with) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1);
    answer(error(with));
  }
  // One call with a check of one argument: `tests` run with the argument loaded, then the call is allowed.
  template <class Tests>
  void look_at(long number, unsigned argument, const Tests& tests) {
    Program body;
    body.load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));  // the low half, on these machines
    tests(body);
    body.answer(SECCOMP_RET_ALLOW);
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0,
        static_cast<std::uint8_t>(body.m_lines.size()));
    m_lines.insert(m_lines.end(), body.m_lines.begin(), body.m_lines.end());
  }
  void refuse_value(std::uint32_t value, int with = EPERM) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(error(with));
  }
  void refuse_bits(std::uint32_t bits) {
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    answer(error(EPERM));
  }
  // Everything but these.
  void refuse_others(const std::vector<int>& allowed, int with) {
    for (std::size_t i = 0; i < allowed.size(); ++i)
      add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(allowed[i]),
          static_cast<std::uint8_t>(allowed.size() - i), 0);
    answer(error(with));
  }
  std::vector<sock_filter> m_lines;
};

Program make_filter(bool internet) {
  Program program;
  program.load(offsetof(seccomp_data, arch));
  program.add(BPF_JMP | BPF_JEQ | BPF_K, k_architecture, 1, 0);
  program.answer(Program::error(ENOSYS));  // 32-bit programs use other numbers
  program.load(offsetof(seccomp_data, nr));
  program.add(BPF_JMP | BPF_JGE | BPF_K, k_foreign_numbers, 0, 1);
  program.answer(Program::error(ENOSYS));
  for (const long number : k_forbidden) program.refuse(number, EPERM);
  for (const long number : k_missing) program.refuse(number, ENOSYS);
  program.look_at(SYS_unshare, 0, [](Program& body) { body.refuse_bits(k_new_namespaces); });
  program.look_at(SYS_clone, 0, [](Program& body) { body.refuse_bits(k_new_namespaces); });
  program.look_at(SYS_ptrace, 0, [](Program& body) {
    body.refuse_value(PTRACE_ATTACH);
    body.refuse_value(PTRACE_SEIZE);
  });
  program.look_at(SYS_ioctl, 1, [](Program& body) {
    body.refuse_value(TIOCSTI);  // types on the caller's terminal
    body.refuse_value(0x541c);   // TIOCLINUX
  });
  std::vector<int> families = {AF_UNIX, AF_NETLINK};
  if (internet) families.insert(families.end(), {AF_INET, AF_INET6});
  program.look_at(SYS_socket, 0, [&](Program& body) { body.refuse_others(families, EAFNOSUPPORT); });
  program.look_at(SYS_socketpair, 0, [](Program& body) { body.refuse_others({AF_UNIX}, EAFNOSUPPORT); });
  program.answer(SECCOMP_RET_ALLOW);
  return program;
}

[[noreturn]] void fail(const char* what) {
  throw Error(std::string("cannot create the sandbox: ") + what + ": " + std::generic_category().message(errno));
}

void drop_capabilities() {
  // The capabilities that root's programs would get on exec. Dropping them needs a capability itself: without it there
  // are none.
  for (int capability = 0; capability < 64; ++capability) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0) fail("dropping capabilities");
}

// A build needs a few processes per core; a fork bomb needs all of them. In its own user namespace the limit counts
// only its own processes.
void limit_resources() {
  const rlim_t processes = std::max<rlim_t>(2048, 64ul * usable_threads());
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) == 0 && (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > processes)) {
    limit = {processes, processes};
    ::setrlimit(RLIMIT_NPROC, &limit);
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

}  // namespace

void drop_privileges(bool internet) {
  // Keys of the user's session (Kerberos, encrypted disks) are available to every process in it.
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr, 0, 0, 0);
  limit_resources();
  drop_capabilities();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs");
  Program filter = make_filter(internet);
  const sock_fprog program{static_cast<unsigned short>(filter.m_lines.size()), filter.m_lines.data()};
  // Older kernels would slow down every filtered program to protect programs that handle secrets.
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) != 0 &&
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    fail("the system call filter");
  }
}

}  // namespace wheelsmith::sys
