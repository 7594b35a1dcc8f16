#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What an HTTP client asks for. Everything here comes from strangers.

namespace wheelsmith::index {

struct Request {
  std::string method;
  std::string target;                                        // as sent
  std::vector<std::pair<std::string, std::string>> headers;  // in order, names in lower case
  bool keep_alive = false;
  bool has_body = false;
  std::optional<std::uint64_t> body_size;  // nothing where the client does not say (a chunked body)

  // All fields of that name (in lower case), joined by ", "; nothing when there is none.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
};

inline constexpr std::size_t k_most_request = 16 << 10;

enum class RequestState : std::uint8_t { incomplete, complete, bad, too_large };

// Reads one request from the beginning of what a connection has sent; `used` is its length when it is complete.
RequestState parse_request(std::string_view bytes, Request& request, std::size_t& used);

// The target of a request as a name below a folder: decoded, without '/' at its ends, every part plain.
struct Target {
  std::string path;     // "torch/torch-2.10.whl"; "" for the folder itself
  bool folder = false;  // there was a '/' behind it
  std::string query;    // as sent
};
// Nothing for what can name no file: no path, wrong escapes, an escaped '/', '\', control characters, bytes that are no
// UTF-8 (overlong forms too), empty parts, "." and "..". What it returns cannot leave a folder but by a link.
std::optional<Target> parse_target(std::string_view target);

// Which of the two forms of a page the client wants, and how it calls it. Nothing: neither.
struct PageChoice {
  bool json = false;
  std::string content_type;
};
// By Accept (PEP 691) or the query's "format", which is stronger. Without both: HTML.
std::optional<PageChoice> choose_page(const std::optional<std::string>& accept, std::string_view query);

// A part of a file: [begin, end).
struct ByteRange {
  enum class Kind : std::uint8_t { whole, part, unsatisfiable } kind = Kind::whole;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
// The header Range against a size. What is no range of bytes, or several of them, means the whole.
ByteRange parse_range(const std::optional<std::string>& header, std::uint64_t size);

}  // namespace wheelsmith::index
