"""The profiler package: its libraries find their dependencies, its programs start."""

import importlib
import subprocess
import unittest

import rocm_sdk

from .. import _dist_info as di
from . import utils

profiler = importlib.import_module(di.ALL_PACKAGES["profiler"].get_py_package_name())

_SCRIPTS = ["rocprof-sys-sample", "rocprof-sys-run", "rocprof-sys-instrument"]


@unittest.skipIf(utils.is_windows, "exists on Linux only")
class ROCmProfilerTest(unittest.TestCase):
    def test_installation_layout(self):
        utils.check_siblings(self, rocm_sdk, profiler)

    def test_all_required_libraries_resolve(self):
        libraries = utils.get_module_shared_libraries(profiler)
        self.assertTrue(libraries, "the profiler package contains no library; reinstall it")
        for path in libraries:
            done = subprocess.run(["ldd", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            lost = [line.strip() for line in done.stdout.decode(errors="replace").splitlines() if "not found" in line]
            self.assertEqual(lost, [], f"{path} does not find its libraries: {'; '.join(lost)}")

    def test_rocprof_sys_unversioned_library_aliases(self):
        folder = utils.site_of(profiler) / profiler.__name__ / "lib"
        for pattern in ("librocprof-sys*.so.*", "libprofiler-hub*.so.*"):
            for path in folder.glob(pattern):
                plain = folder / (path.name.partition(".so.")[0] + ".so")
                self.assertTrue(plain.exists(), f"{plain} is missing; reinstall the package")

    def test_rocprof_sys_console_scripts(self):
        for name in _SCRIPTS:
            utils.check_script(self, name, ["--version"], name)
