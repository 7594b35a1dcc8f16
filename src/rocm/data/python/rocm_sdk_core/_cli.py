"""The core's programs as commands.

A compiler is useful only in a tree that has headers. So if the devel package is installed, its programs are started
instead of the core's own, and it is expanded first if necessary. Programs that only examine the machine do not need it
and do not wait for it.

Each function below is one command. Imports are kept to a minimum: a build starts a compiler thousands of times.
"""

import os
import sys

_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_DEVEL_CODE = os.path.join(_SITE, "rocm_sdk_devel")


def _folder(name):
    return os.path.join(_SITE, name + _SUFFIX)


def _is_expanded():
    return os.path.exists(os.path.join(_folder("_rocm_sdk_devel"), ".devel_tree.json")) and not any(
        os.path.exists(os.path.join(_DEVEL_CODE, name)) for name in ("_devel.tar", "_devel.tar.xz")
    )


def _expand():
    try:
        from rocm_sdk._devel import DevelError, get_devel_root
    except ImportError:
        sys.exit(
            "rocm-sdk: the devel package is installed, but the package rocm, which expands it, is not; "
            "install it: pip install rocm"
        )
    try:
        get_devel_root()
    except DevelError as error:
        sys.exit(f"rocm-sdk: {error}")


def _root(expand):
    if not os.path.exists(os.path.join(_DEVEL_CODE, "__init__.py")):
        return _folder("_rocm_sdk_core")
    if not _is_expanded():
        if not expand:
            return _folder("_rocm_sdk_core")
        _expand()
    return _folder("_rocm_sdk_devel")


def _program(path, expand=True):
    def run():
        root = _root(expand)
        program = os.path.join(root, *path.split("/"))
        if os.name == "nt":
            import subprocess

            sys.exit(subprocess.run([program + ".exe", *sys.argv[1:]], check=False).returncode)
        try:
            if not os.path.exists(program):
                program = os.path.join(root, "bin", os.path.basename(path))  # a tree without a separate LLVM folder
            os.execv(program, [program, *sys.argv[1:]])
        except OSError as error:
            sys.exit(f"{os.path.basename(path)}: cannot start {program}: {error.strerror}")

    return run


