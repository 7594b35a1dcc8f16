"""The devel package on disk: where it is, whether it is complete, and how it is expanded.

The wheel contains an archive, rocm_sdk_devel/_devel.tar. On first use it is expanded to the folder `_rocm_sdk_devel`:

  1. the lock is taken and the state checked again, because another process may have expanded it meanwhile;
  2. `_rocm_sdk_devel.new` is added to RECORD, then filled, and its files are counted;
  3. `.devel_tree.json`, the list of all files, is written into it: only a folder with this list is complete;
  4. all names are added to RECORD, and the folder is renamed, which makes it visible to other processes;
  5. the archive is deleted.

A process that is killed in between leaves a folder with another name, or an archive that is no longer needed; the next
process starts over. A folder without `.devel_tree.json`, or with the archive still present, is a leftover and is replaced.

Device packages have files below `_rocm_sdk_libraries`, and a list of them in `.devel_links`. These files are linked into
the folder, too, and added to the RECORD of the device package. Its list is linked last, as `.devel_links_TARGET.json`: if
that link exists, so do the others.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shutil
import sys
from pathlib import Path

from . import _dist_info
from ._expand import DevelError, Tree, hard_link
from ._lock import held
from ._record import Installed, find_installed, installed_in

LIST = ".devel_tree.json"
PENDING = ".devel_pending.json"
SCRATCH = ".devel_scratch"
_OURS = (LIST, PENDING, SCRATCH)


def _missing() -> ModuleNotFoundError:
    entry = _dist_info.ALL_PACKAGES["devel"]
    return ModuleNotFoundError(
        f"{entry.get_dist_package_name()} is not installed; it contains the headers, the CMake files and the compiler; "
        f"install it: {entry.install_command()}",
        name="rocm_sdk_devel",
    )


def same_release(a: str, b: str) -> bool:
    """A rebuilt package (.post1) belongs to the same release."""
    return re.sub(r"\.post\d+", "", a) == re.sub(r"\.post\d+", "", b)


def same_file(a: str, b: str) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:
        return False


class Devel:
    """The devel package of this environment."""

    def __init__(self, quiet: bool = True):
        importlib.invalidate_caches()
        spec = importlib.util.find_spec(_dist_info.ALL_PACKAGES["devel"].pure_py_package_name)
        if spec is None or spec.origin is None:
            raise _missing()
        self.quiet = quiet
        self.code = Path(spec.origin).parent
        self.site = self.code.parent
        self.name = _dist_info.ALL_PACKAGES["devel"].get_py_package_name()
        self.root = self.site / self.name
        self.new = self.site / (self.name + ".new")
        self.done: list[str] = []  # messages for the user: what was done

    # The current state.

    def archive(self) -> Path | None:
        for name in ("_devel.tar.xz", "_devel.tar"):
            if (self.code / name).exists():
                return self.code / name
        return None

    def is_whole(self) -> bool:
        return self.archive() is None and (self.root / LIST).exists()

    def package(self) -> Installed:
        package = find_installed(self.site, _dist_info.ALL_PACKAGES["devel"].get_dist_package_name())
        if package is None or not package.record.exists():
            raise DevelError(
                f"{self.code} was not installed by pip or uv (there is no RECORD for it in {self.site}), so it could not be "
                "uninstalled after expansion; install it into a virtual environment"
            )
        return package

    def lists(self) -> dict[str, Path]:
        """The lists of the device packages, by target."""
        entry = _dist_info.ALL_PACKAGES["libraries"]
        result: dict[str, Path] = {}
        targets = [None] if not entry.is_target_specific else _dist_info.AVAILABLE_TARGET_FAMILIES
        for target in targets:
            folder = self.site / entry.get_py_package_name(target) / ".devel_links"
            if folder.is_dir():
                result.update((path.stem, path) for path in sorted(folder.glob("*.json")))
        return result

    def mark(self, target: str) -> Path:
        return self.root / f".devel_links_{target}.json"

    def missing_devices(self) -> list[str]:
        return [target for target in self.lists() if not self.mark(target).exists()]

    def _read(self, name: str) -> dict:
        with open(self.root / name, encoding="utf-8") as file:
            return json.load(file)

    def ready_links(self) -> dict[str, str]:
        """Links that could not be made when the folder was expanded, and can be made now."""
        if not (self.root / PENDING).exists():
            return {}
        ready = {}
        for name, target in self._read(PENDING)["links"].items():
            place = os.path.normpath(os.path.join(self.root, os.path.dirname(name), target))
            if os.path.exists(place):
                ready[name] = target
        return ready

    def is_current(self) -> bool:
        return self.is_whole() and not self.missing_devices() and not self.ready_links()

    # Changes.

    def update(self, verify: bool = False) -> Path:
        """Expands the archive and makes missing links; with `verify` it also checks every file."""
        if not verify and self.is_current():
            return self.root
        try:
            with held(self.code / "__init__.py", self.quiet):
                if not self.is_whole():
                    self._expand()
                if verify:
                    self._verify()
                self._link_ready()
                for target in self.lists() if verify else self.missing_devices():
                    self._link_device(target)
        except OSError as error:
            raise DevelError(
                f"cannot write the devel package's folder {self.root}: {error}. "
                f"{shutil.disk_usage(self.site).free // 1000000} MB are free there; as a user who can write to {self.site}, run: "
                "rocm-sdk init"
            ) from error
        importlib.invalidate_caches()
        return self.root

    def _expand(self) -> None:
        package = self.package()
        archive = self.archive()
        if archive is None:
            raise DevelError(
                f"the devel package in {self.site} is corrupt: neither its archive nor a complete {self.name} exists; "
                f"reinstall it: {self._again(package)}"
            )
        rows = {row[0]: row for row in package.rows()}
        size = (rows.get(f"{self.code.name}/{archive.name}") or ["", "", ""])[2]
        if size.isdigit() and int(size) != archive.stat().st_size:
            raise DevelError(
                f"{archive} has {archive.stat().st_size} bytes of {size}; reinstall it: {self._again(package)}"
            )
        scratch = self.code / SCRATCH  # a member of the wheel, so it is in RECORD
        shutil.rmtree(self.new, ignore_errors=True)
        package.change(scratch, add=[self.new.name])
        try:
            tree = self._fill(archive, package.version)
            self._remove_old()
            names = [*tree.files, *tree.links, *_OURS]
            package.change(scratch, add=[f"{self.name}/{name}" for name in names])
            os.rename(self.new, self.root)
        except BaseException:
            shutil.rmtree(self.new, ignore_errors=True)
            raise
        archive.unlink()
        package.change(scratch, remove=[self.new.name, f"{self.code.name}/{archive.name}"])
        copied = f", {tree.copies} of them copies, because hard links are not supported here" if tree.copies else ""
        self.done.append(f"expanded {len(tree.files)} files and {len(tree.links) - len(tree.pending)} links{copied}")

    def _fill(self, archive: Path, version: str) -> Tree:
        if not self.quiet:
            print(f"rocm-sdk: expanding the devel package into {self.root}", file=sys.stderr)
        self.new.mkdir()
        tree = Tree(self.new, self.name)
        tree.expand(archive)
        expected = len(tree.files) + len(tree.links) - len(tree.pending)
        if tree.count() != expected:
            raise DevelError(f"{self.new} has {tree.count()} files, but {expected} were written; is another process modifying it?")
        if tree.pending:
            self._write(self.new, PENDING, {"schema": 1, "links": tree.pending})
        self._write(self.new, LIST, {"schema": 1, "version": version, "files": tree.files, "links": tree.links})
        return tree

    @staticmethod
    def _write(folder: Path, name: str, value: dict) -> None:
        with open(folder / SCRATCH, "w", encoding="utf-8") as file:
            json.dump(value, file)
        os.replace(folder / SCRATCH, folder / name)

    def _remove_old(self) -> None:
        """Removes the leftovers of an older version. Its list is removed first, so that a partly removed folder is incomplete."""
        if self.root.is_symlink():
            self.root.unlink()
        if not self.root.exists():
            return
        if (self.root / LIST).exists():
            (self.root / LIST).unlink()
        shutil.rmtree(self.root)
        self.done.append(f"removed leftovers of an older package from {self.name}")

    def _link_ready(self) -> None:
        if not self.ready_links():
            return
        # Try all of them: a link may depend on another one.
        pending = self._read(PENDING)["links"]
        rest = Tree(self.root, self.name).make_links(pending)
        if rest:
            self._write(self.root, PENDING, {"schema": 1, "links": rest})
        else:
            (self.root / PENDING).unlink()
        self.done.append(f"created {len(pending) - len(rest)} links to packages installed later")

    def _verify(self) -> None:
        """Checks that every listed file exists and that every link is the same file as its target: a package that was
        reinstalled has other files with the same names."""
        known = self._read(LIST)
        pending = self._read(PENDING)["links"] if (self.root / PENDING).exists() else {}
        lost = [
            name
            for name, size in known["files"].items()
            if not (self.root / name).is_file() or (self.root / name).stat().st_size != size
        ]
        if lost:
            raise DevelError(
                f"{len(lost)} files of {self.root} are missing or changed ({', '.join(sorted(lost)[:3])}…); "
                f"reinstall the package: {self._again(self.package())}"
            )
        tree = Tree(self.root, self.name)
        wrong = {}
        for name, target in known["links"].items():
            path = os.path.join(self.root, name)
            place = os.path.join(os.path.dirname(path), tree.target_of(name, target))
            if name not in pending and not same_file(path, place):
                wrong[name] = target
        rest = tree.make_links(wrong)
        if tree.copies == len(wrong) - len(rest) and wrong and not rest:
            return  # without hard links, every link is a copy
        if wrong:
            self.done.append(f"recreated {len(wrong) - len(rest)} links")
        if rest:
            self._write(self.root, PENDING, {"schema": 1, "links": {**pending, **rest}})

    def _again(self, package: Installed) -> str:
        return f"pip install --force-reinstall --no-deps {package.name}=={package.version}"

    # Device packages.

    def _link_device(self, target: str) -> None:
        path = self.lists()[target]
        own = f"{path.parent.parent.name}/.devel_links/{path.name}"
        owner = next((p for p in installed_in(self.site, "rocm-sdk-device") if own in p.paths()), None)
        if owner is None:
            return  # a leftover of an uninstalled package
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
        version = self._read(LIST)["version"]
        if not same_release(manifest["version"], version):
            print(
                f"rocm-sdk: {owner.name} {manifest['version']} does not match the release of rocm-sdk-devel, {version}; its files "
                f"are skipped. fix: pip install {owner.name}=={version}",
                file=sys.stderr,
            )
            return
        links = {}
        for link in manifest["links"]:
            source = os.path.normpath(self.site / self.name / os.path.dirname(link["relpath"]) / link["target"])
            place = os.path.normpath(self.root / link["relpath"])
            if not place.startswith(str(self.root) + os.sep) or not source.startswith(str(self.site) + os.sep + "_rocm"):
                raise DevelError(f"{path} contains a link that points outside: {link['relpath']} to {link['target']}")
            if not os.path.isfile(source):
                raise DevelError(f"{source} is missing; reinstall its package: {self._again(owner)}")
            links[place] = source
        names = [os.path.relpath(place, self.site).replace(os.sep, "/") for place in [*links, str(self.mark(target))]]
        if not owner.paths().issuperset(names):
            owner.change(self.root / SCRATCH, add=names)
        made = 0
        for place, source in links.items():
            if same_file(place, source) and not os.path.islink(place):
                continue
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if os.path.lexists(place):
                os.unlink(place)
            hard_link(source, place)
            made += 1
        if not same_file(str(self.mark(target)), str(path)):
            if os.path.lexists(self.mark(target)):
                self.mark(target).unlink()
            hard_link(str(path), str(self.mark(target)))
        if made:
            self.done.append(f"linked {made} files of {owner.name}")


def get_devel_root() -> Path:
    """Returns the folder of the complete SDK, with headers and CMake files; the first call expands it.

    Raises ModuleNotFoundError if the devel package is not installed, DevelError if its folder cannot be written."""
    return Devel().update()
