#!/usr/bin/env python3
"""What a store survives: changed bytes, a full disk, kill -9. Two small packages (one from a folder, one from a git repository, with a
prepare command, build requirements and tests) are built again and again; their wheels must always have the bytes of the undisturbed
build.

usage: store_trials.py flips|full|kills WHEELSMITH FOLDER [--count N] [--seed N]
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import zipfile

# Parts of a store that no result depends on. Changed bytes there are not detected.
EXCLUDED = {
    "locks": "empty files; only their names count",
    "logs": "text for people; nothing reads it to decide anything",
    "tmp": "leftovers of killed processes, removed as a whole",
    "trees": "the tree of an interrupted build, which the package's own code writes at will; --clean makes it anew",
    "units": "measured memory of compiles: a number decides when a compile starts, never what it makes",
    "shims": "compared with the program before each build, and written anew where they differ",
}
BACKEND = """
import base64, hashlib, os, time, zipfile
import seed

NAME = "%s"

def build_wheel(folder, config=None, metadata=None):
    time.sleep(0.1)
    text = "ANSWER = %%r\\nTEXT = %%r\\n" %% (seed.ANSWER, open("text").read())
    info = NAME + "-1.0.dist-info/"
    files = {NAME + ".py": text,
             info + "METADATA": "Metadata-Version: 2.1\\nName: %%s\\nVersion: 1.0\\n" %% NAME,
             info + "WHEEL": "Wheel-Version: 1.0\\nGenerator: backend\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"}
    def line(name):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name].encode()).digest()).rstrip(b"=").decode()
        return "%%s,sha256=%%s,%%d\\n" %% (name, digest, len(files[name]))
    record = "".join(line(name) for name in files) + info + "RECORD,,\\n"
    with zipfile.ZipFile(os.path.join(folder, NAME + "-1.0-py3-none-any.whl"), "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
        wheel.writestr(info + "RECORD", record)
    return NAME + "-1.0-py3-none-any.whl"
"""
RECIPE = """
name = "%(name)s"
summary = "a module"
[source]
%(source)s
[build]
requires = ["seed"]
%(prepare)s
[[test]]
name = "answers"
script = "import time, %(name)s; time.sleep(0.1); assert %(name)s.ANSWER == 42"
[variant.cpu]
"""
PREPARE = """
[[build.prepare]]
command = ["python", "-c", "import time; file = open('text', 'a'); [(file.write('%d\\\\n' % i), file.flush(), time.sleep(0.01)) for i in range(8)]"]
"""


class Workshop:
    """Sources, recipes, build requirements and a store, all in one folder."""

    def __init__(self, wheelsmith, folder):
        self.wheelsmith = str(pathlib.Path(wheelsmith).resolve())
        self.folder = pathlib.Path(folder).resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.store = self.folder / "store"
        self.out = self.folder / "out"
        for name in ("recipes", "wheels", "home", "tmp", "git/acme"):
            (self.folder / name).mkdir(parents=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "LANG": "C.UTF-8",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.folder / "wheels"),
            "XDG_RUNTIME_DIR": str(self.folder / "tmp"),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "WHEELSMITH_STORE": str(self.store),
            "WHEELSMITH_RECIPES": str(self.folder / "recipes"),
        }
        self._seed_wheel()
        self._package("plain", self.folder / "recipes" / "plain", 'folder = "plain"', "")
        up = self.folder / "up"
        self._package("gitty", up, 'git = "https://git.example/acme/gitty.git"\nref = "main"', PREPARE)
        who = ["-c", "user.name=them", "-c", "user.email=them@example.org"]
        for words in (["init", "-q", "--initial-branch=main"], ["add", "-A"], [*who, "commit", "-q", "-m", "first"]):
            subprocess.run(["git", *words], cwd=up, env=self.environment, check=True)
        mirror = self.folder / "git/acme/gitty.git"
        subprocess.run(["git", "clone", "-q", "--bare", str(up), str(mirror)], env=self.environment, check=True)

    def _seed_wheel(self):
        more = "".join("def f%d():\n    return %d\n" % (i, i) for i in range(500))
        files = {
            "seed.py": "ANSWER = 42\n" + more,
            "seed_data/table.txt": "0123456789\n" * 2000,
            "seed-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: seed\nVersion: 1.0\n",
            "seed-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: g\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = "".join(name + ",,\n" for name in files) + "seed-1.0.dist-info/RECORD,,\n"
        with zipfile.ZipFile(self.folder / "wheels/seed-1.0-py3-none-any.whl", "w") as wheel:
            for name, text in {**files, "seed-1.0.dist-info/RECORD": record}.items():
                wheel.writestr(name, text)

    def _package(self, name, folder, source, prepare):
        folder.mkdir()
        (folder / "pyproject.toml").write_text(
            '[build-system]\nrequires = ["seed"]\nbuild-backend = "backend"\nbackend-path = ["."]\n'
            '[project]\nname = "%s"\nversion = "1.0"\n' % name)
        (folder / "backend.py").write_text(BACKEND % name)
        (folder / "text").write_text("the text of %s\n" % name * 100)
        recipe = RECIPE % {"name": name, "source": source, "prepare": prepare}
        (self.folder / "recipes" / (name + ".toml")).write_text(recipe)

    def run(self, *words, **more):
        return subprocess.run([self.wheelsmith, *words], env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=300, **more)

    def build_words(self):
        return ["build", "plain", "gitty", "--out", str(self.out), "--mirrors", "https://git.example/=%s/git/" % self.folder]

    def build(self, *more):
        shutil.rmtree(self.out, ignore_errors=True)
        return self.run(*self.build_words(), "--json", *more)

    def phase(self, since):
        """The last phase in a step's log, and the log."""
        found = ("before the steps", "")
        logs = [path for path in (self.store / "logs").rglob("*") if path.is_file()] if (self.store / "logs").exists() else []
        newest = 0
        for log in logs:
            try:
                when, text = log.stat().st_mtime, log.read_text(errors="replace")
            except OSError:
                continue
            words = [line.split()[-1] for line in text.splitlines() if line.startswith("wheelsmith: phase ")]
            if words and when >= max(since, newest):
                newest, found = when, (words[-1], log.name)
        return found

    def wheels(self):
        files = sorted(self.out.glob("*.whl")) if self.out.exists() else []
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}

    def expect_good(self, wanted, what):
        """Builds; the wheels must have the expected bytes."""
        done = self.build()
        if done.returncode != 0 or self.wheels() != wanted:
            sys.exit("FAILED: %s: exit status %d, wheels %s, wanted %s\n%s%s" %
                     (what, done.returncode, self.wheels(), wanted, done.stdout[-3000:], done.stderr[-3000:]))


def part_of(path, store):
    return path.relative_to(store).parts[0]


def sqlite_text(path):
    """The database's content, or None if unreadable."""
    try:
        with sqlite3.connect("file:%s?mode=ro&immutable=1" % path, uri=True) as database:
            rows = list(database.iterdump())
            version = database.execute("PRAGMA user_version").fetchone()
            return rows, version
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError):
        return None


def flips(shop, count, seed):
    """One byte of one file at a time."""
    done = shop.build()
    wanted = shop.wheels()
    assert done.returncode == 0 and len(wanted) == 2, done.stderr
    verified = shop.run("store", "verify")
    assert verified.returncode == 0, verified.stdout
    template = shop.folder / "template"
    subprocess.run(["cp", "-a", str(shop.store), str(template)], check=True)
    files = collections.defaultdict(list)
    for path in sorted(template.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.stat().st_size > 0:
            files[part_of(path, template)].append(path.relative_to(template))
    for part in sorted(files):
        print("%-14s %4d files%s" % (part, len(files[part]), ": not looked for, " + EXCLUDED[part] if part in EXCLUDED else ""))
    parts = [part for part in sorted(files) if part not in EXCLUDED]
    dice = random.Random(seed)
    tally = collections.Counter()
    for number in range(count):
        part = parts[number % len(parts)]
        name = dice.choice(files[part])
        shutil.rmtree(shop.store)
        subprocess.run(["cp", "-a", str(template), str(shop.store)], check=True)
        path = shop.store / name
        before = path.stat()
        data = bytearray(path.read_bytes())
        place, change = dice.randrange(len(data)), dice.randrange(1, 256)
        data[place] ^= change
        said_before = sqlite_text(path) if part == "index.sqlite" else None
        path.chmod(before.st_mode | 0o200)
        path.write_bytes(data)
        path.chmod(before.st_mode)
        if dice.random() < 0.5:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        what = "flip %d (seed %d): byte %d of %s, xor %#x" % (number, seed, place, name, change)
        harmless = part == "index.sqlite" and sqlite_text(path) == said_before
        found = shop.run("store", "verify", "--json")
        findings = json.loads(found.stdout)["findings"]
        if harmless and not findings:
            tally["unused bytes of index.sqlite"] += 1
        elif not findings:
            sys.exit("FAILED: %s: store verify found nothing" % what)
        else:
            tally["found in " + part] += 1
        # verify repairs an index that it cannot open: the build sees the same damage.
        if part == "index.sqlite":
            path.write_bytes(data)
            for end in ("-wal", "-shm"):
                pathlib.Path(str(path) + end).unlink(missing_ok=True)
        if part not in ("blobs", "steps", "index.sqlite") or dice.random() < 0.3:
            shutil.rmtree(shop.store / "steps")
        shop.expect_good(wanted, what)
        tally["same wheels"] += 1
    print("%d of %d flips ended in the same wheels" % (tally.pop("same wheels"), count))
    for key, value in sorted(tally.items()):
        print("  %5d %s" % (value, key))


def used(folder):
    return int(subprocess.run(["du", "-s", "-B1024", str(folder)], capture_output=True, text=True, check=True).stdout.split()[0])


PHASES = ["source", "environment", "prepare", "build", "finish", "check", "test", "publish"]


def fill_at(shop, phase, ballast):
    """Starts the build and fills the disk when a step enters that phase. Returns the exit status and the actual phase."""
    shutil.rmtree(shop.out, ignore_errors=True)
    begin = time.time() - 0.01
    process = subprocess.Popen([shop.wheelsmith, *shop.build_words(), "--despite-doctor"], env=shop.environment, cwd=shop.folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = "never"
    while process.poll() is None:
        seen = shop.phase(begin)[0]
        if seen in PHASES and PHASES.index(seen) >= PHASES.index(phase):
            break
    with open(ballast, "wb", buffering=0) as file:
        for piece in (1 << 20, 1 << 12, 1):
            try:
                while file.write(b"x" * piece) == piece:
                    pass
            except OSError:
                pass
    return process.wait(timeout=300), seen


def full(shop, count, seed):
    """A small tmpfs as the store. Must be root, in a mount namespace of its own."""
    done = shop.build()
    assert done.returncode == 0, done.stderr
    wanted = shop.wheels()
    most = used(shop.store)
    shutil.rmtree(shop.store)
    shop.store.mkdir()
    outcomes, phases = collections.Counter(), collections.Counter()

    def check(what):
        for name, digest in shop.wheels().items():
            if wanted.get(name) != digest:
                sys.exit("FAILED: %s: a wrong wheel" % what)

    def recover(what):
        shop.expect_good(wanted, "after " + what)
        shutil.rmtree(shop.store / "steps")
        shop.expect_good(wanted, "once more after " + what)
        verified = shop.run("store", "verify")
        if verified.returncode != 0:
            sys.exit("FAILED: store verify after %s\n%s" % (what, verified.stdout))

    def mounted(size):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk" % size, "tmpfs", str(shop.store)], check=True)

    room = "remount,size=%dk" % (most * 4 + (1 << 20))
    for number in range(count):
        # Most of it is the shims' program, so every second size lies beyond it.
        share = (number + 1) / count
        size = int(most * 1.1 * share) if number % 2 else int(most * 0.9 + most * 0.2 * share)
        what = "a full disk of %d kB (%d of %d)" % (size, number + 1, count)
        mounted(max(64, size))
        try:
            done = shop.build("--despite-doctor")
            outcomes["sizes that were enough" if done.returncode == 0 else "sizes that were not"] += 1
            check(what)
            subprocess.run(["mount", "-o", room, str(shop.store)], check=True)
            recover(what)
        finally:
            subprocess.run(["umount", "-l", str(shop.store)], check=True)
    trials = 0
    for number in range(count):
        phase = PHASES[number % len(PHASES)]
        mounted(int(most * 1.3))
        try:
            ballast = shop.store / "ballast"
            status, seen = fill_at(shop, phase, ballast)
            what = "a disk that became full in phase %s (%d of %d)" % (seen, number + 1, count)
            phases["%s (%s)" % (seen, "built" if status == 0 else "failed")] += 1
            check(what)
            ballast.unlink()
            subprocess.run(["mount", "-o", room, str(shop.store)], check=True)
            recover(what)
            trials += 1
        finally:
            subprocess.run(["umount", "-l", str(shop.store)], check=True)
    print("%d of %d sizes of disk: the same command succeeds once there is room" % (count, count))
    print("  " + ", ".join("%d %s" % (value, key) for key, value in sorted(outcomes.items())))
    print("%d of %d disks that became full in a phase: the same command succeeds once there is room" % (trials, count))
    print("  " + ", ".join("%s %d" % pair for pair in sorted(phases.items())))


def processes_below(pid):
    """All descendants, by /proc."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as file:
                    parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass
    found, last = [], [pid]
    while last:
        last = [one for one, parent in parents.items() if parent in last]
        found += last
    return found


def kills(shop, count, seed):
    """kill -9 of everything, or of the step's process alone, at a random moment."""
    begin = time.monotonic()
    done = shop.build()
    seconds = time.monotonic() - begin
    assert done.returncode == 0, done.stderr
    wanted = shop.wheels()
    dice = random.Random(seed)
    phases, outcomes = collections.Counter(), collections.Counter()
    for number in range(count):
        if number % 4 == 0:
            shutil.rmtree(shop.store, ignore_errors=True)
        else:
            shutil.rmtree(shop.store / "steps", ignore_errors=True)
            if number % 4 == 2:
                shutil.rmtree(shop.store / "envs", ignore_errors=True)
        shutil.rmtree(shop.out, ignore_errors=True)
        moment = dice.uniform(0, seconds * 1.1)
        all_of_them = dice.random() < 0.5
        process = subprocess.Popen([shop.wheelsmith, *shop.build_words(), "--verbose"], env=shop.environment, cwd=shop.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        if number % 2:
            time.sleep(moment)
        else:
            # The moments are spread evenly over the phases, however short they are.
            target = dice.randrange(len(PHASES))
            start = time.time() - 0.01
            while process.poll() is None:
                seen = shop.phase(start)[0]
                if seen in PHASES and PHASES.index(seen) >= target:
                    break
            time.sleep(dice.uniform(0, 0.1))
            moment = time.time() - start
        below = processes_below(process.pid)
        victims = ([process.pid] if all_of_them else []) + below
        for victim in victims:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
        phase = shop.phase(time.time() - moment - 0.1)[0]
        phases[phase] += 1
        process.wait(timeout=120)
        outcomes["ended before the kill" if not victims else "killed whole" if all_of_them else "children killed"] += 1
        for name, digest in shop.wheels().items():
            if wanted.get(name) != digest:
                sys.exit("FAILED: kill %d (seed %d) left a wrong wheel" % (number, seed))
        what = "kill %d (seed %d) after %.3f s in phase %s" % (number, seed, moment, phase)
        shop.expect_good(wanted, what)
        left = [path.name for path in (shop.folder / "tmp").iterdir() if any(path.rglob("site-packages"))]
        if left:
            sys.exit("FAILED: %s: an environment is left in the temporary folder: %s" % (what, left))
        verified = shop.run("store", "verify")
        if verified.returncode != 0:
            sys.exit("FAILED: %s: store verify\n%s" % (what, verified.stdout))
    left = [path for path in (shop.store / "tmp").iterdir()]
    print("%d of %d kills: the same command ends in the same wheels" % (count, count))
    print("  last phase in a log: " + ", ".join("%s %d" % pair for pair in sorted(phases.items())))
    print("  " + ", ".join("%s %d" % pair for pair in sorted(outcomes.items())))
    print("  %d folders left in the store's tmp" % len(left))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trial", choices=["flips", "full", "kills"])
    parser.add_argument("wheelsmith")
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print("seed %d" % options.seed, flush=True)
    shop = Workshop(options.wheelsmith, options.folder)
    {"flips": flips, "full": full, "kills": kills}[options.trial](shop, options.count, options.seed)


main()
