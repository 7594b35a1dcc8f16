"""The build backend of `rocm` (PEP 517), in plain Python: the requirements and the wheel.

The requirements of `rocm` depend on the machine (device code for its GPUs), so it is a source distribution, and the
choice is made when it is built. It has its own backend because it is built on the user's machine, from an index that may
contain only ROCm: with setuptools, the index would need setuptools, too.
"""

import base64
import csv
import hashlib
import importlib.util
import io
import os
import tarfile
import zipfile

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.join(_HERE, "src", "rocm_sdk")
SCRIPTS = {"rocm-sdk": "rocm_sdk._cli:main"}
SUMMARY = "ROCm: selects and manages the packages of the SDK"
PYTHON = ">=3.8"


def load_dist_info():
    spec = importlib.util.spec_from_file_location("rocm_dist_info", os.path.join(_PACKAGE, "_dist_info.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _marker(di, target):
    """Device code that exists for one system only is not required on the other."""
    linux, windows = di.LINUX_TARGET_FAMILIES, di.WINDOWS_TARGET_FAMILIES
    if not linux or not windows or (target in linux) == (target in windows):
        return ""
    return ' ; sys_platform == "linux"' if target in linux else ' ; sys_platform == "win32"'


def requirements(di):
    """The requirements that always apply, and those of each extra."""
    packages = {name: di.ALL_PACKAGES[name] for name in di.PROVIDED_PACKAGES if name != "meta"}
    always = [entry.get_dist_package_require() for entry in packages.values() if entry.required]
    extras = {}
    for name, entry in packages.items():
        if entry.required or name == "device":
            continue
        target = di.selected_targets()[0] if entry.is_target_specific else None
        extras[name] = [entry.get_dist_package_require(target)]
    device = packages.get("device")
    if device is None:
        extras["device"] = []  # the libraries contain it
        return always, extras
    require = {target: device.get_dist_package_require(target) + _marker(di, target) for target in targets(di)}
    extras["device"] = [require[di.base_target(target)] for target in di.selected_targets()]
    for target, text in require.items():
        extras[f"device-{target}"] = [text]
    extras["device-all"] = list(require.values())
    return always, extras


def targets(di):
    return list(dict.fromkeys(di.base_target(target) for target in di.AVAILABLE_TARGET_FAMILIES))


def metadata(di):
    always, extras = requirements(di)
    lines = ["Metadata-Version: 2.2", "Name: rocm", f"Version: {di.__version__}", f"Summary: {SUMMARY}"]
    lines += [f"Requires-Python: {PYTHON}", "Description-Content-Type: text/markdown"]
    lines += [f"Requires-Dist: {text}" for text in always]
    for extra, texts in extras.items():
        lines.append(f"Provides-Extra: {extra}")
        for text in texts:
            require, _, marker = text.partition(" ; ")
            lines.append(f"Requires-Dist: {require} ; " + (f'{marker} and extra == "{extra}"' if marker else f'extra == "{extra}"'))
    with open(os.path.join(_HERE, "README.md"), encoding="utf-8") as file:
        return "\n".join(lines) + "\n\n" + file.read()


def _info(di):
    """The .dist-info files, except RECORD."""
    scripts = "".join(f"{name} = {place}\n" for name, place in SCRIPTS.items())
    # Not purelib: the packages with native files go to platlib, and all must be in the same folder.
    wheel = "Wheel-Version: 1.0\nGenerator: rocm_selector\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
    return {"METADATA": metadata(di), "WHEEL": wheel, "entry_points.txt": f"[console_scripts]\n{scripts}"}


def _sources():
    for folder, folders, names in os.walk(_PACKAGE):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                yield "rocm_sdk/" + os.path.relpath(path, _PACKAGE).replace(os.sep, "/"), file.read()


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    di = load_dist_info()
    name = f"rocm-{di.__version__}.dist-info"
    os.makedirs(os.path.join(metadata_directory, name), exist_ok=True)
    for file_name, text in _info(di).items():
        with open(os.path.join(metadata_directory, name, file_name), "w", encoding="utf-8", newline="") as file:
            file.write(text)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    di = load_dist_info()
    info = f"rocm-{di.__version__}.dist-info"
    members = list(_sources())
    members += [(f"{info}/{name}", text.encode()) for name, text in _info(di).items()]
    rows = []
    for path, data in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append([path, f"sha256={digest}", len(data)])
    rows.append([f"{info}/RECORD", "", ""])
    record = io.StringIO()
    csv.writer(record, lineterminator="\n").writerows(rows)
    members.append((f"{info}/RECORD", record.getvalue().encode()))
    name = f"rocm-{di.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as file:
        for path, data in members:
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            file.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    top = f"rocm-{load_dist_info().__version__}"
    with tarfile.open(os.path.join(sdist_directory, top + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as tar:
        tar.add(_HERE, top, filter=lambda entry: None if "__pycache__" in entry.name else entry)
    return top + ".tar.gz"
