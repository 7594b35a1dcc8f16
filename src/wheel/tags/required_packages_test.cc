#include "wheel/tags/required_packages.h"

#include <gtest/gtest.h>

namespace wheelsmith::wheel {
namespace {

Distribution distribution_of(const std::string& name, const std::string& version,
                             const std::vector<std::string>& requirements) {
  Distribution distribution;
  distribution.metadata.emplace();
  distribution.metadata->fields = {{"Name", name}, {"Version", version}};
  for (const std::string& text : requirements) distribution.metadata->fields.emplace_back("Requires-Dist", text);
  return distribution;
}

// Real wheels: what they require, what one of their files needs, and which requirement holds it.
TEST(RequiredPackages, OfRealWheels) {
  struct Row {
    std::string wheel, version;
    std::vector<std::string> required;
    std::string python;  // the text of an __init__.py
    std::string soname, run_path;
    std::string answer;  // "" none, "name" certain, "name?" likely
  };
  const Row rows[] = {
      {"PyQt6",
       "6.12.0",
       {"PyQt6-sip (>=13.13)", "PyQt6-Qt6 (>=6.12.0)"},
       "",
       "libQt6Core.so.6",
       "$ORIGIN/Qt6/lib",
       "pyqt6-qt6"},
      {"PyQt6",
       "6.12.0",
       {"PyQt6-sip (>=13.13)", "PyQt6-Qt6 (>=6.12.0)"},
       "",
       "libxkbcommon.so.0",
       "$ORIGIN/Qt6/lib",
       ""},
      {"rmm-cu12",
       "26.10.0",
       {"librmm-cu12==26.10.*", "numpy"},
       "import librmm\nlibrmm.load_library()",
       "librmm.so",
       "$ORIGIN",
       "librmm-cu12"},
      {"rmm-cu12",
       "26.10.0",
       {"librmm-cu12==26.10.*", "numpy"},
       "import librmm\nlibrmm.load_library()",
       "librapids_logger.so",
       "$ORIGIN",
       "librmm-cu12"},
      {"librmm-cu12",
       "26.10.0",
       {"rapids-logger==0.2.*"},
       "import rapids_logger\nrapids_logger.load_library()",
       "librapids_logger.so",
       "$ORIGIN",
       "rapids-logger"},
      {"cadquery-ocp",
       "8.0.1.1.0",
       {"cadquery-ocp-proxy==8.0.1.1.0", "vtk==9.6.2"},
       "",
       "libvtkCommonCore.so",
       "$ORIGIN/../vtkmodules",
       "vtk"},
      {"pybammsolvers",
       "0.9.1",
       {"casadi==3.7.2", "numpy>=2"},
       "import casadi",
       "libcasadi.so.3.7",
       "$ORIGIN",
       "casadi"},
      {"sherpa-onnx", "2.0.1", {"sherpa-onnx-core==2.0.1"}, "", "libonnxruntime.so", "$ORIGIN", "sherpa-onnx-core?"},
      {"mkl-fft", "2.3.2", {"mkl", "numpy"}, "", "libmkl_rt.so.3", "/opt/lib", "mkl?"},
      {"something", "1.0", {"apache-tvm-ffi>=0.1"}, "import tvm_ffi", "libtvm_ffi.so", "", "apache-tvm-ffi"},
      {"onnx", "1.0", {"protobuf>=4"}, "from google.protobuf import message", "libprotobuf.so.32", "", "protobuf?"},
      {"lightgbm", "4.7.0", {"numpy", "scipy"}, "import numpy", "libgomp.so.1", "$ORIGIN", ""},
      {"pyodbc", "5.3.0", {}, "", "libodbc.so.2", "", ""},
      // shiboken6 is pinned to the same version, but is another project: it does not hold the system's libraries.
      {"PySide6-Essentials", "6.12.0", {"shiboken6==6.12.0"}, "", "libEGL.so.1", "$ORIGIN/Qt/lib", ""},
      {"demo", "1.0", {"librmm-cu12; extra == 'gpu'"}, "import librmm\nlibrmm.load_library()", "librmm.so", "", ""},
      {"demo", "1.0", {"not a requirement ((", "librmm"}, "import librmm", "librmm.so", "", "librmm"},
  };
  for (const Row& row : rows) {
    PythonUse python;
    python.see("pkg/__init__.py", Bytes(row.python));
    const RequiredPackages packages = required_packages(distribution_of(row.wheel, row.version, row.required), python);
    ElfFacts file;
    file.path = "PyQt6/ext.so";
    if (!row.run_path.empty()) file.runpath = {row.run_path};
    const auto found = find_required(packages, file, row.soname, folders_of({file}));
    EXPECT_EQ(found ? found->package + (found->certain ? "" : "?") : "", row.answer) << row.wheel << " " << row.soname;
  }
}

TEST(RequiredPackages, ModulesOfPackages) {
  const RequiredPackages packages =
      required_packages(distribution_of("torch", "2.15", {"nvidia-cudnn-cu13==9.1", "sympy"}), {});
  EXPECT_TRUE(packages.has_module("nvidia"));
  EXPECT_TRUE(packages.has_module("sympy"));
  EXPECT_FALSE(packages.has_module("lib"));
  EXPECT_FALSE(packages.has_module("usr"));
}

}  // namespace
}  // namespace wheelsmith::wheel
