#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fetch/fetch.h"

namespace wheelsmith::fetch {

// A file's size, from its server's headers only. Nothing when the server does not send it, does not answer, or must not
// be contacted (--offline): a size is never worth a failure.
std::optional<std::uint64_t> remote_size(const std::string& url, const FetchOptions& options);

}  // namespace wheelsmith::fetch
