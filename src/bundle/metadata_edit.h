#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::bundle {

struct MetadataEdit {
  std::string text;
  std::vector<std::string> dropped;  // requirements, as they were written
};

// METADATA without the requirements on the named distributions, and with another version if one is given; everything
// else stays as it is.
MetadataEdit edit_metadata(std::string_view text, const std::function<bool(std::string_view name)>& is_dropped,
                           std::string_view version);

// "2.9.0" and "fat" give "2.9.0+fat", "2.9.0+rocm7" and "fat" give "2.9.0+rocm7.fat". Throws Error for an invalid
// label.
std::string with_local_label(std::string_view version, std::string_view label);

}  // namespace wheelsmith::bundle
