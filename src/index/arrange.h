#pragma once

#include <string>

#include "index/publish.h"

// An index in the layout that another host wants: the files themselves lie where it expects them, as hard links where
// the file system allows that, and the pages beside them.

namespace wheelsmith::index {

enum class Layout : std::uint8_t {
  flat,     // FILE
  project,  // NAME/FILE, the name normalized (PEP 503)
  upload,   // v5/rocm/PRODUCT/INDEX/NAME/FILE, as ROCm's package hosts have it
};

struct ArrangeOptions {
  Layout layout = Layout::project;
  std::string product;             // of the layout upload
  std::string index_name = "whl";  // likewise: whl, whl-next
};

// Puts the files of options.folder into options.out, beside what lies there from earlier calls, and publishes that. The
// filter chooses among the former. Throws Error where one folder lies inside of the other.
Published arrange(const PublishOptions& options, const ArrangeOptions& layout);

}  // namespace wheelsmith::index
