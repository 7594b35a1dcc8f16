#include "cache/cache.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::cache {

void check_remote(std::string_view url) {
  const std::size_t colon = url.find("://");
  const std::string_view scheme = colon == url.npos ? std::string_view() : url.substr(0, colon);
  if (scheme == "https") {
    throw Error(
        "cache-remote: TLS is not supported; use a local proxy that adds it (http://localhost:PORT/…), or a "
        "Redis server");
  }
  constexpr std::array<std::string_view, 4> k_schemes{"http", "redis", "redis+unix", "file"};
  if (!is_one_of(scheme, k_schemes) || url.size() <= colon + 3)
    throw Error(
        "cache-remote must be one of redis://HOST[:PORT], redis+unix:///SOCKET, http://HOST[:PORT]/PATH, "
        "file:///FOLDER");
  for (const char c : url) {
    if (c <= ' ' || c == 127) throw Error("cache-remote contains a character that is not valid in an address");
  }
}

void check_compression(std::string_view text) {
  const auto level = to_number(text);
  if (text != "off" && (!level || *level < 1 || *level > 19))
    throw Error(fmt::format("cache-compression {} is not a level from 1 to 19, or off", printable(text)));
}

}  // namespace wheelsmith::cache
