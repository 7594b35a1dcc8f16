// module: index
// An HTTP client's input: the request itself, then its target, Accept and Range. An accepted target names something
// below a folder, and a range lies inside the file.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/text.h"
#include "index/serve/request.h"

using namespace wheelsmith;
using namespace wheelsmith::index;

namespace {

void check_target(std::string_view text) {
  const auto target = parse_target(text);
  if (!target) return;
  if (target->path.empty()) return;
  for (const std::string_view part : split(target->path, '/')) {
    if (part.empty() || part == "." || part == ".." || part.find_first_of(std::string_view("\\\0\n", 3)) != part.npos)
      std::abort();
  }
  if (!is_valid_utf8(target->path)) std::abort();
  (void)choose_page(std::nullopt, target->query);
}

void check_range(const std::optional<std::string>& header, std::uint64_t size) {
  const ByteRange range = parse_range(header, size);
  if (range.kind == ByteRange::Kind::part && (range.begin >= range.end || range.end > size)) std::abort();
  if (range.kind == ByteRange::Kind::whole && (range.begin != 0 || range.end != size)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_target(text);
  check_range(std::string(text), 1000);
  (void)choose_page(std::string(text), "");
  Request request;
  std::size_t used = 0;
  if (parse_request(text, request, used) != RequestState::complete) return 0;
  if (used == 0 || used > size) std::abort();
  for (const auto& [name, value] : request.headers) {
    if (name.find_first_of(" :\r\n") != name.npos || value.find_first_of("\r\n") != value.npos) std::abort();
  }
  check_target(request.target);
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
    check_range(request.header("range"), bytes);
  (void)choose_page(request.header("accept"), "");
  return 0;
}
