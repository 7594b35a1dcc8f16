# Run by an interpreter with -I: prints its properties as one line of JSON. Works from Python 3.6 on, and with PyPy.
import json
import os
import sys
import sysconfig


def value_of(name):
    return sysconfig.get_config_var(name) or ""


def path_of(name):
    return sysconfig.get_path(name) or ""


def glibc():
    try:
        words = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
        if len(words) == 2 and words[0] == "glibc":
            return words[1]
    except (AttributeError, ValueError, OSError):
        pass
    import platform

    name, version = platform.libc_ver()
    return version if name == "glibc" else ""


def library():
    if not value_of("Py_ENABLE_SHARED"):
        return ""
    for folder in (os.path.join(sys.base_prefix, "lib"), value_of("LIBDIR")):
        for name in (value_of("INSTSONAME"), value_of("LDLIBRARY")):
            path = os.path.join(folder, name)
            if folder and name and os.path.isfile(path):
                return os.path.realpath(path)
    return ""


def abi_of(soabi, digits):
    parts = soabi.split("-")
    if parts[0] == "cpython" and len(parts) > 1:
        return "cp" + parts[1]
    if parts[0].startswith("pypy") and len(parts) > 1:
        return parts[0] + "_" + parts[1]
    return "cp" + digits + getattr(sys, "abiflags", "")


def pip_of(folders):
    for folder in folders:
        if os.path.isdir(os.path.join(folder, "pip")):
            try:
                for name in sorted(os.listdir(folder)):
                    if name.startswith("pip-") and name.endswith((".dist-info", ".egg-info")):
                        return name[4:].rsplit(".", 1)[0].split("-")[0], os.path.join(folder, name)
            except OSError:
                pass
            return "", os.path.join(folder, "pip")
    return None


name = sys.implementation.name
digits = "%d%d" % sys.version_info[:2]
sites = []
for folder in [path_of("purelib"), path_of("platlib")] + sys.path:
    if folder and folder not in sites and os.path.basename(folder) in ("site-packages", "dist-packages"):
        sites.append(folder)
pip = pip_of(sites)
header = os.path.join(path_of("include"), "Python.h")
stdlib = path_of("stdlib")
# Debian removes these from the standard library and packages them separately.
venv = os.path.join(stdlib, "venv", "__init__.py")
ensurepip = os.path.join(stdlib, "ensurepip", "__init__.py")
data_name = getattr(sysconfig, "_get_sysconfigdata_name", lambda: "")()
data = getattr(sys.modules.get(data_name), "__file__", None) or ""
suffix = value_of("EXT_SUFFIX") or value_of("SO")

print(
    json.dumps(
        {
            "executable": sys.executable,
            "version": "%d.%d.%d" % sys.version_info[:3],
            "implementation": name,
            "tag": {"cpython": "cp", "pypy": "pp", "graalpy": "graalpy"}.get(name, name) + digits,
            "abi": abi_of(value_of("SOABI"), digits),
            "platform": sysconfig.get_platform().replace("-", "_").replace(".", "_"),
            "soabi": suffix,
            "prefix": sys.prefix,
            "base_prefix": sys.base_prefix,
            "include": path_of("include"),
            "purelib": path_of("purelib"),
            "platlib": path_of("platlib"),
            "stdlib": stdlib,
            "sites": sites,
            "has_headers": os.path.isfile(header),
            "has_venv": os.path.isfile(venv),
            "has_ensurepip": os.path.isfile(ensurepip),
            "has_pip": pip is not None,
            "pip_version": pip[0] if pip else "",
            "glibc": glibc(),
            "library": library(),
            "files": [sys.executable, os.path.realpath(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg"), data,
                      header, venv, ensurepip, library()] + ([pip[1]] if pip else sites),
        }
    )
)
