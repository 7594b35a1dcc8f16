"""python3 rocm_package.py WHEELSMITH FOLDER: `rocm package` on artifacts of somebody who means harm.

Each case is a set of artifacts that can be packaged, and one more that is hostile: as an archive, or as a folder.
"""

import io
import json
import os
import pathlib
import sys
import tarfile
import threading
import time
import zipfile

from judge import SECRET, Case, finish, judge
from tars import END, header, hostile, member, odd, pax, xz, zstd

wheelsmith, root = sys.argv[1], pathlib.Path(sys.argv[2])
problems, count, began = [], 0, time.monotonic()
MANIFEST = "artifact_manifest.txt"
BASE = "core-hip/stage"
HOSTILE = "core-hip_lib_generic"


def write(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())


def honest(case):
    """The least that makes packages; without the hostile artifact all is well (the first case says so)."""
    artifacts = case.inside / "artifacts"
    write(artifacts / "base_lib_generic", {
        MANIFEST: "base/stage\n",
        "base/stage/share/therock/therock_manifest.json": json.dumps({"flags": {"KPACK_SPLIT_ARTIFACTS": True}}),
        "base/stage/share/therock/dist_info.json": json.dumps({"dist_amdgpu_targets": "gfx942"}),
        "base/stage/.info/version": "7.10.0-1\n"})
    write(artifacts / "blas_lib_generic", {MANIFEST: "blas/stage\n", "blas/stage/lib/rocblas/library/fallback.dat": "f"})
    write(artifacts / "blas_lib_gfx942", {MANIFEST: "blas/stage\n", "blas/stage/.kpack/blas_lib_gfx942.kpack": "KPAK"})
    return artifacts


def package(case, expected, **more):
    global count
    count += 1
    argv = [wheelsmith, "rocm", "package", "--artifact-dir", str(case.inside / "artifacts"), "--dest-dir", str(case.out / "dest"),
            "--version", "7.10.0", "--threads", "2", "--json"]
    status, out, err, seconds = judge(case, argv, expected, problems, **more)
    if os.environ.get("SHOW_TIMES"):
        print(f"{seconds:6.2f} {case.name} {status} {(err or out)[-100:]!r}")
    if status == 0:
        judge_wheels(case, out)
    elif not err.strip() and not out.strip():
        problems.append(f"{case.name}: it ends with {status} and says nothing")
    left = [path.name for path in case.out.rglob("*") if path.name.endswith(".unpacked") or path.name.startswith(".")]
    if left and case.name != "shortened":  # stopped where it was, as with kill -9
        problems.append(f"{case.name}: it leaves {left}")
    return status


def judge_wheels(case, out):
    """As an installer reads them: no member leaves, each is in RECORD once, the tar inside stays inside."""
    for package in json.loads(out)["packages"]:
        path = pathlib.Path(package["path"])
        if path.suffix != ".whl":
            continue
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if archive.testzip() is not None or len(names) != len(set(names)):
                problems.append(f"{case.name}: {path.name} is not whole, or has a name twice")
            for info in archive.infolist():
                parts = info.filename.split("/")
                if info.filename.startswith("/") or ".." in parts or (info.external_attr >> 16) & 0o170000 not in (0, 0o100000):
                    problems.append(f"{case.name}: {path.name} holds {info.filename!r} {info.external_attr >> 16:o}")
                if (info.external_attr >> 16) & 0o7000:
                    problems.append(f"{case.name}: {info.filename!r} has mode {info.external_attr >> 16:o}")
                if info.filename.endswith(".tar.xz") or info.filename.endswith(".tar"):
                    judge_tar(case, archive.read(info))
            record = [name for name in names if name.endswith(".dist-info/RECORD")]
            import csv

            listed = [row[0] for row in csv.reader(io.StringIO(archive.read(record[0]).decode(), newline=""))]
            if sorted(listed) != sorted(names):
                problems.append(f"{case.name}: {path.name}: RECORD lists {set(listed) ^ set(names)}")


def judge_tar(case, data):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            try:
                tarfile.data_filter(member, "/destination")
            except tarfile.FilterError as error:
                problems.append(f"{case.name}: the tar inside: {error}")


# --- the honest set
case = Case(root, "honest")
artifacts = honest(case)
write(artifacts / HOSTILE, {MANIFEST: BASE + "\n", BASE + "/share/a.txt": "a"})
package(case, {0})


# --- archives
def archive_case(name, data, expected, ending=".tar.xz", sums=None, **more):
    case = Case(root, "archive-" + name)
    artifacts = honest(case)
    (artifacts / (HOSTILE + ending)).write_bytes(data)
    if sums is not None:
        (artifacts / (HOSTILE + ending + ".sha256sum")).write_text(sums)
    return package(case, expected, **more)


manifest = member(MANIFEST, BASE.encode() + b"\n")
good = manifest + member(BASE + "/share/a.txt", b"a")
archive_case("good", xz(good + END), {0})
if zstd(b"") is not None:
    archive_case("good-zstd", zstd(good + END), {0}, ".tar.zst")
for name, (data, _) in hostile(BASE, root / "archive-x/outside").items():
    archive_case(name, xz(good + data + END), {1})
for name, data in odd(BASE, root / f"archive-x/outside").items():
    archive_case(name, xz(good + data + END), {0, 1})
archive_case("truncated", xz(good + END)[:-60], {1})
archive_case("truncated-inside", xz(good + header(BASE + "/share/b", 100000)), {1})
archive_case("no-end", xz(good), {0, 1})
archive_case("empty", b"", {1})
archive_case("not-packed", b"not an archive at all" * 100, {1})
archive_case("behind-the-end", xz(good + END) + b"more", {1})
archive_case("no-manifest", xz(member(BASE + "/share/a.txt", b"a") + END), {1})
archive_case("manifest-is-a-link", xz(header(MANIFEST, kind=b"2", target="/etc/passwd") + good[1024:] + END), {1})
archive_case("manifest-twice", xz(good + member(MANIFEST, b"/\n..\n") + END), {1})
archive_case("manifest-contradicts", xz(member(MANIFEST, b"other/stage\n") + good[1024:] + END), {1})
for name, lines in {"up": "../../../outside", "absolute": "/etc", "root": ".", "control": "a\x1b[31m/b", "many": "\n".join(f"d{i}" for i in range(50000))}.items():
    archive_case("manifest-" + name, xz(member(MANIFEST, lines.encode() + b"\n") + good[1024:] + END), {0, 1})
archive_case("wrong-sum", xz(good + END), {1}, sums="0" * 64 + "  x\n")
archive_case("strange-sum", xz(good + END), {1}, sums="\x1b[31m" + "z" * 3000)
archive_case("many-members", xz(good + b"".join(header(f"{BASE}/share/f{i}") for i in range(20000)) + END), {0})
# 4 GB of zeros in 600 kB.
zeros = xz(bytes(64 << 20))
archive_case("bomb", xz(good + header(BASE + "/share/z", size_field=b"%011o\0" % (4 << 30))) + zeros * 64 + xz(END), {1})

# --- folders
def folder_case(name, make, expected, manifest=BASE + "\n", **more):
    case = Case(root, "folder-" + name)
    artifacts = honest(case)
    write(artifacts / HOSTILE, {MANIFEST: manifest, BASE + "/share/a.txt": "a"})
    make(case, artifacts / HOSTILE, artifacts / HOSTILE / BASE)
    return package(case, expected, **more)


def links(case, artifact, base):
    (base / "lib").mkdir()
    targets = {"absolute.so": case.outside / "folder/secret.so", "up.so": "../" * 40 + str(case.outside / "secret"),
               "secret.txt": case.outside / "secret", "folder": case.outside / "folder", "loop": "loop", "nothing": "nothing-here",
               "etc": "/etc", "proc": "/proc/self/environ", "fd": "/dev/stdin"}
    for link, target in targets.items():
        os.symlink(target, base / "lib" / link)
    os.symlink("absolute.so", base / "lib/chain-0")
    for i in range(1, 60):
        os.symlink(f"chain-{i - 1}", base / f"lib/chain-{i}")


def special(case, artifact, base):
    os.mkfifo(base / "share/pipe")
    os.mkfifo(base / "share/libpipe.so.1")
    import socket

    at = os.getcwd()
    os.chdir(base / "share")  # its whole path may be longer than a socket's can be
    socket.socket(socket.AF_UNIX).bind("socket.so")
    os.chdir(at)
    if os.geteuid() == 0:
        try:
            os.mknod(base / "share/zero", 0o020666, os.makedev(1, 5))
        except OSError:
            pass


def names(case, artifact, base):
    for name in (b"a\nb.txt", b"a\x1b[31m.txt", b"a'\"`$(touch planted).txt", b"<script>alert(1)<&.txt", b"\xff\xfe.txt", b"a,b\".txt", b"-rf", b" ",
                 b"Case.txt", b"case.TXT", b"a\\b.txt", "ｆｕｌｌ.txt".encode(), b"n" * 250):
        with open(os.path.join(os.fsencode(base), b"share", name), "wb") as file:
            file.write(b"x")


def deep(case, artifact, base):
    at = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(450):  # longer than a path may be
        os.mkdir("d234567890", dir_fd=at)
        next_at = os.open("d234567890", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = next_at
    os.close(at)


def linked_base(case, artifact, base):
    import shutil

    shutil.rmtree(artifact / "core-hip")
    os.symlink(case.outside, artifact / "core-hip")
    (case.outside / "stage").mkdir()
    (case.outside / "stage/secret").write_bytes(SECRET)


def linked_manifest(case, artifact, base):
    (artifact / MANIFEST).unlink()
    os.symlink(case.outside / "secret", artifact / MANIFEST)


def linked_artifact(case, artifact, base):
    os.rename(artifact, case.outside / "moved")
    os.symlink(case.outside / "moved", artifact)


def fifo_manifest(case, artifact, base):
    (artifact / MANIFEST).unlink()
    os.mkfifo(artifact / MANIFEST)


def sparse(case, artifact, base):
    with open(base / "share/sparse.bin", "wb") as file:
        file.truncate(1 << 42)


def unreadable(case, artifact, base):
    (base / "share/a.txt").chmod(0)
    (base / "share").chmod(0o500)


folder_case("links", links, {0})
folder_case("special-files", special, {0, 1})
folder_case("names", names, {0, 1})
folder_case("deep", deep, {0, 1})
folder_case("linked-base", linked_base, {1})
folder_case("linked-manifest", linked_manifest, {0, 1})  # its lines name folders inside, wherever it lies
folder_case("linked-artifact", linked_artifact, {0, 1})
folder_case("fifo-manifest", fifo_manifest, {1})
folder_case("sparse", sparse, {1})
folder_case("unreadable", unreadable, {0, 1})
folder_case("manifest-up", lambda *_: None, {1}, manifest="../../../outside\n")
folder_case("manifest-absolute", lambda case, artifact, base: (artifact / MANIFEST).write_text(str(case.outside) + "\n"), {1})
folder_case("therock-manifest", lambda case, artifact, base: write(artifact.parent / "base_lib_generic", {
    "base/stage/share/therock/therock_manifest.json": "[" * 100000}), {1})
folder_case("version", lambda case, artifact, base: write(artifact.parent / "base_lib_generic", {
    "base/stage/.info/version": "../../../outside/7\x1b[31m\n"}), {0, 1})
folder_case("artifact-name", lambda case, artifact, base: write(artifact.parent / "core-hip_run_<b>\x1b", {MANIFEST: "x\n"}), {1})
folder_case("targets", lambda case, artifact, base: write(artifact.parent / "base_lib_generic", {
    "base/stage/share/therock/dist_info.json": json.dumps({"dist_amdgpu_targets": "../../outside;gfx942\x1b"})}), {0, 1})


# --- races: what is a file when it is listed is a link to the secret, or shorter, when it is read
def race(case, artifact, base):
    (base / "lib").mkdir()
    for i in range(400):
        (base / f"lib/libr{i}.so").write_bytes(b"\x7fELF" + bytes(20000))


def exchange(case):
    base = case.inside / "artifacts" / HOSTILE / BASE

    def turn(process):
        def work():
            i = 0
            while process.poll() is None:
                one = base / f"lib/libr{i % 400}.so"
                try:
                    if i % 2 == 0:
                        os.symlink(case.outside / "folder/secret.so", base / "lib/.swap")
                        os.rename(base / "lib/.swap", one)
                    else:
                        os.truncate(one, 0)
                except OSError:
                    pass
                i += 1

        threading.Thread(target=work, daemon=True).start()

    return turn


for i in range(2):
    case = Case(root, f"race-{i}")
    artifacts = honest(case)
    write(artifacts / HOSTILE, {MANIFEST: BASE + "\n", BASE + "/share/a.txt": "a"})
    race(case, artifacts / HOSTILE, artifacts / HOSTILE / BASE)
    package(case, {0, 1}, but=("out", "in"), while_running=exchange(case))


# A file that is mapped and becomes shorter: the kernel's answer to reading it is SIGBUS.
def shorten(case):
    def turn(process):
        dest = case.out / "dest/dist"
        while process.poll() is None and not (dest.is_dir() and any(dest.iterdir())):  # until a wheel is being written
            time.sleep(0.001)
        os.truncate(case.inside / "artifacts" / HOSTILE / BASE / "share/large.bin", 1000)

    return turn


case = Case(root, "shortened")
artifacts = honest(case)
write(artifacts / HOSTILE, {MANIFEST: BASE + "\n", BASE + "/share/large.bin": os.urandom(1 << 20) * 60})
package(case, {1}, but=("out", "in"), while_running=shorten(case))
finish(problems, count, began)
