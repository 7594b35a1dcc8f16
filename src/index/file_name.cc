#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "index/file.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"

namespace wheelsmith::index {

namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-' || c == '+' || c == '!';
}

FileName with_identity(FileName name, std::string_view version) {
  if (!pep::is_valid_name(name.written)) throw Error(fmt::format("\"{}\" is not a valid project name", name.written));
  name.project = pep::normalized_name(name.written);
  name.parsed = pep::Version::parse(version);
  name.version = name.parsed.to_string();
  return name;
}

FileName sdist_name(std::string_view stem) {
  FileName name;
  name.kind = FileKind::sdist;
  // Since PEP 625 no name has a "-" in it; in older ones the last one followed by a version is used.
  for (std::size_t at = stem.rfind('-'); at != std::string_view::npos && at > 0; at = stem.rfind('-', at - 1)) {
    if (!pep::Version::try_parse(stem.substr(at + 1))) continue;
    name.written = stem.substr(0, at);
    return with_identity(std::move(name), stem.substr(at + 1));
  }
  throw Error("is not a valid source distribution name: expected NAME-VERSION.tar.gz");
}

}  // namespace

bool looks_like_distribution(std::string_view name) {
  return name.ends_with(".whl") || name.ends_with(".tar.gz") || name.ends_with(".zip");
}

FileName parse_file_name(std::string_view name) {
  if (!std::all_of(name.begin(), name.end(), is_plain) || name.empty() || name.size() > 240 || name.front() == '.' ||
      name.front() == '-')
    throw Error("its name has invalid characters or is too long");
  if (name.ends_with(".whl")) {
    const pep::WheelName wheel = pep::WheelName::parse(name);
    FileName result;
    result.written = wheel.name;
    result.build = wheel.build;
    result.python = wheel.python;
    result.abi = wheel.abi;
    result.platform = wheel.platform;
    result.label = wheel.label;
    return with_identity(std::move(result), wheel.version);
  }
  for (const std::string_view ending : {".tar.gz", ".zip"}) {
    if (name.ends_with(ending)) return sdist_name(name.substr(0, name.size() - ending.size()));
  }
  throw Error("is neither a wheel nor a source distribution");
}

}  // namespace wheelsmith::index
