// The files below data/python, by their paths there. Their symbols are made by cmake/embed.cmake.

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "rocm/python/python_table.h"

namespace wheelsmith::rocm {

namespace data {
extern const std::string_view python_dist_info_py, python_package_init_py, python_rocm_README_md,
    python_rocm_pyproject_toml, python_rocm_rocm_selector_py, python_rocm_setup_py, python_rocm_profiler__cli_py,
    python_rocm_sdk___init___py, python_rocm_sdk___main___py, python_rocm_sdk__checks_py, python_rocm_sdk__cli_py,
    python_rocm_sdk__devel_py, python_rocm_sdk__expand_py, python_rocm_sdk__lock_py, python_rocm_sdk__record_py,
    python_rocm_sdk__status_py, python_rocm_sdk_core__cli_py, python_rocm_sdk_tests___init___py,
    python_rocm_sdk_tests_base_test_py, python_rocm_sdk_tests_core_test_py, python_rocm_sdk_tests_devel_test_py,
    python_rocm_sdk_tests_libraries_test_py, python_rocm_sdk_tests_profiler_test_py, python_rocm_sdk_tests_utils_py;
}

std::span<const PythonSource> python_sources() {
  static const std::array sources = {
      PythonSource{"dist_info.py", data::python_dist_info_py},
      PythonSource{"package_init.py", data::python_package_init_py},
      PythonSource{"rocm/README.md", data::python_rocm_README_md},
      PythonSource{"rocm/pyproject.toml", data::python_rocm_pyproject_toml},
      PythonSource{"rocm/rocm_selector.py", data::python_rocm_rocm_selector_py},
      PythonSource{"rocm/setup.py", data::python_rocm_setup_py},
      PythonSource{"rocm_profiler/_cli.py", data::python_rocm_profiler__cli_py},
      PythonSource{"rocm_sdk/__init__.py", data::python_rocm_sdk___init___py},
      PythonSource{"rocm_sdk/__main__.py", data::python_rocm_sdk___main___py},
      PythonSource{"rocm_sdk/_checks.py", data::python_rocm_sdk__checks_py},
      PythonSource{"rocm_sdk/_cli.py", data::python_rocm_sdk__cli_py},
      PythonSource{"rocm_sdk/_devel.py", data::python_rocm_sdk__devel_py},
      PythonSource{"rocm_sdk/_expand.py", data::python_rocm_sdk__expand_py},
      PythonSource{"rocm_sdk/_lock.py", data::python_rocm_sdk__lock_py},
      PythonSource{"rocm_sdk/_record.py", data::python_rocm_sdk__record_py},
      PythonSource{"rocm_sdk/_status.py", data::python_rocm_sdk__status_py},
      PythonSource{"rocm_sdk/tests/__init__.py", data::python_rocm_sdk_tests___init___py},
      PythonSource{"rocm_sdk/tests/base_test.py", data::python_rocm_sdk_tests_base_test_py},
      PythonSource{"rocm_sdk/tests/core_test.py", data::python_rocm_sdk_tests_core_test_py},
      PythonSource{"rocm_sdk/tests/devel_test.py", data::python_rocm_sdk_tests_devel_test_py},
      PythonSource{"rocm_sdk/tests/libraries_test.py", data::python_rocm_sdk_tests_libraries_test_py},
      PythonSource{"rocm_sdk/tests/profiler_test.py", data::python_rocm_sdk_tests_profiler_test_py},
      PythonSource{"rocm_sdk/tests/utils.py", data::python_rocm_sdk_tests_utils_py},
      PythonSource{"rocm_sdk_core/_cli.py", data::python_rocm_sdk_core__cli_py},
  };
  return sources;
}

std::string_view python_source(std::string_view path) {
  for (const PythonSource& source : python_sources()) {
    if (source.path == path) return source.text;
  }
  throw Error(fmt::format("there is no Python file {}", printable(path)));
}

}  // namespace wheelsmith::rocm
