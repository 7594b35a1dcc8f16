"""ROCm as Python packages: finds its libraries, and loads them before a framework needs them.

    import rocm_sdk
    rocm_sdk.initialize_process(preload_shortnames=["amdhip64", "hipblas"], check_version="7.10.0")
"""

from __future__ import annotations

import ctypes
import os
import re
import warnings
from pathlib import Path

from . import _dist_info
from ._dist_info import __version__

__all__ = ["__version__", "find_libraries", "initialize_process", "preload_libraries"]

# The libraries that this process has loaded, by short name. Dropping a handle may unload its library.
_ALL_CDLLS: dict[str, ctypes.CDLL] = {}


def _entry(shortname: str) -> _dist_info.LibraryEntry:
    name = _dist_info.LIBRARY_ALIASES.get(shortname, shortname)
    entry = _dist_info.ALL_LIBRARIES.get(name)
    if entry is None:
        known = ", ".join(sorted(_dist_info.ALL_LIBRARIES))
        raise ModuleNotFoundError(f"ROCm has no library with the short name {shortname}; known names: {known}")
    return entry


def _find(entry: _dist_info.LibraryEntry) -> Path | None:
    """The library's file; None if the library is optional and absent."""
    windows = os.name == "nt"
    pattern = entry.dll_pattern if windows else entry.so_pattern
    if not pattern:
        return None
    package = entry.package
    target = _dist_info.determine_target_family() if "{target_family}" in package.platform_template else None
    folder = package.get_py_package_folder(target)
    if folder is None:
        raise ModuleNotFoundError(
            f"the library {entry.shortname} is in {package.get_dist_package_name(target)}, which is not installed; "
            f"install it: {package.install_command(target)}",
            name=package.get_py_package_name(target),
        )
    place = folder / (entry.windows_relpath if windows else entry.posix_relpath)
    found = sorted(place.glob(pattern))
    if found:
        return found[0]
    if entry.optional:
        return None
    raise FileNotFoundError(
        f"the library {entry.shortname} ({pattern}) is not in {place}: "
        f"{package.get_dist_package_name(target)} is corrupt or from another release; "
        f"reinstall it: pip install --force-reinstall --no-deps {package.get_dist_package_require(target)}"
    )


def find_libraries(*shortnames: str) -> list[Path]:
    """Returns the files of these libraries, without optional ones that are absent and those that this system does not have."""
    paths = (_find(_entry(name)) for name in shortnames)
    return [path for path in paths if path is not None]


def preload_libraries(*shortnames: str, rtld_global: bool = True) -> None:
    """Loads these libraries, in this order. With rtld_global, libraries that are loaded later see their symbols."""
    mode = ctypes.RTLD_GLOBAL if rtld_global else ctypes.RTLD_LOCAL
    for shortname in shortnames:
        if shortname in _ALL_CDLLS:
            continue
        path = _find(_entry(shortname))
        if path is not None:
            _ALL_CDLLS[shortname] = ctypes.CDLL(str(path), mode=mode)


def _is_version(wanted: str | re.Pattern) -> bool:
    if isinstance(wanted, re.Pattern):
        return wanted.match(__version__) is not None
    pattern = ".*".join(re.escape(part) for part in wanted.split("*"))
    return re.fullmatch(pattern, __version__, re.DOTALL) is not None


def _check_version(wanted: str | re.Pattern, fail: bool) -> None:
    if _is_version(wanted):
        return
    text = wanted.pattern if isinstance(wanted, re.Pattern) else wanted
    # Programs search for the first words of this message.
    message = (
        f"The program was compiled against a ROCm version matching '{text}', but {__version__} is installed. "
        f'To install a matching one: pip install "rocm=={text}"'
    )
    if fail:
        raise RuntimeError(message)
    warnings.warn(message, UserWarning, stacklevel=3)


def initialize_process(
    preload_shortnames=(),
    rtld_global: bool = True,
    env_override: bool = True,
    check_version: str | re.Pattern | None = None,
    fail_on_version_mismatch: bool = False,
    **kwargs,
) -> None:
    """Checks the version and loads libraries; frameworks call it before they load their own libraries.

    check_version is a string, in which `*` matches anything, or a compiled pattern. If the installed version does not
    match, it is a warning, or a RuntimeError with fail_on_version_mismatch. The libraries in the variable
    ROCM_SDK_PRELOAD_LIBRARIES (short names separated by `,` or `;`) are loaded last, unless env_override is false.
    Other keywords are reserved for later releases and have no effect.
    """
    # First, because libraries of another version may not load, and this message is clearer.
    if check_version is not None:
        _check_version(check_version, fail_on_version_mismatch)
    preload_libraries(*preload_shortnames, rtld_global=rtld_global)
    if not env_override:
        return
    text = os.environ.get("ROCM_SDK_PRELOAD_LIBRARIES", "")
    names = [name.strip() for name in re.split("[,;]", text) if name.strip()]
    try:
        preload_libraries(*names, rtld_global=rtld_global)
    except (OSError, ImportError) as error:
        raise RuntimeError(f"ROCM_SDK_PRELOAD_LIBRARIES={text}: {error}") from error
