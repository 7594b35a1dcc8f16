#pragma once

#include <functional>

#include "archive/archive.h"
#include "base/bytes.h"

namespace wheelsmith::source {

// archive::read_tar(), and the same for ZIP archives.
void walk_archive(Bytes file, const std::function<void(const archive::TarEntry&)>& on_entry,
                  const std::function<void(Bytes)>& on_content);

}  // namespace wheelsmith::source
