#pragma once

#include <string>

#include "index/publish.h"

// An index in the layout of another host: files at the paths it expects, as hard links if the file system supports
// them, with the pages next to them.

namespace wheelsmith::index {

enum class Layout : std::uint8_t {
  flat,     // FILE
  project,  // NAME/FILE, the name normalized (PEP 503)
  upload,   // v5/rocm/PRODUCT/INDEX/NAME/FILE, as on ROCm's package hosts
};

struct ArrangeOptions {
  Layout layout = Layout::project;
  std::string product;             // of the layout upload
  std::string index_name = "whl";  // likewise: whl, whl-next
};

// Copies the files of options.folder into options.out, next to those of earlier calls, and publishes the result. The
// filter applies to options.folder. Throws Error if one folder contains the other.
Published arrange(const PublishOptions& options, const ArrangeOptions& layout);

}  // namespace wheelsmith::index
