#include "source/identity.h"

#include <fmt/format.h>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "pep/metadata/metadata.h"
#include "pep/version.h"

namespace wheelsmith::source {

Identity identity_of(const FileTree& source) {
  Identity identity;
  // The build will report an unreadable file.
  if (const std::optional<Blob> info = source.open("PKG-INFO")) {
    const auto headers = if_valid([&] { return pep::Headers::parse(info->bytes); });
    if (headers) identity = {headers->get("Name"), headers->get("Version")};
  }
  const bool whole = !identity.name.empty() && !identity.version.empty();
  if (const std::optional<Blob> project = whole ? std::nullopt : source.open("pyproject.toml")) {
    const auto table =
        if_valid([&] { return document::Value(document::parse_toml(project->bytes.text(), "pyproject.toml")); });
    if (table && identity.name.empty()) identity.name = (*table)["project"]["name"].text_or();
    if (table && identity.version.empty()) identity.version = (*table)["project"]["version"].text_or();
  }
  return identity;
}

void check_version(std::string_view file_name, std::string_view in_name, std::string_view inside) {
  if (in_name.empty() || inside.empty() || in_name == inside) return;
  const auto first = pep::Version::try_parse(in_name);
  const auto second = pep::Version::try_parse(inside);
  if (first && second && *first == *second) return;
  throw Error(fmt::format("{} has inconsistent versions: its file name says {}, but its PKG-INFO says {}",
                          printable(file_name), printable(in_name), printable(inside)));
}

}  // namespace wheelsmith::source
