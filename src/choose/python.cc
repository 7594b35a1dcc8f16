#include "choose/python.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "sys/process/process.h"

namespace wheelsmith::choose {

std::filesystem::path interpreter_of(const std::filesystem::path& into) {
  std::error_code ignored;
  const std::filesystem::path python = into / "bin" / "python";
  if (!into.empty() && std::filesystem::exists(python, ignored)) return std::filesystem::absolute(python);
  return into;
}

namespace {

// The interpreter of the environment; one with another ABI could not import the compiled modules.
toolchain::Python python_of_environment(const Request& request, const toolchain::Host& host) {
  const toolchain::Python python = toolchain::find_python(interpreter_of(request.into).string(), host);
  if (request.pythons.empty()) return python;
  const toolchain::Python named = toolchain::find_python(request.pythons.front(), host);
  if (named.abi != python.abi)
    throw RequestError(
        fmt::format("--python {} and --into {} contradict each other: the environment has Python {} ({})",
                    printable(request.pythons.front()), printable(request.into.string()), python.version, python.abi));
  return python;
}

}  // namespace

std::vector<toolchain::Python> choose_pythons(const Request& request, const toolchain::Host& host) {
  if (request.editable) return {python_of_environment(request, host)};
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
      "no python3 in PATH; give one with --python, or install it: apt-get install python3 python3-dev "
      "python3-venv");
}

}  // namespace wheelsmith::choose
