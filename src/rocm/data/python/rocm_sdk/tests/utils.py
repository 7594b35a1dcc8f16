"""Functions that several checks use."""

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

# Libraries that only their own programs load: parts of compiler runtimes, of tracers and profilers, of tests, and
# libraries that need a system library that may be absent.
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
    """The command that starts this interpreter without imports from the current folder."""
    command = [sys.executable]
    if sys.version_info >= (3, 11):
        command.append("-P")
    return command + list(extra_args or [])


def run_command(args, cwd=None, capture: bool = False):
    """Runs a command; raises CalledProcessError if it fails. With `capture`, returns the bytes of its output."""
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
    """Fails for a folder without __init__.py: it can be imported, but is a leftover without content."""
    name = mod.__name__
    if mod.__file__ is None or Path(mod.__file__).name != "__init__.py":
        raise AssertionError(f"{name} is a folder without __init__.py, not a package: reinstall it")


def get_module_shared_libraries(mod) -> list[Path]:
    """Every library below the module's folder."""
    folder = Path(mod.__file__).parent
    patterns = ["**/*.dll"] if is_windows else ["**/*.so", "**/*.so.*"]
    return sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})


def is_loadable_alone(path) -> bool:
    text = Path(path).as_posix()
    # Through a link from another folder it would search for libraries there; it is also tested under its own name.
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
    """The other side of load_problem: each line of the input is a library to load."""
    import rocm_sdk  # noqa: F401  imported before the forks

    for line in sys.stdin:
        path, preload = json.loads(line)
        print(json.dumps(_load_in_fork(path, preload)), flush=True)


_loader = None


def load_problem(path, preload=()) -> str:
    """Loads a library in a separate process, because not all of them can be loaded into one; returns "" on success.

    That process is forked from one that has loaded nothing. A fork of this process would contain the libraries that
    other checks loaded, and hide that a library does not find them by itself."""
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
        f"{mod.__name__} is in {site_of(mod)}, but rocm_sdk is in {site_of(sdk)}: the packages find each other only in the "
        "same folder; install them all into one virtual environment",
    )


def check_loading(test, mod, preload=()) -> None:
    libraries = get_module_shared_libraries(mod)
    test.assertTrue(libraries, f"{mod.__name__} contains no library; reinstall its package")
    for path in libraries:
        if is_loadable_alone(path):
            with test.subTest(library=str(path)):
                problem = load_problem(path, preload)
                test.assertEqual(problem, "", f"{path} does not load: {problem}")


def check_script(test, name: str, arguments, expected: str, timeout: int = 60) -> None:
    """Checks that a command succeeds and prints the expected text; skips a command that the package does not have."""
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
        test.assertEqual(done.returncode, 0, f"{name} exited with status {done.returncode}:\n{tail}")
        test.assertIn(expected, text, f"{name} did not print {expected!r}:\n{tail}")
