#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fetch/fetch.h"

namespace wheelsmith::fetch {

// How large a file is, by asking its server for the headers only. Nothing where the server does not tell, does not
// answer, or must not be asked (--offline): a size is never worth a failure.
std::optional<std::uint64_t> remote_size(const std::string& url, const FetchOptions& options);

}  // namespace wheelsmith::fetch
