#include "choose/python.h"

#include "base/error.h"
#include "sys/process.h"

namespace wheelsmith::choose {

std::vector<toolchain::Python> choose_pythons(const Request& request, const toolchain::Host& host) {
  std::vector<toolchain::Python> pythons;
  for (const std::string& wanted : request.pythons) pythons.push_back(toolchain::find_python(wanted, host));
  if (!pythons.empty()) return pythons;
  if (host.described) return {toolchain::find_python("", host)};
  const auto path = host.environment.find("PATH");
  for (const char* name : {"python3", "python"}) {
    const std::filesystem::path found =
        path == host.environment.end() ? std::filesystem::path() : sys::find_program(name, path->second);
    if (!found.empty()) return {toolchain::find_python(found.string(), host)};
  }
  throw Error(
      "there is no python3 in PATH; name one with --python, or install it: apt-get install python3 python3-dev "
      "python3-venv");
}

}  // namespace wheelsmith::choose
