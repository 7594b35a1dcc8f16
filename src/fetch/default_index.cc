#include "base/text.h"
#include "fetch/fetch.h"

namespace wheelsmith::fetch {

std::string pip_default_index(const std::filesystem::path& python) {
  sys::Command command;
  // -I: neither the current folder nor PYTHONPATH may provide another pip.
  command.argv = {python.string(), "-I", "-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"};
  command.timeout = std::chrono::seconds(60);
  const sys::Captured captured = sys::capture(command, 4096);
  const std::string_view url = trim(captured.output);
  const bool whole = url.starts_with("https://") || url.starts_with("http://");
  return captured.exit.good() && whole && url.find('\n') == std::string_view::npos ? std::string(url) : "";
}

}  // namespace wheelsmith::fetch
