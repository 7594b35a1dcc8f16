"""`rocm-sdk test`: runs the checks of rocm_sdk.tests and reports the results as text or JSON.

Each package has a module of tests; a package that is not installed is reported as such. The message of a failed test says
what is wrong; for other exceptions, the last line of Python's message is shown.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import unittest

from . import _dist_info
from ._status import Status

_MODULES = {"base_test": None, "core_test": None, "libraries_test": "libraries", "devel_test": "devel",
            "profiler_test": "profiler"}  # fmt: skip


class _Result(unittest.TestResult):
    """Counts sub-tests too: one for each library that is loaded."""

    def __init__(self):
        super().__init__()
        self.passed = 0
        self.bad: list[dict] = []

    @staticmethod
    def _words(error) -> str:
        kind, value, _ = error
        text = str(value).strip()
        # unittest puts "False is not true : " and the like before the test's own message.
        if issubclass(kind, AssertionError):
            return text.partition(" : ")[2] or text or kind.__name__
        return f"{kind.__name__}: {text.splitlines()[-1] if text else ''}"

    def _add_bad(self, test, error) -> None:
        self.bad.append({"test": test.id(), "what": self._words(error)})

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._add_bad(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self._add_bad(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is None:
            self.passed += 1
        else:
            self._add_bad(subtest, error)


def _run_module(name: str, result: _Result) -> None:
    try:
        suite = unittest.defaultTestLoader.loadTestsFromName(f"rocm_sdk.tests.{name}")
    except Exception as error:  # a module that cannot even be read
        result.bad.append({"test": name, "what": f"{type(error).__name__}: {error}"})
        return
    suite.run(result)


def run_checks(as_json: bool = False) -> int:
    status = Status()
    result = _Result()
    parts = {}
    for name, package in _MODULES.items():
        if package is not None and not status.has(package):
            parts[name] = "not installed"
            continue
        if not status.has("core"):  # reported once, below
            parts[name] = "nothing to test"
            continue
        before = (result.passed, len(result.bad))
        # The output of tests is shown only if one fails.
        with contextlib.redirect_stdout(io.StringIO()) as said:
            _run_module(name, result)
        if len(result.bad) > before[1]:
            parts[name] = f"{len(result.bad) - before[1]} failed, {result.passed - before[0]} passed"
            print(said.getvalue(), end="", file=sys.stderr)
        else:
            parts[name] = f"{result.passed - before[0]} passed"
    status = Status()  # the tests may have expanded the devel package
    bad = bool(result.bad) or any(problem.bad for problem in status.problems)
    if as_json:
        value = status.to_json()
        value.update(passed=result.passed, failed=result.bad, parts=parts, good=not bad)
        print(json.dumps(value, indent=2))
        return 1 if bad else 0
    for name, text in parts.items():
        print(f"{name}: {text}")
    for problem in result.bad:
        print(f"failed: {problem['test']}\n  {problem['what']}")
    for problem in status.problems:
        print(("problem: " if problem.bad else "note: ") + problem.what)
        if problem.remedy:
            print(f"  fix: {problem.remedy}")
    if not status.gpus:
        print("note: this machine has no AMD GPU, so the device code was not compared with a GPU")
    print(f"ROCm {_dist_info.__version__}: " + ("problems found, see above" if bad else "no problems found"))
    return 1 if bad else 0
