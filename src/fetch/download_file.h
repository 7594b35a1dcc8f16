#pragma once

#include <filesystem>
#include <string>

#include "fetch/fetch.h"

namespace wheelsmith::fetch {

// A file to where the caller wants it, for what is too large to lie in the store as well. `url` may be a path or a
// file: URL. It gets its name only when its SHA-256 is right; what came of it before an interruption lies beside it in
// ".NAME.part" and is gone on with. `most_bytes` 0: no limit. Throws Error.
void download_file(const std::string& url, const std::filesystem::path& target, const std::string& sha256,
                   const FetchOptions& options, std::uint64_t most_bytes = 0);

}  // namespace wheelsmith::fetch
