#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/finding.h"
#include "pep/metadata/metadata.h"

// Inside this module only: the parts of check_metadata.

namespace wheelsmith::pep {

// The findings about one member.
struct MetadataReport {
  std::string subject;
  std::vector<Finding> findings;

  void add(Severity severity, std::string id, std::string what, std::string why, std::string fix) {
    findings.push_back({std::move(id), severity, subject, std::move(what), std::move(why), std::move(fix)});
  }
};

struct MetadataField {
  std::string_view name;
  int since;  // the first Metadata-Version that has it: 21 is 2.1
  bool repeats;
};

// The field of that name in any case, or null.
const MetadataField* find_metadata_field(std::string_view name);

// metadata_dependencies.cc: Requires-Dist, Requires-Python, Provides-Extra.
void check_dependencies(const Headers& metadata, int version, MetadataReport& report);
// metadata_values.cc: the syntax of all other fields.
void check_values(const Headers& metadata, int version, MetadataReport& report);

}  // namespace wheelsmith::pep
