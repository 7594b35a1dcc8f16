"""The profiler's programs as commands. They search their own libraries and those of the core package."""

import os
import sys

_SITE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _in_front(name, *paths):
    """The value of the variable with these paths prepended."""
    old = os.environ.get(name)
    return os.pathsep.join([*paths, old] if old else paths)


def _program(path, expand=False):
    def run():
        profiler = os.path.join(_SITE, "_rocm_profiler" + _SUFFIX)
        core = os.path.join(_SITE, "_rocm_sdk_core" + _SUFFIX)
        if not os.path.isdir(core):
            sys.exit(
                "rocm-profiler: rocm-sdk-core, whose libraries it needs, is not installed in the same folder; "
                f'install it: pip install "rocm[profiler]=={_VERSION}"'
            )
        environment = dict(os.environ)
        environment["LD_LIBRARY_PATH"] = _in_front(
            "LD_LIBRARY_PATH", os.path.join(profiler, "lib"), os.path.join(core, "lib", "rocm_sysdeps", "lib")
        )
        environment["PYTHONPATH"] = _in_front("PYTHONPATH", os.path.join(profiler, "libexec", "rocprofiler-compute"))
        program = os.path.join(profiler, *path.split("/"))
        try:
            os.execve(program, [program, *sys.argv[1:]], environment)
        except OSError as error:
            sys.exit(f"{os.path.basename(path)}: cannot start {program}: {error.strerror}")

    return run


