"""Which packages are installed, which GPUs the machine has, and whether they match. Changes nothing."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

from . import _dist_info
from ._devel import Devel, DevelError, same_release
from ._record import Installed, find_installed, installed_in, normal_name


class Problem:
    """A problem if `bad`, else a note. The remedy is a command or a sentence."""

    def __init__(self, id: str, what: str, remedy: str = "", bad: bool = True):
        self.id, self.what, self.remedy, self.bad = id, what, remedy, bad

    def to_json(self) -> dict:
        return {"id": self.id, "what": self.what, "remedy": self.remedy, "bad": self.bad}



class Status:
    def __init__(self):
        self.site = Path(os.path.abspath(__file__)).parent.parent
        self.packages: list[Installed] = self._packages()
        self.device_targets = self._device_targets()
        self.gpus = _dist_info.detect_gpus()
        self.devel = self._devel()
        self.problems: list[Problem] = []
        self._check_packages()
        self._check_siblings()
        self._check_gpus()

    def _packages(self) -> list[Installed]:
        names = {normal_name("rocm")}
        for entry in _dist_info.ALL_PACKAGES.values():
            for target in _dist_info.AVAILABLE_TARGET_FAMILIES if entry.is_target_specific else [None]:
                names.add(normal_name(entry.get_dist_package_name(target)))
        return [
            package
            for package in installed_in(self.site)
            if normal_name(package.name) in names or normal_name(package.name).startswith("rocm-sdk-")
        ]

    def has(self, logical: str) -> bool:
        entry = _dist_info.ALL_PACKAGES[logical]
        if logical == "devel":
            spec = importlib.util.find_spec(entry.pure_py_package_name)
            return spec is not None and spec.origin is not None
        return entry.has_py_package(_dist_info.determine_target_family())

    def _device_targets(self) -> list[str]:
        """Targets whose device code is installed."""
        if _dist_info.ALL_PACKAGES["libraries"].is_target_specific:
            entry = _dist_info.ALL_PACKAGES["libraries"]
            found = []
            for family in _dist_info.AVAILABLE_TARGET_FAMILIES:
                if entry.has_py_package(family):
                    found += _dist_info.TARGET_FAMILY_MEMBERS.get(family, [family])
            return found
        prefix = normal_name(_dist_info.ALL_PACKAGES["device"].get_dist_package_name("")).rstrip("-") + "-"
        names = (normal_name(package.name) for package in self.packages)
        return [name[len(prefix) :] for name in names if name.startswith(prefix)]

    def _devel(self) -> str:
        try:
            devel = Devel()
        except ModuleNotFoundError:
            return "not installed"
        if not devel.is_whole():
            return "not expanded yet" if devel.archive() is not None else "damaged"
        return "expanded" if devel.is_current() else "expanded, but links are missing"

    def _check_packages(self) -> None:
        version = _dist_info.__version__
        for package in self.packages:
            if not same_release(package.version, version):
                self.problems.append(
                    Problem(
                        "version",
                        f"{package.name} is {package.version}, but rocm is {version}: libraries of different releases do not work together",
                        f"pip install {package.name}=={version}",
                    )
                )
        for entry in _dist_info.ALL_PACKAGES.values():
            if entry.required and entry.logical_name != "meta" and not self.has(entry.logical_name):
                self.problems.append(
                    Problem("missing", f"{entry.get_dist_package_name()} is not installed", entry.install_command())
                )
        if self.devel == "damaged":
            again = f"pip install --force-reinstall --no-deps {_dist_info.ALL_PACKAGES['devel'].get_dist_package_require()}"
            self.problems.append(Problem("devel", "the devel package's folder is incomplete, and its archive is missing", again))
        libraries = _dist_info.ALL_PACKAGES["libraries"]
        if not libraries.is_target_specific and not libraries.has_py_package():
            package = find_installed(self.site, libraries.get_dist_package_name())
            if package is not None:
                again = f"pip install --force-reinstall --no-deps {libraries.get_dist_package_require()}"
                self.problems.append(Problem("libraries", f"{package.name} is installed, but its folder is damaged", again))

    def _check_siblings(self) -> None:
        for entry in _dist_info.ALL_PACKAGES.values():
            if entry.logical_name in ("meta", "device", "devel") or not self.has(entry.logical_name):
                continue
            folder = entry.get_py_package_folder(_dist_info.determine_target_family())
            if not os.path.samefile(folder.parent, self.site):
                self.problems.append(
                    Problem(
                        "siblings",
                        f"{folder.name} is in {folder.parent}, but rocm_sdk is in {self.site}: the packages find each other "
                        "only in the same folder",
                        "install them all into one virtual environment",
                    )
                )

    def gpu_problems(self) -> list[Problem]:
        libraries = _dist_info.ALL_PACKAGES["libraries"]
        family_mode = libraries.is_target_specific
        if not self.has("libraries"):
            return []  # only the libraries use device code
        covered = [gpu for gpu in self.gpus if gpu in self.device_targets]
        found = []
        for gpu in dict.fromkeys(gpu for gpu in self.gpus if gpu not in self.device_targets):
            available = _dist_info.available_for(gpu)
            what = f"no device code for the GPU {gpu} of this machine is installed"
            if family_mode:
                remedy = "install rocm from the index of the family of this GPU"
            elif available:
                remedy = _dist_info.ALL_PACKAGES["device"].install_command(available[0])
            else:
                remedy = f"this release has none; it has {', '.join(_dist_info.AVAILABLE_TARGET_FAMILIES)}"
            # An integrated GPU without device code does no harm if another GPU has its code.
            found.append(Problem("gpu", what, remedy, bad=not covered))
        return found

    def _check_gpus(self) -> None:
        self.problems += self.gpu_problems()

    def uninstall_command(self) -> str:
        return "pip uninstall " + " ".join(package.name for package in self.packages)

    def to_json(self) -> dict:
        return {
            "schema": 1,
            "version": _dist_info.__version__,
            "site": str(self.site),
            "packages": [{"name": p.name, "version": p.version} for p in self.packages],
            "devel": self.devel,
            "device_targets": self.device_targets,
            "available_targets": list(_dist_info.AVAILABLE_TARGET_FAMILIES),
            "gpus": self.gpus,
            "target": _dist_info.determine_target_family(),
            "problems": [problem.to_json() for problem in self.problems],
            "uninstall": self.uninstall_command(),
        }

    def to_text(self) -> str:
        lines = [f"ROCm {_dist_info.__version__} in {self.site}"]
        lines += [f"  {package.name} {package.version}" for package in self.packages]
        lines.append(f"devel package: {self.devel}")
        lines.append(f"device code: {', '.join(self.device_targets) or 'none'}")
        lines.append(f"GPUs of this machine: {', '.join(self.gpus) or 'none'}")
        for problem in self.problems:
            lines.append(("problem: " if problem.bad else "note: ") + problem.what)
            if problem.remedy:
                lines.append(f"  fix: {problem.remedy}")
        lines.append(f"to uninstall everything: {self.uninstall_command()}")
        return "\n".join(lines)


def built_for() -> list[str]:
    """The targets that the core was built for; if it does not list them, those of the release."""
    folder = _dist_info.ALL_PACKAGES["core"].get_py_package_folder()
    if folder is None:
        entry = _dist_info.ALL_PACKAGES["core"]
        raise DevelError(f"{entry.get_dist_package_name()} is not installed; install it: {entry.install_command()}")
    try:
        with open(folder / "share" / "therock" / "dist_info.json", encoding="utf-8") as file:
            text = json.load(file).get("dist_amdgpu_targets", "")
    except (OSError, ValueError, AttributeError):
        text = ""
    targets = [target for target in str(text).replace(",", ";").split(";") if target.strip()]
    return targets or list(_dist_info.AVAILABLE_TARGET_FAMILIES)
