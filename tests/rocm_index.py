"""An index of synthetic ROCm wheels made from a small SDK: rocm_index.py SDK OUT VERSION [--family NAME] TARGET…

The same set as the real one: core, libraries (with a device wheel for each target, or, with --family, one wheel that has
all), devel with its tar of links, and rocm, a source that holds rocm_sdk and chooses what it requires when it is asked
for metadata."""

import base64
import hashlib
import io
import os
import sys
import tarfile
import zipfile

MAIN = '''
import os, sys, sysconfig, tarfile
site = sysconfig.get_paths()["purelib"]
root = os.path.join(site, "_rocm_sdk_devel")
word = sys.argv[1] if len(sys.argv) > 1 else ""
if word == "version":
    print("%(version)s")
elif word == "targets":
    print("%(targets)s")
elif word == "path":
    tar = os.path.join(site, "rocm_sdk_devel", "_devel.tar.xz")
    if os.path.exists(tar):
        with tarfile.open(tar) as file:
            file.extractall(site)
        os.remove(tar)
    if not os.path.isdir(root):
        sys.exit("the devel package is not installed")
    print(root + {"--root": "", "--bin": "/bin", "--cmake": "/lib/cmake"}[sys.argv[2]])
else:
    sys.exit("what?")
'''

SETUP = '''
import os
from setuptools import setup
# As in the real one: the GPU's family goes into the metadata.
with open(os.environ["ROCM_INDEX_LOG"], "a") as log:
    log.write("family " + os.environ.get("ROCM_SDK_TARGET_FAMILY", "none") + "\\n")
setup(name="rocm", version="%(version)s", packages=["rocm_sdk"], package_dir={"": "src"},
      entry_points={"console_scripts": ["rocm-sdk=rocm_sdk.__main__:main"]},
      install_requires=["rocm-sdk-core==%(version)s"])
'''


def wheel(out, name, version, members, requires=()):
    plain = name.replace("-", "_")
    info = f"{plain}-{version}.dist-info"
    members = dict(members)
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    metadata += "".join(f"Requires-Dist: {text}\n" for text in requires)
    members[f"{info}/METADATA"] = (metadata.encode(), 0o644)
    members[f"{info}/WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-linux_x86_64\n", 0o644)
    record = ""
    for path, (data, _) in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    members[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), 0o644)
    page = os.path.join(out, name.lower())
    os.makedirs(page, exist_ok=True)
    with zipfile.ZipFile(os.path.join(page, f"{plain}-{version}-py3-none-linux_x86_64.whl"), "w") as file:
        for path, (data, mode) in members.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            file.writestr(entry, data)


def sdk_files(sdk):
    for folder, _, names in os.walk(sdk):
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, sdk), path


def add(tar, name, data=None, link=None, mode=0o644):
    entry = tarfile.TarInfo("_rocm_sdk_devel/" + name)
    entry.mode = mode
    if link is not None:
        entry.type, entry.linkname = tarfile.SYMTYPE, link
        tar.addfile(entry)
    else:
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))


def main():
    words = sys.argv[1:]
    family = ""
    if "--family" in words:
        at = words.index("--family")
        family = words[at + 1]
        del words[at : at + 2]
    sdk, out, version, *targets = words
    core = {"_rocm_sdk_core/__init__.py": (b"", 0o644), "rocm_sdk_core/__init__.py": (b"", 0o644)}
    devel = io.BytesIO()
    with tarfile.open(fileobj=devel, mode="w:xz") as tar:
        for name, path in sdk_files(sdk):
            up = "../" * (name.count("/") + 1)
            mode = 0o755 if os.access(path, os.X_OK) else 0o644
            if os.path.islink(path):
                add(tar, name, link=os.readlink(path))
            elif name.startswith(("include/", "lib/cmake/")):
                with open(path, "rb") as file:
                    add(tar, name, data=file.read(), mode=mode)
            else:
                with open(path, "rb") as file:
                    core["_rocm_sdk_core/" + name] = (file.read(), mode)
                add(tar, name, link=up + "_rocm_sdk_core/" + name)
    wheel(out, "rocm-sdk-core", version, core)
    code = {"rocm_sdk_devel/__init__.py": (b"", 0o644), "rocm_sdk_devel/_devel.tar.xz": (devel.getvalue(), 0o644)}
    wheel(out, "rocm-sdk-devel", version, code)
    empty = {"_rocm_sdk_libraries/__init__.py": (b"", 0o644)}
    if family:
        folder = "_rocm_sdk_libraries_" + family.replace("-", "_")
        wheel(out, "rocm-sdk-libraries-" + family, version, {folder + "/__init__.py": (b"", 0o644)})
    else:
        wheel(out, "rocm-sdk-libraries", version, empty | {"rocm_sdk_libraries/__init__.py": (b"", 0o644)})
        for target in targets:
            code = empty | {f"_rocm_sdk_libraries/.kpack/blas_lib_{target}.kpack": (b"kernels", 0o644)}
            wheel(out, "rocm-sdk-device-" + target, version, code, ["rocm-sdk-libraries == " + version])
    values = {"version": version, "targets": ";".join(targets)}
    os.makedirs(os.path.join(out, "rocm"), exist_ok=True)
    with tarfile.open(os.path.join(out, "rocm", f"rocm-{version}.tar.gz"), "w:gz") as tar:
        files = {
            "PKG-INFO": f"Metadata-Version: 2.1\nName: rocm\nVersion: {version}\n",
            "setup.py": SETUP % values,
            "pyproject.toml": '[build-system]\nrequires = ["setuptools>=70.2.0"]\nbuild-backend = "setuptools.build_meta"\n',
            "src/rocm_sdk/__init__.py": "",
            "src/rocm_sdk/__main__.py": MAIN % values,
        }
        for name, text in files.items():
            entry = tarfile.TarInfo(f"rocm-{version}/{name}")
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    for project in os.listdir(out):
        page = os.path.join(out, project)
        links = "".join(f'<a href="{name}">{name}</a>\n' for name in sorted(os.listdir(page)) if name != "index.html")
        with open(os.path.join(page, "index.html"), "w") as file:
            file.write(f"<!DOCTYPE html><html><body>\n{links}</body></html>\n")


main()
