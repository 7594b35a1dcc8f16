"""A root file system for a container image, out of what is installed here: container_image.py OUT.tar PACKAGE…

The files of the packages and of what they depend on, as Debian's own lists say, and what their installation made. There is no
registry of images in reach of the tests, and downloading a system anew would take minutes.
"""
import os
import re
import subprocess
import sys
import tarfile


def installed():
    """Dependencies of every package, and of virtual packages by name."""
    text = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package}\t${Provides}\t${Pre-Depends}, ${Depends}\n"],
        check=True, capture_output=True, text=True).stdout
    needs, providers = {}, {}
    for line in text.splitlines():
        name, provides, depends = line.split("\t")
        words = [re.sub(r"[ (:].*", "", word.strip()) for part in depends.split(",") for word in part.split("|")]
        needs[name] = [word for word in words if word]
        for word in provides.split(","):
            providers.setdefault(re.sub(r"[ (].*", "", word.strip()), name)
    return needs, providers


def closure(wanted):
    needs, providers = installed()
    found, waiting = set(), list(wanted)
    while waiting:
        name = waiting.pop()
        name = name if name in needs else providers.get(name)
        if name is None or name in found:
            continue
        found.add(name)
        waiting += needs[name]
    return sorted(found)


def main():
    out, *wanted = sys.argv[1:]
    listed = subprocess.run(["dpkg-query", "-L", *closure(wanted)], check=True, capture_output=True, text=True).stdout
    paths = {line for line in listed.splitlines() if line.startswith("/")}
    made = ["/etc/passwd", "/etc/group", "/etc/ld.so.cache", "/usr/bin/c++", "/usr/bin/cc", "/bin", "/lib", "/lib64", "/sbin"]
    for folder in ("/etc/alternatives", "/etc/ssl"):
        for root, folders, files in os.walk(folder):
            made += [root, *(os.path.join(root, name) for name in folders + files)]
    places = {}
    for path in sorted(paths | {path for path in made if os.path.lexists(path)}):
        if path.startswith(("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/")) or path == "/":
            continue
        # /lib is a link to /usr/lib on merged systems: files go to the link's target.
        place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if os.path.lexists(place):
            places[place] = path
    with tarfile.open(out, "w") as archive:
        for place in sorted(places):
            archive.add(place, place.lstrip("/"), recursive=False)
        for name, mode in (("tmp", 0o1777), ("var/tmp", 0o1777), ("root", 0o700), ("proc", 0o555), ("sys", 0o555), ("dev", 0o755)):
            if "/" + name in places:
                continue
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            archive.addfile(entry)
        mark = tarfile.TarInfo("etc/image-mark")
        archive.addfile(mark)


main()
