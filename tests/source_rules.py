#!/usr/bin/env python3
"""Rules of the code that a compiler cannot check (ARCHITECTURE.md, "Rules that hold everywhere").

1. A catch clause passes the error on, tells it (uses the variable that it names), or says in a comment why the error is
   no loss. `catch (...)` passes it on or keeps it (std::current_exception).
2. File descriptors and sockets are touched in src/sys only. Others hold the handles of src/sys/io.
3. A file's content is remembered by sys::FileState or with sys::is_settled, not by a plain stat: a second write within
   one tick of the file system's clock does not change that.

Usage: source_rules.py SOURCE_FOLDER (the repository's src). Prints FILE:LINE: what is wrong; exit status 1 if anything is.
"""

import pathlib
import re
import sys

# Files exempt from a rule, and why.
DROPPED_ERRORS = {
    "cli/report_sources.cc": "not reviewed yet",
    "doctor/examine.cc": "not reviewed yet",
}
RAW_DESCRIPTORS = {
    "governor/hook": "runs inside the processes of others, without our libraries",
    "cli/main.cc": "writes when there is no memory left",
}

PLAIN_STATS = {
    "governor/shim/shim_folder_linux.cc": "names of folders; nothing about the content is remembered",
    "toolchain/ask.cc": "compares with the states that states_to_keep() kept",
}

CALLS = (
    "open openat openat2 creat close close_range read readv pread write writev pwrite lseek dup dup2 dup3 fcntl ioctl pipe "
    "pipe2 poll ppoll select socket socketpair bind listen accept accept4 connect send sendto sendmsg sendfile recv "
    "recvfrom recvmsg shutdown getsockopt setsockopt getsockname epoll_create1 epoll_ctl epoll_wait eventfd signalfd "
    "timerfd_create inotify_init1 memfd_create fsync fdatasync ftruncate fstat fstatat fchmod futimens utimensat mkdirat "
    "unlinkat renameat linkat symlinkat fork vfork"
).split()
CALL = re.compile(r"(?<![\w)>])::(%s)\(" % "|".join(CALLS))
HEADERS = re.compile(
    r"#include <(fcntl\.h|poll\.h|netdb\.h|arpa/inet\.h|netinet/[a-z]+\.h|sys/(socket|un|epoll|eventfd|sendfile|poll)\.h)>"
)
CATCH = re.compile(r"\bcatch \(([^)]*)\)\s*\{")


def body_of(text, start):
    """The text of a block whose '{' is just before `start`, and the rest of the line after its '}'."""
    depth, at = 1, start
    while depth > 0:
        match = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])\'|[{}]').search(text, at)
        at = match.end()
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
    return text[start : at - 1]


def catches(name, text):
    if name in DROPPED_ERRORS:
        return
    for match in CATCH.finditer(text):
        if text.rfind("\n", 0, match.start()) < text.rfind("//", 0, match.start()):
            continue  # a comment about catching
        body = body_of(text, match.end())
        plain = re.sub(r"//[^\n]*", "", body)
        line = text.count("\n", 0, match.start()) + 1
        if re.search(r"\bthrow\b", plain) or "current_exception" in plain:
            continue
        if match.group(1) == "...":
            yield f"{name}:{line}: catch (...) that neither passes the exception on nor keeps it"
            continue
        variable = re.search(r"&\s*(\w+)$", match.group(1))
        if variable and re.search(rf"\b{variable.group(1)}\b", plain):
            continue
        if "//" not in body:
            yield f"{name}:{line}: an error is dropped, and no comment says why that is no loss"


def descriptors(name, text):
    if name.startswith("sys/") or any(name.startswith(one) for one in RAW_DESCRIPTORS):
        return
    for number, line in enumerate(text.split("\n"), 1):
        code = line.split("//")[0]
        if HEADERS.search(code):
            yield f"{name}:{number}: {line.strip()}: file descriptors and sockets belong to src/sys"
        for call in CALL.findall(code):
            yield f"{name}:{number}: ::{call}() belongs to src/sys; see the handles of src/sys/io"
        if re.search(r"\.raw\(\)|->raw\(\)|\bint (m_)?\w*fd\b", code):
            yield f"{name}:{number}: the number of a descriptor belongs to src/sys"


def plain_stats(name, text):
    if name.startswith("sys/") or name in PLAIN_STATS:
        return
    for number, line in enumerate(text.split("\n"), 1):
        if "stat_fingerprint(" in line.split("//")[0]:
            yield f"{name}:{number}: use sys::FileState to remember what a file contains"


SAMPLES = [  # code, how many problems
    ("try { f(); } catch (const Error&) {}", 1),
    ("try { f(); } catch (const Error& error) { return false; }", 1),
    ("try { f(); } catch (...) {  // why not\n}", 1),
    ("try { f(); } catch (const Error& error) { list.push_back(error.what()); }", 0),
    ("try { f(); } catch (const Error&) {  // it is only a cache\n}", 0),
    ("try { f(); } catch (...) { g(); throw; }", 0),
    ("try { f(); } catch (const Error& e) { if (\"}\") { throw e.in(x); } }", 0),
    ("const int size = ::read(fd, data, 3);", 1),
    ("#include <poll.h>", 1),
    ("socket.fd().raw()", 1),
    ("const auto key = sys::stat_fingerprint(path);", 1),
    ("std::filesystem::read_symlink(x); sys::read(x); File::open(y);", 0),
]


def main():
    for code, wanted in SAMPLES:
        found = [*catches("sample.cc", code), *descriptors("sample.cc", code), *plain_stats("sample.cc", code)]
        assert len(found) == wanted, (code, found)
    root = pathlib.Path(sys.argv[1])
    problems = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        is_test = path.name.endswith("_test.cc") or path.name.startswith("test_") or name.startswith("testing/")
        if path.suffix not in (".cc", ".h", ".c") or is_test:
            continue
        text = path.read_text(encoding="utf-8")
        problems += catches(name, text)
        problems += descriptors(name, text)
        problems += plain_stats(name, text)
    print("\n".join(problems) if problems else "no rule is broken")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
