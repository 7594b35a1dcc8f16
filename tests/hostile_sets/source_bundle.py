"""python3 source_bundle.py WHEELSMITH FOLDER: `checkout --unbundle` on files of somebody who means harm.

A good bundle is made first, from a small repository; each case changes it in one way.
"""

import hashlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import time

from judge import Case, finish, judge
from tars import END, gz, header, hostile, member, pax, xz

wheelsmith, root = sys.argv[1], pathlib.Path(sys.argv[2])
problems, count, began = [], 0, time.monotonic()
URL = "https://git.example/acme/tiny.git"


def git(folder, *words, **more):
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        environment.update({f"GIT_{who}_NAME": "them", f"GIT_{who}_EMAIL": "them@example.org"})
    return subprocess.run(["git", "-C", str(folder), *words], env=environment, check=True, stdout=subprocess.PIPE, **more).stdout.decode().strip()


root.mkdir(parents=True, exist_ok=True)
repository = root / "repository"
shutil.rmtree(repository, ignore_errors=True)
repository.mkdir()
git(repository, "init", "-q", "--initial-branch=main")
(repository / "text").write_text("text\n")
git(repository, "add", "-A")
git(repository, "commit", "-q", "-m", "one")
commit = git(repository, "rev-parse", "HEAD")
git(repository, "update-ref", f"refs/wheelsmith/{commit}", commit)
git(repository, "bundle", "create", "-q", str(root / "good.bundle"), f"refs/wheelsmith/{commit}")
bundle = (root / "good.bundle").read_bytes()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def item(**more):
    made = {"url": URL, "file": "git/tiny.bundle", "sha256": sha256(bundle), "commits": [commit],
            "refs": [{"ref": "main", "kind": "branch", "name": "main", "commit": commit}]}
    made.update(more)
    return made


def index(repositories=None, **more):
    made = {"schema": 1, "kind": "wheelsmith sources", "repositories": [item()] if repositories is None else repositories,
            "downloads": [], "notes": []}
    made.update(more)
    return made


def tar(document, members):
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    return member("index.json", text) + b"".join(member(name, data) for name, data in members)


def unbundle(name, data, expected, **more):
    global count
    count += 1
    case = Case(root, name)
    file = case.inside / "sources.tar"
    if data is not None:
        file.write_bytes(data)
    before = more.pop("before", None)
    if before:
        before(case, file)
    status, out, err, seconds = judge(case, [wheelsmith, "checkout", "--unbundle", str(file), "--json"], expected, problems, **more)
    if os.environ.get("SHOW_TIMES"):
        print(f"{seconds:6.2f} {case.name} {status} {(err or out)[-150:]!r}")
    judge_store(case, status)
    shutil.rmtree(case.root, ignore_errors=True)
    return status


def judge_store(case, status):
    """What was refused left nothing that a later build could use."""
    store = case.out / "store"
    kept = [str(path.relative_to(store)) for kind in ("downloads", "notes", "git") for path in (store / kind).rglob("*")
            if path.is_file()] if store.is_dir() else []
    objects = [path for path in kept if "/objects/" in path or path.startswith(("downloads/", "notes/"))]
    if status == 1 and [path for path in objects if not path.endswith((".lock", "alternates"))] and case.name not in WRITES_FIRST:
        problems.append(f"{case.name}: it was refused and left {objects[:5]}")
    for path in store.rglob("hooks/*") if store.is_dir() else []:
        problems.append(f"{case.name}: a hook: {path}")


WRITES_FIRST = {"ref-of-another-commit", "index-ref-option"}  # told by the repository in the store
files = [("git/tiny.bundle", bundle)]
good = tar(index(), files)
unbundle("good", good + END, {0})
unbundle("good-xz", xz(good + END), {0})

# --- the archive
for name, (data, _) in hostile("git", root / "dotdot/outside").items():
    unbundle("tar-" + name, good + data + END, {1})
link = lambda name, target: header(name, kind=b"2", target=target)
unbundle("tar-link", good + link("git/link", "/etc/passwd") + END, {1})
unbundle("tar-linked-bundle", tar(index(), []) + link("git/tiny.bundle", "/etc/passwd") + END, {1})
unbundle("tar-folder", good + header("git/", kind=b"5") + END, {1})
unbundle("tar-twice", good + member("git/tiny.bundle", bundle) + END, {1})
unbundle("tar-index-twice", good + member("index.json", b"{}") + END, {1})
unbundle("tar-unnamed-member", good + member("git/other.bundle", b"x") + END, {1})
unbundle("tar-control-characters", good + member(b"git/\x1b]0;t\x07\x1b[31m\r\n\x9b", b"x") + END, {1})
unbundle("tar-truncated", good[:-700], {1})
unbundle("tar-empty", b"", {1})
unbundle("tar-nonsense", b"no archive " * 1000, {1})
unbundle("tar-no-index", member("git/tiny.bundle", bundle) + END, {1})
unbundle("tar-many-members", gz(good + b"".join(header(f"m{i}") for i in range(30000)) + END), {1})
zeros = xz(bytes(64 << 20))
unbundle("tar-bomb", xz(good + header("git/z", size_field=b"%011o\0" % (4 << 30))) + zeros * 64 + xz(END), {1})
unbundle("tar-is-a-folder", None, {1}, before=lambda case, file: file.mkdir())
unbundle("tar-is-a-fifo", None, {1}, before=lambda case, file: os.mkfifo(file))
unbundle("tar-is-missing", None, {1, 2})

# --- the index
for name, document in {
        "not-json": b"{", "nested": b"[" * 200000, "list": b"[]", "null": b"null", "nul": b'{"schema": 1, "kind": "a\0b"}', "not-utf8": b'{"schema": "\xff"}',
        "other-kind": {"schema": 1, "kind": "other"}, "newer": index(schema=2), "huge": b"{" + b" " * (17 << 20) + b"}",
        "repositories-text": index("x"), "items-text": index(["x", 1, None]), "empty-item": index([{}])}.items():
    # A document without repositories leaves the bundle unnamed: that is an error, too.
    unbundle("index-" + name, tar(document, files) + END, {1})
for name, changed in {
        "url-option": item(url="--upload-pack=touch planted"), "url-empty": item(url=""), "url-newline": item(url="https://x/\n[core]\nhooksPath=/"),
        "url-ext": item(url="ext::sh -c touch% planted"), "url-file": item(url=str(root / "index-x/outside")), "url-control": item(url="https://x/\x1b[31m"),
        "url-up": item(url="https://git.example/../../../../outside"), "url-dots": item(url=".."), "url-number": item(url=7),
        "file-up": item(file="../../outside/secret"), "file-absolute": item(file="/etc/passwd"), "file-missing": item(file="git/none"),
        "file-index": item(file="index.json"), "sha-wrong": item(sha256="0" * 64), "sha-short": item(sha256="0"), "no-commits": item(commits=[]),
        "commit-option": item(commits=["--all"]), "commit-other": item(commits=["0" * 40]), "commit-short": item(commits=[commit[:12]]),
        "commit-ref": item(commits=["refs/heads/main"]), "many-commits": item(commits=["%040x" % i for i in range(20000)]),
        "ref-option": item(refs=[{"ref": "-x", "kind": "branch", "name": "--help", "commit": commit}]),
        "ref-up": item(refs=[{"ref": "x", "kind": "branch", "name": "../../config", "commit": commit}]),
        "ref-control": item(refs=[{"ref": "x", "kind": "tag", "name": "a\x1b[31m", "commit": commit}]),
        "ref-lock": item(refs=[{"ref": "x", "kind": "branch", "name": "x.lock", "commit": commit}]),
        "ref-kind": item(refs=[{"ref": "x", "kind": "wonder", "name": "x", "commit": commit}]),
        "ref-absent-commit": item(refs=[{"ref": "x", "kind": "branch", "name": "x", "commit": "1" * 40}]),
        "ref-of-another-commit": item(refs=[{"ref": "other", "kind": "branch", "name": "main", "commit": commit}])}.items():
    # Addresses that git would not take, or that mean something to it, are only names here: nothing is fetched from them.
    unbundle("index-" + name if name != "ref-of-another-commit" else name, tar(index([changed]), files) + END,
             {0, 1} if name.startswith("url-") or name == "ref-of-another-commit" else {1})
unbundle("index-same-url-twice", tar(index([item(), item()]), files) + END, {1})
download = lambda **more: {"file": "downloads/x", "name": "demo-1.0.tar.gz", "url": "https://x/demo-1.0.tar.gz", "sha256": sha256(b"sdist"), **more}
for name, one in {"up": download(name="../planted"), "absolute": download(name="/tmp/planted"), "dots": download(name=".."), "hidden": download(name=".x"),
                  "control": download(name="a\x1b[31m.tar.gz"), "newline": download(name="a\nb.tar.gz"), "empty": download(name=""), "wrong": download(sha256="1" * 64),
                  "short-hash": download(sha256="../../x"), "file-up": download(file="../../outside/secret")}.items():
    unbundle("download-" + name, tar(index(downloads=[one]), files + [("downloads/x", b"sdist")]) + END, {1} if name != "hidden" else {0, 1})
for name, note in {"note-kind": {"kind": "ref", "name": "imported x", "text": "x"}, "note-name": {"kind": "source", "name": "../../x", "text": "x"}}.items():
    unbundle(name, tar(index(notes=[note]), files) + END, {1})

# --- the git bundle
for name, data in {"empty": b"", "nonsense": b"x" * 1000, "header-only": bundle.split(b"\n\n")[0] + b"\n\n", "truncated": bundle[:-30],
                   "flipped": bundle[:-40] + bytes([bundle[-40] ^ 1]) + bundle[-39:],
                   "prerequisite": bundle.replace(b"\n", b"\n-" + b"2" * 40 + b" x\n", 1),
                   "capability": b"# v3 git bundle\n@filter=blob:none\n@object-format=wonder\n" + bundle.split(b"\n", 1)[1],
                   "pack-of-2-32": bundle.replace(b"PACK\0\0\0\2", b"PACK\0\0\0\2\xff\xff\xff\xff", 1)}.items():
    unbundle("git-" + name, tar(index([item(sha256=sha256(data))]), [("git/tiny.bundle", data)]) + END, {1})


# A commit whose tree names .git, or goes up, as nobody's git would make it.
def odd_commit(entries):
    tree = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(one) for mode, name, one in entries)
    made = git(repository, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", input=tree)
    return git(repository, "commit-tree", made, "-m", "odd")


blob = git(repository, "hash-object", "-w", "text")
for name, entries in {"dot-git": [(b"100644", b".git", blob)], "up": [(b"100644", b"..", blob)], "slash": [(b"100644", b"a/b", blob)],
                      "twice": [(b"100644", b"a", blob), (b"100644", b"a", blob)], "modules-option": [(b"160000", b"-x", commit)]}.items():
    odd = odd_commit(entries)
    git(repository, "update-ref", f"refs/wheelsmith/{odd}", odd)
    (root / "odd.bundle").unlink(missing_ok=True)
    git(repository, "bundle", "create", "-q", str(root / "odd.bundle"), f"refs/wheelsmith/{odd}")
    data = (root / "odd.bundle").read_bytes()
    # Nothing is checked out here; git refuses it then. The store may hold it.
    unbundle("tree-" + name, tar(index([item(sha256=sha256(data), commits=[odd], refs=[])]), [("git/tiny.bundle", data)]) + END, {0, 1})
finish(problems, count, began)
