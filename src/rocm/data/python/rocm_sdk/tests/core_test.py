"""The core package: its libraries load, its programs run."""

import importlib
import unittest

import rocm_sdk

from .. import _dist_info as di
from . import utils

core = importlib.import_module(di.ALL_PACKAGES["core"].get_py_package_name())

# Commands, their arguments, and a text that their output contains. Programs that the package lacks are skipped.
_SCRIPTS = [
    ("amdclang", ["--help"], "clang LLVM compiler"),
    ("amdclang++", ["--help"], "clang LLVM compiler"),
    ("amdclang-cpp", ["--help"], "clang LLVM compiler"),
    ("amdclang-cl", ["-help"], "clang LLVM compiler"),
    ("amdflang", ["--help"], "LLVM compiler"),
    ("amdlld", ["-flavor", "ld.lld", "--help"], "USAGE:"),
    ("hipcc", ["--help"], "clang LLVM compiler"),
    ("hipconfig", [], "HIP version"),
    ("hipify-clang", ["--help"], "USAGE:"),
    ("hipify-perl", ["--help"], "USAGE:"),
    ("amd-smi", [], "AMD-SMI"),
    ("rocm-smi", [], "Management"),
    ("rocminfo", [], ""),
    ("rocm_agent_enumerator", [], ""),
]


class ROCmCoreTest(unittest.TestCase):
    def testInstallationLayout(self):
        utils.check_siblings(self, rocm_sdk, core)

    def testSharedLibrariesLoad(self):
        utils.check_loading(self, core)

    def testConsoleScripts(self):
        for name, arguments, expected in _SCRIPTS:
            utils.check_script(self, name, arguments, expected)

    def testPreloadLibraries(self):
        target = di.determine_target_family()
        for entry in di.ALL_LIBRARIES.values():
            if entry.package.has_py_package(target):
                with self.subTest(library=entry.shortname):
                    rocm_sdk.preload_libraries(entry.shortname)
