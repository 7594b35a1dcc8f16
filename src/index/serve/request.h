#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// An HTTP request. Everything here is untrusted.

namespace wheelsmith::index {

struct Request {
  std::string method;
  std::string target;                                        // as sent
  std::vector<std::pair<std::string, std::string>> headers;  // in order, names in lower case
  bool keep_alive = false;
  bool has_body = false;
  std::optional<std::uint64_t> body_size;  // empty if the client does not give it (a chunked body)

  // All fields of that name (in lower case), joined by ", "; nothing if there is none.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
};

inline constexpr std::size_t k_most_request = 16 << 10;

enum class RequestState : std::uint8_t { incomplete, complete, bad, too_large };

// Parses one request from the start of the received bytes; `used` is its length if it is complete.
RequestState parse_request(std::string_view bytes, Request& request, std::size_t& used);

// The target of a request as a name below a folder: decoded, without '/' at its ends, every part plain.
struct Target {
  std::string path;     // "torch/torch-2.10.whl"; "" for the folder itself
  bool folder = false;  // it had a trailing '/'
  std::string query;    // as sent
};
// Nothing for invalid paths: no path, wrong escapes, an escaped '/', '\', control characters, invalid UTF-8 (including
// overlong forms), empty parts, "." and "..". The result can leave a folder only through a link.
std::optional<Target> parse_target(std::string_view target);

// The form of a page that the client accepts, and its media type. Nothing: neither.
struct PageChoice {
  bool json = false;
  std::string content_type;
};
// By Accept (PEP 691) or the query's "format", which takes precedence. Without both: HTML.
std::optional<PageChoice> choose_page(const std::optional<std::string>& accept, std::string_view query);

// A part of a file: [begin, end).
struct ByteRange {
  enum class Kind : std::uint8_t { whole, part, unsatisfiable } kind = Kind::whole;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
// Applies the Range header to a size. Invalid or multiple ranges mean the whole.
ByteRange parse_range(const std::optional<std::string>& header, std::uint64_t size);

}  // namespace wheelsmith::index
