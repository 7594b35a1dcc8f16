"""The contents of this release of ROCm: its packages, its libraries, and the GPUs it has code for.

Every package of a release contains this file. The classes and functions come first; the values of the release are at the
end, one per line, so that tools that promote a release can find and change them.

This file imports nothing from ROCm, because it is also read while `rocm` is being built, before anything is installed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

ALL_PACKAGES: dict[str, PackageEntry] = {}
ALL_LIBRARIES: dict[str, LibraryEntry] = {}
# Other names of a library.
LIBRARY_ALIASES: dict[str, str] = {}

AVAILABLE_TARGET_FAMILIES: list[str] = []
LINUX_TARGET_FAMILIES: list[str] = []
WINDOWS_TARGET_FAMILIES: list[str] = []
# Families of targets, with their members.
TARGET_FAMILY_MEMBERS: dict[str, list[str]] = {}
# Logical names of the packages that this release contains.
PROVIDED_PACKAGES: list[str] = []

CACHED_TARGET_FAMILY: str | None = None


def base_target(target: str) -> str:
    """"gfx942" for "gfx942:xnack+": packages are named without features."""
    return target.split(":", 1)[0]


class PackageEntry:
    """One package of a release: "core", "libraries", "device", …

    `{target_family}` in a template is replaced by the target; the platform folder holds the native files.
    """

    def __init__(
        self,
        logical_name: str,
        dist_package_template: str,
        *,
        pure_py_package_name: str,
        template_directory: str = "",
        required: bool = False,
        platform_template: str = "",
        extra: str = "",
    ):
        if logical_name in ALL_PACKAGES:
            raise ValueError(f"the package {logical_name} is defined twice")
        self.logical_name = logical_name
        self.dist_package_template = dist_package_template
        self.pure_py_package_name = pure_py_package_name
        self.template_directory = template_directory
        self.required = required
        self.platform_template = platform_template or dist_package_template
        self.extra = extra
        ALL_PACKAGES[logical_name] = self

    @property
    def is_target_specific(self) -> bool:
        return "{target_family}" in self.dist_package_template

    def _fill(self, template: str, target_family: str | None) -> str:
        if "{target_family}" not in template:
            return template
        if target_family is None:
            raise ValueError(f"the package {self.logical_name} exists once per target; pass target_family")
        return template.replace("{target_family}", base_target(target_family))

    def get_dist_package_name(self, target_family: str | None = None) -> str:
        return self._fill(self.dist_package_template, target_family)

    def get_dist_package_require(self, target_family: str | None = None) -> str:
        return f"{self.get_dist_package_name(target_family)}=={__version__}"

    def get_py_package_name(self, target_family: str | None = None) -> str:
        """The folder of native files: "_rocm_sdk_core"."""
        name = self._fill(self.platform_template, target_family)
        return "_" + name.replace("-", "_") + PY_PACKAGE_SUFFIX_NONCE

    def get_py_package(self, target_family: str | None = None):
        """The module spec of the platform folder; None if the package is not installed.

        A folder without __init__.py is a leftover of an uninstalled package and does not count.
        """
        spec = importlib.util.find_spec(self.get_py_package_name(target_family))
        return spec if spec is not None and spec.origin is not None else None

    def has_py_package(self, target_family: str | None = None) -> bool:
        return self.get_py_package(target_family) is not None

    def get_py_package_folder(self, target_family: str | None = None) -> Path | None:
        spec = self.get_py_package(target_family)
        return Path(spec.origin).parent if spec is not None else None

    def install_command(self, target_family: str | None = None) -> str:
        """The command that installs this package."""
        extra = self.extra.replace("{target_family}", base_target(target_family or ""))
        return f'pip install "rocm[{extra}]=={__version__}"' if extra else f'pip install "rocm=={__version__}"'

    def __repr__(self):
        return self.dist_package_template


class LibraryEntry:
    """A library that can be found by its short name."""

    def __init__(
        self,
        shortname: str,
        package_name: str,
        so_pattern: str,
        dll_pattern: str = "",
        posix_relpath: str = "lib",
        optional: bool = False,
    ):
        if shortname in ALL_LIBRARIES:
            raise ValueError(f"the library {shortname} is defined twice")
        self.shortname = shortname
        self.package = ALL_PACKAGES[package_name]
        self.so_pattern = so_pattern
        self.dll_pattern = dll_pattern
        self.posix_relpath = posix_relpath
        self.windows_relpath = "bin"
        self.optional = optional
        ALL_LIBRARIES[shortname] = self

    def __repr__(self):
        return f"{self.shortname} ({self.so_pattern} of {self.package})"


# The GPUs of this machine.
#
# The kernel driver has a file for each processor, with the architecture as one number: 90402 is gfx942, 90010 gfx90a,
# 110501 gfx1151. Reading it does not need an installed ROCm.

TOPOLOGY = "/sys/class/kfd/kfd/topology/nodes"


def target_of_version(number: int) -> str:
    return f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}"


def gpus_of_topology(folder: str) -> list[str]:
    """The architecture of each GPU, in the driver's order; processors without one are not GPUs."""
    try:
        nodes = sorted((name for name in os.listdir(folder) if name.isdigit()), key=int)
    except OSError:
        return []
    gpus = []
    for node in nodes:
        try:
            with open(os.path.join(folder, node, "properties"), encoding="ascii", errors="replace") as file:
                text = file.read()
        except OSError:
            continue  # a GPU that is hidden from this container
        found = re.search(r"^gfx_target_version (\d+)$", text, re.MULTILINE)
        if found and int(found.group(1)) > 0:
            gpus.append(target_of_version(int(found.group(1))))
    return gpus


def _gpus_by_program() -> list[str]:
    """On Windows, which has no such folder, runs ROCm's own program if it is installed."""
    program = os.path.join(sysconfig.get_path("scripts"), "offload-arch.exe")
    if not os.path.exists(program):
        return []
    try:
        answer = subprocess.run(
            [program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=True
        ).stdout.decode("ascii", "replace")
    except (OSError, subprocess.SubprocessError) as error:
        _tell(f"offload-arch: {error}")
        return []
    return [base_target(line.strip()) for line in answer.splitlines() if line.strip().startswith("gfx")]


def detect_gpus() -> list[str]:
    """One architecture for each GPU of this machine."""
    if os.name == "nt":
        return _gpus_by_program()
    return gpus_of_topology(os.environ.get("ROCM_SDK_TOPOLOGY") or TOPOLOGY)


def _tell(message: str) -> None:
    if os.environ.get("ROCM_SDK_VERBOSE", "0") not in ("", "0"):
        print(f"rocm-sdk: {message}", file=sys.stderr)


# Selecting targets of the release.


def available_for(word: str) -> list[str]:
    """The targets of the release for a name: itself, the members of a family, or the families that contain it."""
    word = base_target(word)
    if word in AVAILABLE_TARGET_FAMILIES:
        return [word]
    members = TARGET_FAMILY_MEMBERS.get(word)
    if members is not None:
        return [target for target in AVAILABLE_TARGET_FAMILIES if target in members]
    return [family for family in AVAILABLE_TARGET_FAMILIES if word in TARGET_FAMILY_MEMBERS.get(family, ())]


def _asked_for() -> list[str] | None:
    text = os.environ.get("ROCM_SDK_TARGET_FAMILY", "")
    words = [word for word in re.split(r"[,;\s]+", text) if word]
    if not words:
        return None
    targets: list[str] = []
    for word in words:
        found = available_for(word)
        if not found:
            raise ValueError(
                f"ROCM_SDK_TARGET_FAMILY={text}: this release has no package for {word}; "
                f"it has {', '.join(AVAILABLE_TARGET_FAMILIES)}"
            )
        targets += [target for target in found if target not in targets]
    return targets


def _detected() -> list[str]:
    targets: list[str] = []
    for gpu in detect_gpus():
        found = available_for(gpu)[:1]
        if not found:
            _tell(f"this release has no code for the GPU {gpu}; it has {', '.join(AVAILABLE_TARGET_FAMILIES)}")
        targets += [target for target in found if target not in targets]
    return targets


def discover_current_target_family() -> str | None:
    """The target of the first GPU, or its family; None if this release has no code for any GPU of the machine."""
    found = _detected()
    return found[0] if found else None


def selected_targets() -> list[str]:
    """The targets of `rocm[device]`: ROCM_SDK_TARGET_FAMILY, else those of all GPUs of the machine, else the default."""
    return _asked_for() or _detected() or [DEFAULT_TARGET_FAMILY]


def determine_target_family() -> str:
    """The target of this process: ROCM_SDK_TARGET_FAMILY, else that of the first GPU, else the default."""
    global CACHED_TARGET_FAMILY
    if CACHED_TARGET_FAMILY is None:
        CACHED_TARGET_FAMILY = selected_targets()[0]
    return CACHED_TARGET_FAMILY


# The values of the release.

