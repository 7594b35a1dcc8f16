#include "wheel/check/finding_limit.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_of_one_id = 100;
constexpr std::size_t k_longest_text = 8000;

void clip(std::string& text) {
  if (text.size() <= k_longest_text) return;
  const std::string length = human_bytes(text.size());
  std::size_t end = k_longest_text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  text += fmt::format("… ({} in all)", length);
}

}  // namespace

std::vector<Finding> limited(std::vector<Finding> findings) {
  struct Rest {
    std::size_t seen = 0;
    Finding first_left_out;
  };
  std::map<std::string, Rest> rests;
  std::vector<Finding> result;
  for (Finding& finding : findings) {
    Rest& rest = rests[finding.id];
    ++rest.seen;
    if (rest.seen == k_most_of_one_id + 1) rest.first_left_out = std::move(finding);
    if (rest.seen > k_most_of_one_id) continue;
    clip(finding.subject);
    clip(finding.what);
    result.push_back(std::move(finding));
  }
  for (auto& [id, rest] : rests) {
    if (rest.seen <= k_most_of_one_id) continue;
    Finding& more = rest.first_left_out;
    more.subject = "and others";
    more.what = fmt::format("{} more findings like these are not shown", rest.seen - k_most_of_one_id);
    result.push_back(std::move(more));
  }
  return result;
}

}  // namespace wheelsmith::wheel
