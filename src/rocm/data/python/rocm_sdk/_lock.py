"""A lock, so that one process at a time expands the devel package.

It locks a file of the package itself, so there is no lock file to create or to leave behind. The system releases the lock
when the process ends, even if it is killed.
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
            os.lseek(descriptor, 0x7FFF0000, os.SEEK_SET)  # after the text, because this lock also prevents reading
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        return True
    except (BlockingIOError, PermissionError):
        return False


@contextlib.contextmanager
def held(path: Path, quiet: bool = True):
    try:
        descriptor = os.open(path, os.O_RDWR)  # some network file systems lock nothing else
    except OSError:
        descriptor = os.open(path, os.O_RDONLY)  # an environment of another user, which may need no changes
    try:
        waited = 0.0
        while not _try_lock(descriptor):
            if waited == 0.0 and not quiet:
                print("rocm-sdk: waiting for another rocm-sdk process that is expanding the devel package", file=sys.stderr)
            time.sleep(0.05)
            waited += 0.05
        yield
    finally:
        os.close(descriptor)
