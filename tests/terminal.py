#!/usr/bin/env python3
"""Runs a command on a pseudo-terminal, answers its questions, and prints its output.

Usage: terminal.py ANSWER COMMAND [ARGUMENT]…
ANSWER is typed, with a line end, whenever the command asks [y/N]; "^C" and "^D" are those keys. Exit status as the command's;
99 where it asked nothing.
"""

import os
import pty
import select
import sys
import time

answer = {"^C": b"\x03", "^D": b"\x04"}.get(sys.argv[1], sys.argv[1].encode() + b"\n")
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown, asked, deadline = b"", 0, time.time() + 60
while time.time() < deadline:
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    shown += piece
    while shown.count(b"[y/N] ") > asked:
        asked += 1
        os.write(terminal, answer)
sys.stdout.write(shown.decode(errors="replace").replace("\r\n", "\n"))
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(status if asked else 99)
