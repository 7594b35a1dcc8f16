"""Expands the devel package's archive.

The archive holds a folder `_rocm_sdk_devel`: headers, CMake files, and links to the files of the packages beside it. Its
files are written first; then links are made, in as many rounds as links to links need. A link to a file becomes a hard
link: compilers ask the system for the path of their own file and search for headers relative to it; through a symbolic
link they would search the core package, which has none. Links to folders stay links, and so do links to a file in another
folder of the tree, because a program searches for its files relative to its real location. For the same reason the
compiler drivers in bin are links to those in lib/llvm/bin, whatever the archive says.

A link into a package that is not installed cannot be made yet. It is recorded, and made once the package is installed.
"""

from __future__ import annotations

import errno
import os
import shutil
import tarfile
from pathlib import Path

_DRIVERS = {"amdclang", "amdclang++", "amdclang-cl", "amdclang-cpp", "amdflang", "amdlld", "amdllvm"}
_DRIVER_FOLDER = "lib/llvm/bin"
# Another file system, too many links, or a file system without hard links.
_NO_HARD_LINK = {errno.EXDEV, errno.EMLINK, errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


class DevelError(RuntimeError):
    """A problem that the user has to fix; the text says how."""


def is_driver(name: str) -> bool:
    folder, _, base = name.rpartition("/")
    return os.name != "nt" and folder == "bin" and base in _DRIVERS


def leads_elsewhere(name: str, target: str) -> bool:
    """Whether the link leads to a file in another folder of this tree. On Windows few users may create links."""
    folder = os.path.dirname(name)
    place = os.path.normpath(os.path.join(folder, target)).replace(os.sep, "/")
    return os.name != "nt" and not place.startswith("../") and os.path.dirname(place) != folder


def hard_link(source: str, path: str) -> bool:
    """Returns false if it made a copy instead."""
    source = os.path.realpath(source)
    try:
        os.link(source, path)
        return True
    except OSError as error:
        if error.errno not in _NO_HARD_LINK:
            raise
    shutil.copy2(source, path)
    return False


def symbolic_link(target: str, path: str, is_folder: bool) -> None:
    try:
        os.symlink(target, path, target_is_directory=is_folder)
    except (OSError, NotImplementedError) as error:
        raise DevelError(
            f"cannot create the link {path}: {error}. The devel package needs symbolic links; on Windows, enable "
            "developer mode or run as administrator"
        ) from error


class Tree:
    """The expanded files of an archive. Names are relative to the folder."""

    def __init__(self, root: Path, archive_root: str):
        self.root = root
        self.archive_root = archive_root  # "_rocm_sdk_devel"
        self.files: dict[str, int] = {}  # regular files of the archive, with sizes
        self.links: dict[str, str] = {}
        self.pending: dict[str, str] = {}
        self.copies = 0

    def expand(self, archive: Path) -> None:
        try:
            with tarfile.open(archive) as tar:
                for member in tar:
                    self._add(tar, member)
        except DevelError:
            raise
        except Exception as error:  # each compression module has its own exceptions
            if isinstance(error, OSError) and error.errno is not None:
                raise  # a full disk is not a corrupt archive
            raise DevelError(f"{archive} is corrupt: {error}") from error
        if not (self.root / "__init__.py").exists():
            (self.root / "__init__.py").write_bytes(b"")
            self.files["__init__.py"] = 0
        self._check_links()
        self.pending = self.make_links(self.links)

    def _add(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        top, _, name = member.name.rstrip("/").partition("/")
        parts = name.split("/") if name else []
        if top != self.archive_root or any(part in ("", ".", "..") or "\\" in part for part in parts):
            raise DevelError(f"the devel package contains a file outside its folder: {member.name}")
        path = self.root.joinpath(*parts)
        if member.isdir():
            path.mkdir(parents=True, exist_ok=True)
        elif member.issym():
            self.links[name] = member.linkname
        elif member.islnk():
            inner = member.linkname.partition("/")[2]
            self.links[name] = os.path.relpath(inner, os.path.dirname(name) or ".").replace(os.sep, "/")
        elif member.isreg():
            self._write(tar, member, path)
            self.files[name] = member.size
        else:
            raise DevelError(f"the devel package contains {member.name}, which is neither a file nor a link")

    def _write(self, tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        source = tar.extractfile(member)
        with open(path, "wb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
            written = file.tell()
        if written != member.size:
            raise DevelError(f"the devel package is corrupt: {member.name} has {written} bytes of {member.size}")
        os.chmod(path, 0o755 if member.mode & 0o111 else 0o644)

    def _check_links(self) -> None:
        for name, target in self.links.items():
            # A link may lead up to the folder of all packages, and only into ROCm's.
            place = os.path.normpath(os.path.join(self.archive_root, os.path.dirname(name), target)).replace(os.sep, "/")
            if os.path.isabs(target) or not place.startswith("_rocm"):
                raise DevelError(f"the devel package contains a link that points outside: {name} to {target}")
        for name in (*self.links, *self.files):
            above = name
            while "/" in above:
                above = above.rpartition("/")[0]
                if above in self.links:
                    raise DevelError(f"the devel package contains {name} below the link {above}")

    def make_links(self, links: dict[str, str]) -> dict[str, str]:
        """Makes the links whose targets exist, and returns the others."""
        rest = {name: target for name, target in links.items() if not is_driver(name)}
        while rest:
            later = {name: target for name, target in rest.items() if not self._make_link(name, target)}
            if len(later) == len(rest):
                break
            rest = later
        drivers = {name: target for name, target in links.items() if is_driver(name)}
        rest.update((name, target) for name, target in drivers.items() if not self._make_link(name, target))
        return rest

    def target_of(self, name: str, target: str) -> str:
        """The target of a link: as in the archive, except for the drivers."""
        own = f"{_DRIVER_FOLDER}/{os.path.basename(name)}"
        return f"../{own}" if is_driver(name) and os.path.exists(os.path.join(self.root, own)) else target

    def _make_link(self, name: str, target: str) -> bool:
        target = self.target_of(name, target)
        path = os.path.join(self.root, name)
        source = os.path.normpath(os.path.join(os.path.dirname(path), target))
        is_folder = os.path.isdir(source)
        if not is_folder and not os.path.isfile(source):
            return False
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        if is_folder or is_driver(name) or leads_elsewhere(name, target):
            symbolic_link(target, path, is_folder)
        elif not hard_link(source, path):
            self.copies += 1
        return True

    def count(self) -> int:
        """Files and links that are on disk."""
        total = 0
        for folder, folders, names in os.walk(self.root):
            total += len(names)
            total += sum(1 for name in folders if os.path.islink(os.path.join(folder, name)))
        return total
