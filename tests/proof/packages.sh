#!/bin/bash
# Compares src/diagnose/data/packages.tsv with Debian's own file lists: every header, pkg-config module, library and
# program must be in the package that its row names, or in one of its dependencies. Downloads the lists of Debian 12
# (about 45 MB) from the system's mirror.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lists=${PACKAGE_LISTS:-$here/../../build/contents}
mkdir -p "$lists"
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -1 || true)
for part in amd64 all; do
  [[ -s $lists/Contents-$part.gz ]] || curl -sSfL -o "$lists/Contents-$part.gz" "${mirror% }/dists/bookworm/main/Contents-$part.gz" || exit 77
done
python3 - "$here/../../src/diagnose/data/packages.tsv" "$lists" <<'PYTHON'
import collections, gzip, os, subprocess, sys

table, lists = sys.argv[1:]
rows = [line.rstrip("\n").split("\t") for line in open(table) if not line.startswith("#") and line.strip()]
wanted = collections.defaultdict(set)  # package: those whose rows it may stand for


def depends(packages):
    """Package: its dependencies."""
    result, current = collections.defaultdict(set), None
    text = subprocess.run(["apt-cache", "depends", "--important", *sorted(packages)], capture_output=True, text=True).stdout
    for line in text.splitlines():
        if line and not line[0].isspace():
            current = line.strip("<>").split(":")[0]
        elif current:
            result[current].add(line.replace("Depends:", "").replace("PreDepends:", "").strip(" |<>").split(":")[0])
    return result


first = depends({row[0] for row in rows})
second = depends({package for packages in first.values() for package in packages})
for row in rows:
    near = {row[0]} | first[row[0]]
    for package in near | {other for one in near for other in second[one]}:
        wanted[package].add(row[0])
names = collections.defaultdict(set)  # row's package: base names and folders of its files
for part in ("amd64", "all"):
    for line in gzip.open(os.path.join(lists, f"Contents-{part}.gz"), "rt", errors="replace"):
        if not line.startswith(("usr/include/", "usr/lib/", "usr/bin/", "bin/", "usr/share/pkgconfig/")):
            continue
        path, _, packages = line.rstrip().rpartition(" ")
        path = path.rstrip()
        for package in packages.split(","):
            for row in wanted.get(package.rsplit("/", 1)[-1], ()):
                names[row].add(path)
# Links created when the package is configured (update-alternatives), and names used by older systems.
known = set("aclocal automake c++ cc mpicc mpicxx mpic++ mpif90 mpifort mpirun mpiexec qmake6 hdf5 blas lapack cblas".split())
known |= {f"libsystemd-{part}" for part in ("journal", "daemon", "login", "id128")}
wrong = 0
for debian, rpm, conda, text in rows:
    files = names[debian]
    bases = {path.rsplit("/", 1)[-1] for path in files}
    folders = {part for path in files if path.startswith("usr/include/") for part in path.split("/")[2:-1]}
    for group in text.split():
        kind, _, list_ = group.partition("=")
        for name in list_.split(","):
            good = {
                "header": lambda: name[:-1] in folders if name.endswith("/") else name.rsplit("/", 1)[-1] in bases or name in folders,
                "pc": lambda: name + ".pc" in bases,
                "lib": lambda: f"lib{name}.so" in bases or f"lib{name}.a" in bases,
                "program": lambda: name in bases,
                "cmake": lambda: True,  # a name of CMake's own modules; no file of the package need have it
            }[kind]()
            if not good and name not in known:
                print(f"{debian}: {kind} {name} is not in it")
                wrong += 1
print(f"{len(rows)} packages, {wrong} names without a file")
sys.exit(wrong > 0)
PYTHON
