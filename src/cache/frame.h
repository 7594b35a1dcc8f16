#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sys/io/socket.h"

// Messages between shims and the broker: their size in eight bytes, then as many bytes.

namespace wheelsmith::cache {

bool send_frame(const sys::Socket& socket, std::string_view bytes);
// Nothing at the end of the conversation, or for a frame larger than `limit`.
std::optional<std::string> receive_frame(const sys::Socket& socket, std::uint64_t limit);

}  // namespace wheelsmith::cache
