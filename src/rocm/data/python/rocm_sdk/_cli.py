"""The command rocm-sdk."""

from __future__ import annotations

import argparse
import json
import sys

from . import _dist_info
from ._devel import Devel, DevelError
from ._status import Status, built_for


def _print_json(value: dict) -> None:
    print(json.dumps(value, indent=2))


def _path(args) -> int:
    if args.core:
        entry = _dist_info.ALL_PACKAGES["core"]
        root = entry.get_py_package_folder()
        if root is None:
            raise DevelError(f"{entry.get_dist_package_name()} is not installed; install it: {entry.install_command()}")
    else:
        root = Devel(quiet=args.json).update()
    paths = {"root": root, "bin": root / "bin", "cmake": root / "lib" / "cmake"}
    if args.json:
        _print_json({"schema": 1, **{name: str(path) for name, path in paths.items()}})
    else:
        print(paths["bin" if args.bin else "cmake" if args.cmake else "root"])
    return 0


def _init(args) -> int:
    devel = Devel(quiet=args.quiet or args.json)
    root = devel.update(verify=True)
    if args.json:
        _print_json({"schema": 1, "root": str(root), "done": devel.done})
    elif not args.quiet:
        for what in devel.done:
            print(what)
        print(f"ROCm {_dist_info.__version__} is in {root}")
    return 0


def _test(args) -> int:
    from ._checks import run_checks

    return run_checks(as_json=args.json)


def _version(args) -> int:
    if args.json:
        _print_json({"schema": 1, "version": _dist_info.__version__})
    else:
        print(_dist_info.__version__)
    return 0


def _targets(args) -> int:
    if args.json:
        status = Status()
        _print_json(
            {
                "schema": 1,
                "targets": built_for(),
                "available": list(_dist_info.AVAILABLE_TARGET_FAMILIES),
                "installed": status.device_targets,
                "gpus": status.gpus,
                "selected": _dist_info.determine_target_family(),
            }
        )
    else:
        print(";".join(built_for()))
    return 0


def _status(args) -> int:
    status = Status()
    if args.json:
        _print_json(status.to_json())
    else:
        print(status.to_text())
    return 1 if any(problem.bad for problem in status.problems) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rocm-sdk", description="Show where the ROCm packages are installed, and check whether they work."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")

    def add(name, function, text):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--json", action="store_true", help="print one JSON document on standard output")
        command.set_defaults(function=function)
        return command

    path = add("path", _path, "print a folder of the SDK; the first call expands the devel package")
    which = path.add_mutually_exclusive_group(required=True)
    which.add_argument("--root", action="store_true", help="the SDK's folder, for ROCM_PATH")
    which.add_argument("--bin", action="store_true", help="the folder of its programs")
    which.add_argument("--cmake", action="store_true", help="the folder of its CMake packages, for CMAKE_PREFIX_PATH")
    which.add_argument("--core", action="store_true", help="the core package's folder, which needs no devel package")
    init = add("init", _init, "expand the devel package, link the files of device packages, and verify every file")
    init.add_argument("--quiet", action="store_true", help="print only errors")
    add("test", _test, "load every installed library and start every command")
    add("version", _version, "print the version")
    add("targets", _targets, "print the GPU targets that this ROCm was built for")
    add("status", _status, "show what is installed, the GPUs of this machine, and problems with their fixes")
    return parser


def main(argv=None) -> int:
    """Exit status: 0 success, 1 a problem was found and reported, 2 wrong usage."""
    args = _parser().parse_args(argv)
    try:
        return args.function(args)
    except (DevelError, ModuleNotFoundError, FileNotFoundError, ValueError) as error:
        if args.json:
            _print_json({"schema": 1, "error": str(error)})
        print(f"rocm-sdk: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
