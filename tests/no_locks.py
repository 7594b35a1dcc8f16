"""no_locks.py PROGRAM ARGUMENT...: runs the program where flock() and the locks of fcntl() fail with ENOLCK, as on a
network file system whose server has no lock manager. A seccomp filter does it, since the program is static and would
ignore a preloaded library. Exit status 77: the kernel has no filters."""

import ctypes
import os
import platform
import struct
import sys

ENOLCK = 37
SYSTEM_CALLS = {"x86_64": (0xC000003E, 73, 72), "aarch64": (0xC00000B7, 32, 25)}  # architecture, flock, fcntl
LOCK_COMMANDS = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000 | ENOLCK


def program(architecture, flock, fcntl):
    commands = len(LOCK_COMMANDS)
    lines = [
        (LOAD, 0, 0, 4),  # seccomp_data.arch
        (EQUAL, 0, 4 + commands, architecture),
        (LOAD, 0, 0, 0),  # seccomp_data.nr
        (EQUAL, 3 + commands, 0, flock),
        (EQUAL, 0, 1 + commands, fcntl),
        (LOAD, 0, 0, 24),  # seccomp_data.args[1], the lower half
    ]
    for i, command in enumerate(LOCK_COMMANDS):
        lines.append((EQUAL, commands - i, 0, command))
    lines += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, FAIL)]
    return b"".join(struct.pack("HBBI", *line) for line in lines)


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def main():
    known = SYSTEM_CALLS.get(platform.machine())
    if known is None:
        sys.exit(77)
    code = program(*known)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0:  # PR_SET_NO_NEW_PRIVS
        sys.exit(77)
    rules = Filter(len(code) // 8, code)
    if libc.prctl(22, 2, ctypes.byref(rules), 0, 0) != 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        sys.exit(77)
    os.execvp(sys.argv[1], sys.argv[1:])


main()
