"""The package rocm itself: its command, its version, and the functions that frameworks call."""

import os
import re
import unittest

import rocm_sdk

from . import utils

_VARIABLE = "ROCM_SDK_PRELOAD_LIBRARIES"
_MISMATCH = "The program was compiled against a ROCm version matching"


class ROCmBaseTest(unittest.TestCase):
    def setUp(self):
        self.saved = os.environ.pop(_VARIABLE, None)
        rocm_sdk._ALL_CDLLS.clear()

    def tearDown(self):
        os.environ.pop(_VARIABLE, None)
        if self.saved is not None:
            os.environ[_VARIABLE] = self.saved

    def ask(self, *words):
        return utils.run_command(utils.get_python_cmd(["-m", "rocm_sdk", *words]), capture=True).decode()

    def testCLI(self):
        self.assertIn("usage:", self.ask("--help"), "rocm-sdk --help prints no usage")

    def testVersion(self):
        self.assertEqual(self.ask("version").strip(), rocm_sdk.__version__, "rocm-sdk version prints another version than the package has")

    def testTargets(self):
        self.assertIn("gfx", self.ask("targets"), "rocm-sdk targets prints no GPU target")

    def check_loaded(self, *names):
        for name in names:
            self.assertIn(name, rocm_sdk._ALL_CDLLS, f"initialize_process did not load {name}")

    def test_initialize_process_preload_libraries(self):
        rocm_sdk.initialize_process(preload_shortnames=["amdhip64"])
        self.check_loaded("amdhip64")

    def test_initialize_process_env_preload(self):
        for text, names in (
            ("amdhip64", ["amdhip64"]),
            (" ,amdhip64, ,hiprtc,", ["amdhip64", "hiprtc"]),
            (" ;amdhip64; ;hiprtc;", ["amdhip64", "hiprtc"]),
        ):
            with self.subTest(variable=text):
                rocm_sdk._ALL_CDLLS.clear()
                os.environ[_VARIABLE] = text
                rocm_sdk.initialize_process()
                self.check_loaded(*names)

    def test_initialize_process_check_version(self):
        for wanted in (rocm_sdk.__version__, "*", re.compile(".+")):
            with self.subTest(wanted=str(wanted)):
                rocm_sdk.initialize_process(check_version=wanted, fail_on_version_mismatch=True)

    def test_initialize_process_check_version_mismatch(self):
        for wanted in ("badversion", re.compile("badversion")):
            with self.subTest(wanted=str(wanted)):
                with self.assertRaisesRegex(RuntimeError, _MISMATCH):
                    rocm_sdk.initialize_process(check_version=wanted, fail_on_version_mismatch=True)
                with self.assertWarnsRegex(UserWarning, _MISMATCH):
                    rocm_sdk.initialize_process(check_version=wanted)
