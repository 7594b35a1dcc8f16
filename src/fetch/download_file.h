#pragma once

#include <filesystem>
#include <string>

#include "fetch/fetch.h"

namespace wheelsmith::fetch {

// Downloads a file to the caller's path, for files too large to store twice. `url` may be a path or a file: URL. The
// file gets its name only when its SHA-256 is right; an interrupted download stays beside it in ".NAME.part" and is
// resumed. `most_bytes` 0: no limit. Throws Error.
void download_file(const std::string& url, const std::filesystem::path& target, const std::string& sha256,
                   const FetchOptions& options, std::uint64_t most_bytes = 0);

}  // namespace wheelsmith::fetch
