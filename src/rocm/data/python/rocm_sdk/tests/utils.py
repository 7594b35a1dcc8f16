"""What the checks share."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import platform
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

is_windows = platform.system() == "Windows"
exe_suffix = ".exe" if is_windows else ""

# Libraries that are loaded by what they belong to, and by nobody else: parts of compilers' run time, of tracers and
# profilers, of tests, and what needs a library of the system's that may be absent.
_LOADED_BY_OTHERS = (
    "clang_rt",
    "libLLVMOffload",
    "lib/roctracer",
    "share/roctracer",
    "lib/rocprofiler-sdk/",
    "libexec/rocprofiler-sdk/",
    "libpyrocpd",
    "libpyroctx",
    "libtest_linking_lib",
    "opencl",
    "libhipsolver_fortran",
    ".abi3.so",
    ".cpython-",
)


def get_python_cmd(extra_args=None) -> list[str]:
    """This interpreter, started so that the current folder is no place to import from."""
    command = [sys.executable]
    if sys.version_info >= (3, 11):
        command.append("-P")
    return command + list(extra_args or [])


def run_command(args, cwd=None, capture: bool = False):
    """Runs a command; CalledProcessError when it fails. With `capture` the bytes of its output are returned."""
    args = [str(arg) for arg in args]
    print(f"$ {' '.join(shlex.quote(arg) for arg in args)}", flush=True)
    done = subprocess.run(
        args,
        cwd=str(cwd) if cwd is not None else None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if capture else None,
        check=True,
    )
    return done.stdout


# An older name of it.
exec = run_command


def assert_is_physical_package(mod) -> None:
    """A folder that lost its __init__.py can still be imported, and nothing is found in it."""
    name = mod.__name__
    if mod.__file__ is None or Path(mod.__file__).name != "__init__.py":
        raise AssertionError(f"{name} is no package but a folder without __init__.py: install its package again")


def get_module_shared_libraries(mod) -> list[Path]:
    """Every library below the module's folder."""
    folder = Path(mod.__file__).parent
    patterns = ["**/*.dll"] if is_windows else ["**/*.so", "**/*.so.*"]
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def is_loadable_alone(path) -> bool:
    text = Path(path).as_posix()
    # By a link from another folder it looks for libraries from there; it is loaded by its own name anyway.
    if os.path.islink(path) and not os.path.samefile(os.path.dirname(path), os.path.dirname(os.path.realpath(path))):
        return False
    return not any(part in text for part in _LOADED_BY_OTHERS)


def find_console_script(script_name: str) -> Path | None:
    schemes = [None, "nt_user" if is_windows else "posix_user"]
    for scheme in schemes:
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        path = Path(folder) / (script_name + exe_suffix)
        if path.exists():
            return path
    return None


def _load_in_fork(path: str, preload) -> str:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            try:
                import rocm_sdk

                rocm_sdk.preload_libraries(*preload)
                ctypes.CDLL(path)
                status = 0
            except BaseException as error:
                os.write(writer, str(error).encode(errors="replace")[:4000])
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode(errors="replace")
    _, state = os.waitpid(child, 0)
    if os.WIFSIGNALED(state):
        return f"loading it ended with signal {os.WTERMSIG(state)}"
    return (text or "loading it ended the process") if os.WEXITSTATUS(state) else ""


def serve_loads() -> None:
    """Answers load_problem: each line of the input is a library to load."""
    import rocm_sdk  # noqa: F401  forks have it then

    for line in sys.stdin:
        path, preload = json.loads(line)
        print(json.dumps(_load_in_fork(path, preload)), flush=True)


_loader = None


def load_problem(path, preload=()) -> str:
    """Loads a library in a process of its own, since not all of them may be loaded into one; "" when that works.

    That process is a fork of one in which nothing was loaded before. A fork of this one would have what other checks
    loaded, and a library that does not find those by itself would seem to."""
    global _loader
    own = "import sys; sys.path[:] = [p for p in sys.path if p]; "  # before Python 3.11 there is no -P
    if not hasattr(os, "fork"):
        code = own + f"import rocm_sdk, ctypes; rocm_sdk.preload_libraries(*{list(preload)!r}); ctypes.CDLL(sys.argv[1])"
        done = subprocess.run([*get_python_cmd(["-c", code]), str(path)], stderr=subprocess.PIPE, check=False)
        return done.stderr.decode(errors="replace").strip() if done.returncode else ""
    if _loader is None or _loader.poll() is not None:
        code = own + "from rocm_sdk.tests.utils import serve_loads; serve_loads()"
        _loader = subprocess.Popen(
            get_python_cmd(["-c", code]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True
        )
        atexit.register(_stop_loader, _loader)
    try:
        _loader.stdin.write(json.dumps([str(path), list(preload)]) + "\n")
        _loader.stdin.flush()
        answer = _loader.stdout.readline()
    except OSError:
        answer = ""
    return json.loads(answer) if answer else "the process that loads libraries ended"


def _stop_loader(loader) -> None:
    loader.stdin.close()
    loader.stdout.close()
    loader.wait()


def site_of(mod) -> Path:
    return Path(mod.__file__).parent.parent


def check_siblings(test, sdk, mod) -> None:
    assert_is_physical_package(sdk)
    assert_is_physical_package(mod)
    test.assertTrue(
        os.path.samefile(site_of(sdk), site_of(mod)),
        f"{mod.__name__} lies in {site_of(mod)} and rocm_sdk in {site_of(sdk)}: the packages find each other only in one "
        "folder; install them all into one virtual environment",
    )


def check_loading(test, mod, preload=()) -> None:
    libraries = get_module_shared_libraries(mod)
    test.assertTrue(libraries, f"{mod.__name__} holds no library; install its package again")
    for path in libraries:
        if is_loadable_alone(path):
            with test.subTest(library=str(path)):
                problem = load_problem(path, preload)
                test.assertEqual(problem, "", f"{path} does not load: {problem}")


def check_script(test, name: str, arguments, expected: str, timeout: int = 60) -> None:
    """A command of a package runs and says what it should; one that the package does not have is left out."""
    path = find_console_script(name)
    if path is None:
        return
    with test.subTest(command=name):
        done = subprocess.run(
            [str(path), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
        text = done.stdout.decode(errors="replace")
        tail = "\n".join(text.strip().splitlines()[-5:])
        test.assertEqual(done.returncode, 0, f"{name} ended with {done.returncode}:\n{tail}")
        test.assertIn(expected, text, f"{name} did not say {expected!r}:\n{tail}")
