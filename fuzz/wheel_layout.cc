// module: env
// What an installer reads of a wheel before it writes: every target path must be inside. The same bytes are also parsed
// as the texts that pip and wheels provide.

#include "env/wheel_layout.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "env/entry_points.h"
#include "env/pip_report.h"

using namespace wheelsmith;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

template <class Function>
void attempt(Function function) {
  try {
    function();
  } catch (const Error&) {}
}

void lay_out(Bytes bytes) {
  const zip::Archive archive = zip::Archive::open(bytes);
  const env::WheelLayout layout = env::lay_out(archive, "demo-1.0-py3-none-any.whl");
  for (const env::LaidOutFile& file : layout.files) {
    require(!file.path.empty() && file.path[0] != '/');
    for (const std::string_view part : split(file.path, '/')) require(!part.empty() && part != "." && part != "..");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  attempt([&] { lay_out(bytes); });
  attempt([&] {
    for (const env::EntryPoint& point : env::parse_entry_points(bytes.text())) {
      require(point.name.find('/') == std::string::npos);
      const std::string script = env::entry_point_script(point, "/p");
      require(script.find_first_of("\"'") == script.find("\"__main__\""));
    }
  });
  attempt([&] { (void)env::parse_pip_report(bytes.text()); });
  (void)env::read_pip_failure(bytes.text());
  return 0;
}
