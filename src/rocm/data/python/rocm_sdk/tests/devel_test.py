"""The devel package: expanded, complete, and linked to the other packages."""

import importlib
import os
import unittest
from pathlib import Path

import rocm_sdk

from .. import _dist_info as di
from .._devel import Devel
from . import utils


class ROCmDevelTest(unittest.TestCase):
    def path(self, flag):
        words = utils.get_python_cmd(["-m", "rocm_sdk", "path", flag])
        return Path(utils.run_command(words, capture=True).decode().strip())

    def testInstallationLayout(self):
        utils.check_siblings(self, rocm_sdk, importlib.import_module("rocm_sdk_devel"))

    def testCLIPathBin(self):
        self.assertTrue(self.path("--bin").is_dir(), "rocm-sdk path --bin does not print a folder")

    def testCLIPathCMake(self):
        folder = self.path("--cmake")
        self.assertTrue((folder / "hip" / "hip-config.cmake").is_file(), f"{folder} has no hip/hip-config.cmake")

    def testCLIPathRoot(self):
        self.assertTrue((self.path("--root") / "bin").is_dir(), "rocm-sdk path --root does not print a folder that contains bin")

    def testCLIUsesDevelRootPath(self):
        script = utils.find_console_script("hipconfig")
        if script is None:
            self.skipTest("hipconfig is not installed")
        root = self.path("--root")
        said = utils.run_command([script, "--rocmpath"], capture=True).decode().strip()
        self.assertTrue(
            said and os.path.exists(said) and os.path.samefile(root, said),
            f"hipconfig reports {said or 'nothing'} as ROCm's folder, but it is {root}; is ROCM_PATH set to another one?",
        )

    @unittest.skipIf(utils.is_windows, "exists on Linux only")
    def testRootLLVMSymlinkExists(self):
        clang = self.path("--root") / "llvm" / "bin" / "clang++"
        self.assertTrue(clang.exists(), f"{clang} is missing; fix: rocm-sdk init")

    def testSharedLibrariesLoad(self):
        self.path("--root")
        importlib.invalidate_caches()
        utils.check_loading(self, importlib.import_module(di.ALL_PACKAGES["devel"].get_py_package_name()))

    def testWhole(self):
        Devel().update(verify=True)

    def testLibrariesMirroredIntoDevel(self):
        entry = di.ALL_PACKAGES["libraries"]
        folder = entry.get_py_package_folder(di.determine_target_family())
        if folder is None:
            self.skipTest("the libraries package is not installed")
        root = self.path("--root")
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            if not path.is_file() or name.name == "__init__.py" and len(name.parts) == 1:
                continue
            if "__pycache__" in name.parts or name.parts[0] == ".devel_links":
                continue
            there = root / name
            self.assertTrue(there.is_file(), f"{there} is missing; fix: rocm-sdk init")
            same = os.path.samefile(there, path) or there.stat().st_size == path.stat().st_size
            self.assertTrue(same, f"{there} is not a link to {path}; fix: rocm-sdk init")
