#pragma once

#include <string>
#include <vector>

#include "gpu/slim/keep.h"
#include "pep/variant_file.h"
#include "surgery/input_wheel.h"
#include "surgery/item.h"

namespace wheelsmith::surgery {

struct SplitRequest {
  pep::VariantDialect dialect = pep::VariantDialect::pep825;
  std::vector<gpu::ArchList> groups;  // one wheel for each; empty: one for each architecture in the wheel
  bool vendor_libraries = false;      // also change libraries whose licence restricts modified copies
};

// "8.0,8.6;9.0+PTX": groups separated by ';'. Throws Error.
std::vector<gpu::ArchList> parse_groups(std::string_view text);

// One variant wheel for each group of architectures, with the device code that it needs; see split.cc. All or none are
// written. Throws Error; RequestError for groups that cannot be labels.
void split_wheel(InputWheel& input, const SplitRequest& request, const WriteOptions& options, Item& item);

// "sm80_86", "gfx942"; at most 16 characters.
std::string group_label(const gpu::ArchList& group);

}  // namespace wheelsmith::surgery
