#include "sys/process/spawn_linux.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/io/write_linux.h"
#include "sys/process/forker_linux.h"
#include "sys/process/network_linux.h"

// Between fork and exec a child of a multithreaded program may do next to nothing: another thread may have held
// malloc's lock at the moment of the fork, and nothing would release it. So everything is prepared before (Launch), and
// run_child() only makes system calls. Failures are reported through a pipe that closes when exec succeeds: an empty
// pipe means that the program runs.

namespace wheelsmith::sys {

namespace {

enum class Stage : int { isolate, folder, start };

struct Failure {
  Stage stage = Stage::start;
  int error = 0;
};

struct Launch {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* envp = nullptr;
  const char* folder = nullptr;        // or nullptr
  const IdentityMaps* maps = nullptr;  // when the child has no network
  int input = -1;
  int output = -1;
  int errors = -1;
  int report = -1;
  pid_t parent = 0;
};

[[noreturn]] void give_up(const Launch& launch, Stage stage) {
  const Failure failure{stage, errno};
  (void)!::write(launch.report, &failure, sizeof failure);
  ::_exit(127);
}

// As if started from a fresh login: signals that a parent ignores (nohup, a CI's SIGPIPE) stay ignored in its children
// unless reset.
void reset_signals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &action, nullptr);
}

void empty_signal_mask() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run_child(const Launch& launch) {
  if (launch.maps != nullptr) {
    errno = leave_network(*launch.maps);
    if (errno != 0) give_up(launch, Stage::isolate);
  }
  // A session, not only a group: a program without a controlling terminal cannot stop to ask for a password.
  ::setsid();
  reset_signals();
  // After leave_network(), since the kernel resets the signal when a process changes its credentials.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(127);
  if (::dup2(launch.input, 0) < 0 || ::dup2(launch.output, 1) < 0 || ::dup2(launch.errors, 2) < 0) {
    give_up(launch, Stage::start);
  }
  if (launch.folder != nullptr && ::chdir(launch.folder) != 0) give_up(launch, Stage::folder);
  // exec closes our own; these are descriptors that our parent failed to close. Not possible before kernel 5.11.
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  empty_signal_mask();
  ::execve(launch.program, launch.argv, launch.envp);
  give_up(launch, Stage::start);
}

[[noreturn]] void throw_start_error(const std::string& name, int error) {
  throw Error(fmt::format("cannot start {}: {}", printable(name), std::generic_category().message(error)));
}

// Descriptors 0 to 2 may be closed in this process; a new descriptor with such a number would be overwritten in the
// child.
Fd above_standard(Fd fd) {
  if (fd.raw() > 2) return fd;
  return Fd(::fcntl(fd.raw(), F_DUPFD_CLOEXEC, 3));
}

struct Pipe {
  Fd read;
  Fd write;
};

Pipe make_pipe(const std::string& name) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_start_error(name, errno);
  Pipe pipe{above_standard(Fd(ends[0])), above_standard(Fd(ends[1]))};
  if (!pipe.read.is_open() || !pipe.write.is_open()) throw_start_error(name, errno);
  return pipe;
}

Fd make_input(const Command& command) {
  if (!command.input_file.empty()) {
    Fd fd = above_standard(Fd(::open(command.input_file.c_str(), O_RDONLY | O_CLOEXEC)));
    if (!fd.is_open()) throw_sys_error(errno, "open", command.input_file);
    return fd;
  }
  if (command.input.empty()) {
    Fd fd = above_standard(Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
    if (!fd.is_open()) throw_start_error(command.argv.front(), errno);
    return fd;
  }
  // A memory file instead of a pipe: no one has to feed it while the output is read.
  Fd fd = above_standard(Fd(::memfd_create("input", MFD_CLOEXEC)));
  if (!fd.is_open()) throw_start_error(command.argv.front(), errno);
  write_all(fd, Bytes(command.input), "the input of " + command.argv.front());
  if (::lseek(fd.raw(), 0, SEEK_SET) != 0) throw_start_error(command.argv.front(), errno);
  return fd;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> entries(const Environment& environment) {
  std::vector<std::string> result;
  for (const auto& [name, value] : environment) {
    if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos ||
        value.find('\0') != std::string::npos) {
      throw Error(fmt::format("{} is not a valid environment variable", printable(name)));
    }
    result.push_back(name + "=" + value);
  }
  return result;
}

std::string program_of(const Command& command, const Environment& environment) {
  const std::string& name = command.argv.front();
  if (name.find('/') != std::string::npos) return name;
  const auto path = environment.find("PATH");
  const std::filesystem::path found =
      path != environment.end() ? find_program(name, path->second) : find_program(name, "/bin:/usr/bin");
  if (found.empty()) throw_start_error(name, ENOENT);
  return std::filesystem::absolute(found).string();
}

// A script whose interpreter is missing (a moved virtual environment) fails with the same error as a missing program.
std::string lost_interpreter(const std::string& program, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / program;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  const std::string text = FolderTree(path.parent_path()).head(path.filename(), 512).value_or("");
  if (!text.starts_with("#!")) return "its dynamic loader";
  const std::string_view line = trim(std::string_view(text).substr(2, text.find('\n') - 2));
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

[[noreturn]] void throw_failure(const Failure& failure, const Command& command, const std::string& program) {
  const std::string& name = command.argv.front();
  if (failure.stage == Stage::folder) {
    throw Error(fmt::format("cannot start {} in {}: {}", printable(name), printable(command.folder.string()),
                            std::generic_category().message(failure.error)));
  }
  if (failure.stage == Stage::isolate) {
    throw Error(fmt::format("cannot start {} without network: {}", printable(name),
                            std::generic_category().message(failure.error)));
  }
  if (failure.error == ENOENT) {
    const std::string lost = lost_interpreter(program, command.folder);
    if (!lost.empty()) throw Error(fmt::format("cannot start {}: {} does not exist", printable(name), printable(lost)));
  }
  throw_start_error(name, failure.error);
}

// Nothing when the program runs.
std::optional<Failure> read_failure(int fd) {
  Failure failure;
  ssize_t size = 0;
  do {
    size = ::read(fd, &failure, sizeof failure);
  } while (size < 0 && errno == EINTR);
  if (size == 0) return std::nullopt;
  return size == sizeof failure ? failure : Failure{Stage::start, EIO};
}

void check_words(const Command& command) {
  if (command.argv.empty() || command.argv.front().empty()) throw Error("cannot start a program without a name");
  for (const std::string& word : command.argv) {
    if (word.find('\0') != std::string::npos) throw_start_error(command.argv.front(), EINVAL);
  }
}

}  // namespace

Spawned spawn(const Command& command, ErrorStream errors) {
  check_words(command);
  const std::string& name = command.argv.front();
  const Environment environment = command.environment ? *command.environment : current_environment();
  const std::string program = program_of(command, environment);
  std::vector<std::string> words = command.argv;
  std::vector<std::string> variables = entries(environment);
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(variables);
  const IdentityMaps maps = identity_maps();

  const Fd input = make_input(command);
  Pipe output = make_pipe(name);
  Pipe error_pipe;
  if (errors == ErrorStream::separate) error_pipe = make_pipe(name);
  Pipe report = make_pipe(name);

  Launch launch;
  launch.program = program.c_str();
  launch.argv = argv.data();
  launch.envp = envp.data();
  launch.folder = command.folder.empty() ? nullptr : command.folder.c_str();
  launch.maps = command.no_network ? &maps : nullptr;
  launch.input = input.raw();
  launch.output = output.write.raw();
  launch.errors = error_pipe.write.is_open() ? error_pipe.write.raw() : output.write.raw();
  launch.report = report.write.raw();
  launch.parent = ::getpid();

  const pid_t pid = fork_from_living_thread([&launch] { run_child(launch); });
  if (pid < 0) throw_start_error(name, errno);
  report.write.close();
  if (const std::optional<Failure> failure = read_failure(report.read.raw())) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {}
    throw_failure(*failure, command, program);
  }
  for (const Fd* fd : {&output.read, &error_pipe.read}) {
    if (fd->is_open()) ::fcntl(fd->raw(), F_SETFL, O_NONBLOCK);
  }
  return {pid, std::move(output.read), std::move(error_pipe.read)};
}

}  // namespace wheelsmith::sys
