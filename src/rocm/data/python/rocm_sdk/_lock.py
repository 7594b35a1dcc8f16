"""One process at a time.

The lock is on a file of the package itself: nothing has to be made for it, so nothing stays behind. The system frees it
when its holder ends, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt


def _try_lock(descriptor: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            os.lseek(descriptor, 0x7FFF0000, os.SEEK_SET)  # behind the text: the lock forbids to read, too
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        return True
    except (BlockingIOError, PermissionError):
        return False


@contextlib.contextmanager
def held(path: Path, quiet: bool = True):
    try:
        descriptor = os.open(path, os.O_RDWR)  # some network file systems lock nothing else
    except OSError:
        descriptor = os.open(path, os.O_RDONLY)  # someone else's environment, which may need nothing written
    try:
        waited = 0.0
        while not _try_lock(descriptor):
            if waited == 0.0 and not quiet:
                print("rocm-sdk: another process is at it; waiting", file=sys.stderr)
            time.sleep(0.05)
            waited += 0.05
        yield
    finally:
        os.close(descriptor)
