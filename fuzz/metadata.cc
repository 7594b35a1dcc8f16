// module: pep
// Header blocks and the one-line grammars in them; printed values must parse to themselves.

#include "pep/metadata/metadata.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "pep/marker.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"

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

void feed_line(std::string_view line) {
  attempt([&] {
    const auto requirement = pep::Requirement::parse(line);
    require(pep::Requirement::parse(requirement.to_string()) == requirement);
    for (const auto& specifier : requirement.specifiers) (void)specifier.contains(pep::Version::parse("1.0rc1+a.1"));
    if (!requirement.marker.empty()) (void)pep::Marker::parse(requirement.marker);
  });
  attempt([&] {
    const auto version = pep::Version::parse(line);
    require(pep::Version::parse(version.to_string()) == version);
    require(pep::Version::parse(version.to_string()).to_string() == version.to_string());
  });
  attempt([&] {
    const auto marker = pep::Marker::parse(line);
    require(pep::Marker::parse(marker.to_string()) == marker);
    (void)marker.evaluate({{"os_name", "posix"}, {"python_version", "3.11"}, {"sys_platform", "linux"}});
  });
  attempt([&] {
    const auto name = pep::WheelName::parse(line);
    require(pep::WheelName::parse(name.to_string()) == name);
    (void)pep::check_wheel_name(name, "name");
    (void)name.tags();
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  attempt([&] {
    const auto headers = pep::Headers::parse(bytes);
    (void)pep::check_metadata(headers, "METADATA");
    (void)pep::check_wheel_file(headers, "WHEEL");
  });
  for (const std::string_view line : lines(bytes.text())) feed_line(line);
  return 0;
}
