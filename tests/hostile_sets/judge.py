"""What the hostile sets share: running the program on one case and judging it from the outside.

A case is a folder with
    in/       what the program reads, made by the set
    out/      where it may write
    outside/  what must stay as it is: a canary and a secret that no output may contain
    home/, tmp/  of the program; nothing may be left there
A case passes when the program ends by itself with the status that the case expects, within its time and memory, prints no
control characters, leaves everything but out/ (and what the case names) as it was, and the secret appears nowhere.
"""

import functools
import hashlib
import io
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import time
import zipfile

SECRET = b"the-secret-of-the-judge-5b1c"
SECONDS = 30
MEMORY = 1 << 30  # of addresses; includes mapped files
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


class Case:
    def __init__(self, root, name):
        self.name = name
        self.root = pathlib.Path(root) / name
        shutil.rmtree(self.root, ignore_errors=True)
        for folder in ("in", "out", "outside", "home", "tmp"):
            (self.root / folder).mkdir(parents=True)
        self.inside, self.out, self.outside = self.root / "in", self.root / "out", self.root / "outside"
        (self.outside / "secret").write_bytes(SECRET + b"\n")
        (self.outside / "canary").write_text("as it was\n")
        (self.outside / "folder").mkdir()
        (self.outside / "folder/secret.so").write_bytes(b"\x7fELF" + SECRET)

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("WHEELSMITH_", "PIP_", "GIT_", "XDG_"))}
        kept.update(HOME=str(self.root / "home"), TMPDIR=str(self.root / "tmp"), LC_ALL="C", GIT_CONFIG_NOSYSTEM="1",
                    XDG_CONFIG_HOME=str(self.root / "home/config"), XDG_STATE_HOME=str(self.root / "home/state"),
                    WHEELSMITH_STORE=str(self.root / "out/store"))
        return kept


def describe(path):
    """What a path is, without following it: changes of content, kind, mode or target make it another."""
    status = os.lstat(path)
    kind = stat.S_IFMT(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return ("link", os.readlink(path))
    if stat.S_ISREG(status.st_mode):
        if status.st_size > 64 << 20:
            return ("large", status.st_size, status.st_mtime_ns)
        with open(path, "rb") as file:
            return ("file", status.st_mode, hashlib.sha256(file.read()).hexdigest())
    return (kind, status.st_mode)


def snapshot(root, but=("out",)):
    result = {}
    for folder, folders, files in os.walk(os.fsencode(root)):
        relative = os.path.relpath(folder, os.fsencode(root))
        if relative == b".":
            folders[:] = [name for name in folders if os.fsdecode(name) not in but]
        for name in folders + files:
            path = os.path.join(folder, name)
            try:
                result[path] = describe(path)
            except OSError as error:
                result[path] = ("unreadable", error.errno)
    return result


def contains_secret(path):
    """Also inside the archives that the program wrote."""
    try:
        if path.endswith((b".whl", b".zip")) and zipfile.is_zipfile(os.fsdecode(path)):
            with zipfile.ZipFile(os.fsdecode(path)) as archive:
                for member in archive.infolist():
                    data = archive.read(member)
                    if SECRET in data:
                        return True
                    if member.filename.endswith((".tar.xz", ".tar")):
                        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                            for inner in tar:
                                if inner.isfile() and SECRET in tar.extractfile(inner).read():
                                    return True
        with open(path, "rb") as file:
            return SECRET in file.read()
    except (OSError, zipfile.BadZipFile, tarfile.TarError):
        return False


@functools.lru_cache
def is_sanitized(program):
    with open(program, "rb") as file:
        return b"__asan_init" in file.read()


def run(case, argv, seconds=SECONDS, memory=MEMORY, while_running=None):
    def limits():
        os.setsid()
        if memory and not sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    sanitized = is_sanitized(argv[0])  # the shadow of its memory takes 20 TB of addresses
    began = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=case.out,
                               env=case.environment(), preexec_fn=limits)
    if while_running:
        while_running(process)
    try:
        out, err = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        status = "timeout"
    return status, out, err, time.monotonic() - began


def judge(case, argv, expected, problems, but=("out",), may_contain=(), **more):
    """expected: the set of exit statuses that are right for this case."""
    before = snapshot(case.root, but)
    status, out, err, seconds = run(case, argv, **more)
    told = f"{case.name}: "
    shown = (err or out).decode("utf-8", "replace").strip()[-600:]
    if status not in expected:
        problems.append(f"{told}exit status {status}, expected {sorted(expected)}: {shown}")
    if re.search(rb"Sanitizer|runtime error:|terminate called", err):
        problems.append(f"{told}{shown}")
    for name, text in (("output", out), ("errors", err)):
        if CONTROL.search(text):
            problems.append(f"{told}control characters in its {name}: {text[-300:]!r}")
        if SECRET in text:
            problems.append(f"{told}the secret is in its {name}")
        if len(text) > 5_000_000:
            problems.append(f"{told}{len(text)} bytes of {name}")
    after = snapshot(case.root, but)
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            problems.append(f"{told}{path!r} was {before.get(path)}, is {after.get(path)}")
            if len(problems) > 50:
                break
    for folder, _, files in os.walk(os.fsencode(case.out)):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                if not os.path.realpath(path).startswith(os.fsencode(str(case.root.resolve()))):
                    problems.append(f"{told}{path!r} is a link out of the case: {os.readlink(path)!r}")
                continue
            if not stat.S_ISREG(os.lstat(path).st_mode):
                problems.append(f"{told}{path!r} is neither a file nor a folder")
                continue
            if name not in may_contain and contains_secret(path):
                problems.append(f"{told}the secret is in {path!r}")
    return status, out, err, seconds


def finish(problems, count, began):
    if problems:
        print("\n".join(problems[:60]))
        print(f"{len(problems)} problems")
        sys.exit(1)
    print(f"{count} cases in {time.monotonic() - began:.1f} s, nothing got out")
