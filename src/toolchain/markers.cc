#include "toolchain/markers.h"

#include "pep/marker.h"

namespace wheelsmith::toolchain {

namespace {

std::string python_variable(const Python& python, const std::string& name) {
  if (name == "python_version") return python.short_version();
  if (name == "python_full_version" || name == "implementation_version") return python.version;
  if (name == "implementation_name") return python.implementation;
  if (name == "platform_python_implementation") return python.implementation == "pypy" ? "PyPy" : "CPython";
  if (name == "platform_machine") return python.machine();
  if (name == "sys_platform") return "linux";
  if (name == "platform_system") return "Linux";
  return name == "os_name" ? "posix" : "";
}

}  // namespace

bool applies_to(const pep::Requirement& requirement, const Python& python) {
  if (requirement.marker.empty()) return true;
  pep::MarkerEnvironment environment;
  for (const char* name : {"python_version", "python_full_version", "implementation_version", "implementation_name",
                           "platform_python_implementation", "platform_machine", "sys_platform", "platform_system",
                           "os_name", "platform_release", "platform_version"})
    environment[name] = python_variable(python, name);
  return pep::Marker::parse(requirement.marker).evaluate(environment);
}

}  // namespace wheelsmith::toolchain
