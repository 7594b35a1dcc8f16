"""The libraries package: every library loads together with the core."""

import importlib
import unittest

import rocm_sdk

from .. import _dist_info as di
from . import utils

libraries = importlib.import_module(di.ALL_PACKAGES["libraries"].get_py_package_name(di.determine_target_family()))


class ROCmLibrariesTest(unittest.TestCase):
    def testInstallationLayout(self):
        utils.check_siblings(self, rocm_sdk, libraries)

    def testSharedLibrariesLoad(self):
        # Needed only for libraries without run paths, which find libraries that are already loaded.
        before = [name for name in ("amd_comgr", "amdhip64", "hiprtc", "rocm_kpack") if _is_there(name)]
        utils.check_loading(self, libraries, before)


def _is_there(name):
    try:
        return bool(rocm_sdk.find_libraries(name))
    except (ImportError, FileNotFoundError):
        return False
