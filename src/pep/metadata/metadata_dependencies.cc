#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "base/text.h"
#include "pep/marker.h"
#include "pep/metadata/metadata_check.h"
#include "pep/requirement.h"
#include "pep/scanner.h"
#include "pep/wheel_name.h"

namespace wheelsmith::pep {

namespace {

std::set<std::string> check_extras(const Headers& metadata, int version, MetadataReport& report) {
  std::set<std::string> extras;
  for (const std::string& value : metadata.all("Provides-Extra")) {
    const std::string name(trim(value));
    if (!is_valid_name(name)) {
      report.add(Severity::error, "metadata-extra", fmt::format("the extra {} is not a valid name", quoted_text(name)),
                 "it cannot be requested, and PyPI rejects the upload",
                 "use letters, digits, \"-\", \"_\" and \".\", starting and ending with a letter or digit");
    } else if (version >= 23 && name != normalized_name(name)) {
      report.add(Severity::note, "metadata-extra-spelling",
                 fmt::format("the extra {} is not in its normal form, {}", quoted_text(name),
                             quoted_text(normalized_name(name))),
                 "Metadata-Version 2.3 and newer require the normal form", "write it with a current build backend");
    }
    extras.insert(normalized_name(name));
  }
  return extras;
}

// Adds the extras that the requirement's marker asks for.
void check_requirement(const std::string& text, std::set<std::string>& used, MetadataReport& report) {
  try {
    const Requirement requirement = Requirement::parse(text);
    if (!requirement.marker.empty()) {
      for (const std::string& extra : Marker::parse(requirement.marker).extras()) used.insert(normalized_name(extra));
    }
    if (!requirement.url.empty()) {
      report.add(Severity::warning, "metadata-requires-url",
                 fmt::format("it requires {} from a URL, {}", requirement.name, quoted_text(requirement.url)),
                 "PyPI rejects wheels with direct references, and installers cannot select another version",
                 "require a version and serve that wheel from an index");
    }
  } catch (const Error& error) {
    report.add(Severity::error, "metadata-requires-dist", fmt::format("Requires-Dist: {}", error.what()),
               "pip and uv refuse to install a wheel with an invalid dependency",
               "write it as in PEP 508: name [extra] >=1.0,<2 ; marker");
  }
}

}  // namespace

void check_dependencies(const Headers& metadata, int version, MetadataReport& report) {
  const std::set<std::string> extras = check_extras(metadata, version, report);
  std::set<std::string> used;
  for (const std::string& text : metadata.all("Requires-Dist")) check_requirement(text, used, report);
  for (const std::string& extra : used) {
    if (extra.empty() || extras.contains(extra)) continue;
    report.add(
        Severity::note, "metadata-extra-undeclared",
        fmt::format("a Requires-Dist belongs to the extra {}, which no Provides-Extra declares", quoted_text(extra)),
        "requesting that extra prints a warning and does not install its dependencies",
        "declare it with Provides-Extra");
  }
  if (!metadata.has("Requires-Python")) return;
  try {
    (void)parse_specifiers(metadata.get("Requires-Python"));
  } catch (const Error& error) {
    report.add(Severity::error, "metadata-requires-python", fmt::format("Requires-Python: {}", error.what()),
               "pip and uv cannot parse it, and reject the wheel or ignore the bound",
               "write it as version specifiers: >=3.9,<3.15");
  }
}

}  // namespace wheelsmith::pep
