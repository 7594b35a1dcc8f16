"""index_wheels.py FOLDER NAME…: small wheels and source distributions by their file names, for tests of `index` and `serve`.

A name may be followed by ":KEY=VALUE|KEY=VALUE…": requires (Requires-Python), salt (text that changes the bytes), depends
(Requires-Dist), variant (JSON of variant.json), metadata (Name of METADATA, where it is to be wrong).
"""
import io
import os
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from wheel_maker import Wheel


def settings_of(text):
    return dict(item.split("=", 1) for item in text.split("|") if item)


def metadata(name, version, settings):
    text = f"Metadata-Version: 2.1\nName: {settings.get('metadata', name)}\nVersion: {version}\n"
    if "requires" in settings:
        text += f"Requires-Python: {settings['requires']}\n"
    if "depends" in settings:
        text += f"Requires-Dist: {settings['depends']}\n"
    return (text + "\nMade by a test.\n").encode()


def make_wheel(path, settings):
    parts = os.path.basename(path)[:-4].split("-")
    label = parts[-1] if len(parts) == 6 and not parts[2][0].isdigit() else None
    wheel = Wheel(path if label is None else os.path.join(os.path.dirname(path), "-".join(parts[:-1]) + ".whl"))
    wheel.path = path
    wheel.members[f"{wheel.name}.py"] = f"version = {wheel.version!r}\nsalt = {settings.get('salt', '')!r}\n".encode()
    wheel.members[f"{wheel.dist_info}/METADATA"] = metadata(wheel.name, wheel.version, settings)
    if "variant" in settings:
        wheel.members[f"{wheel.dist_info}/variant.json"] = settings["variant"].encode()
    wheel.write()


def make_sdist(path, settings):
    name, version = os.path.basename(path)[: -len(".tar.gz")].rsplit("-", 1)
    with tarfile.open(path, "w:gz") as archive:
        for member, data in [("setup.py", b"import setuptools\nsetuptools.setup()\n"), ("PKG-INFO", metadata(name, version, settings))]:
            info = tarfile.TarInfo(f"{name}-{version}/{member}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


for argument in sys.argv[2:]:
    file, _, rest = argument.partition(":")
    target = os.path.join(sys.argv[1], file)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    (make_wheel if file.endswith(".whl") else make_sdist)(target, settings_of(rest))
