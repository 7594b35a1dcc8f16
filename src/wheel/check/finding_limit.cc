#include "wheel/check/finding_limit.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_per_id = 10'000;
constexpr std::size_t k_always_kept = 100;  // of each id, however long the report is
constexpr std::size_t k_most_bytes = 20'000'000;
constexpr std::size_t k_longest_text = 8000;

void clip(std::string& text) {
  if (text.size() <= k_longest_text) return;
  const std::string length = human_bytes(text.size());
  std::size_t end = k_longest_text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  text += fmt::format("… ({} in total)", length);
}

}  // namespace

std::vector<Finding> limited(std::vector<Finding> findings) {
  struct OfOneId {
    std::size_t kept = 0;
    std::size_t left_out = 0;
    Finding first_left_out;
  };
  std::map<std::string, OfOneId> ids;
  std::vector<Finding> result;
  std::size_t bytes = 0;
  for (Finding& finding : findings) {
    OfOneId& same = ids[finding.id];
    if (same.kept >= k_always_kept && (same.kept >= k_most_per_id || bytes > k_most_bytes)) {
      if (same.left_out++ == 0) same.first_left_out = std::move(finding);
      continue;
    }
    ++same.kept;
    clip(finding.subject);
    clip(finding.what);
    bytes += finding.subject.size() + finding.what.size() + finding.why.size() + finding.fix.size();
    result.push_back(std::move(finding));
  }
  for (auto& [id, same] : ids) {
    if (same.left_out == 0) continue;
    Finding& more = same.first_left_out;
    more.subject = "and others";
    more.what = fmt::format("{} more findings with this id are not shown", same.left_out);
    result.push_back(std::move(more));
  }
  return result;
}

}  // namespace wheelsmith::wheel
