#include "store/claim/claim_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace wheelsmith::store {

namespace {

constexpr std::string_view k_claim_title = "wheelsmith claim 1";
constexpr std::size_t k_longest_claim = 4096;
constexpr std::uint64_t k_longest_interval = 600'000;

// A field is one line and must not end it.
std::string claim_field(std::string_view text) {
  std::string field(text.substr(0, 256));
  std::ranges::replace_if(field, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == ' '; }, '_');
  return field.empty() ? "-" : field;
}

// The value of the next line, which must begin with the name.
std::optional<std::string_view> take_field(std::string_view& text, std::string_view name) {
  const std::size_t end = text.find('\n');
  if (end == text.npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  if (!line.starts_with(name) || line.size() <= name.size() + 1 || line[name.size()] != ' ') return std::nullopt;
  return line.substr(name.size() + 1);
}

std::string plain_field(std::string_view text) { return text == "-" ? "" : std::string(text); }

}  // namespace

std::string to_text(const ClaimText& claim) {
  return fmt::format(
      "{}\nstate {}\ntoken {}\nbeat {:020}\ninterval {}\nhost {}\nboot {}\npid {}\nstart {}\nspace {}\nend\n",
      k_claim_title, claim.held ? "held" : "free", claim_field(claim.token), claim.beat, claim.interval,
      claim_field(claim.holder.host), claim_field(claim.holder.boot), claim.holder.pid, claim_field(claim.holder.start),
      claim_field(claim.holder.space));
}

std::optional<ClaimText> parse_claim(std::string_view text) {
  if (text.size() > k_longest_claim || !text.ends_with("\nend\n")) return std::nullopt;
  if (!text.starts_with(k_claim_title) || text[k_claim_title.size()] != '\n') return std::nullopt;
  text.remove_prefix(k_claim_title.size() + 1);
  ClaimText claim;
  const auto state = take_field(text, "state");
  const auto token = take_field(text, "token");
  const auto beat = take_field(text, "beat");
  const auto interval = take_field(text, "interval");
  const auto host = take_field(text, "host");
  const auto boot = take_field(text, "boot");
  const auto pid = take_field(text, "pid");
  const auto start = take_field(text, "start");
  const auto space = take_field(text, "space");
  if (!space || text != "end\n") return std::nullopt;
  if (!state || !token || !beat || !interval || !host || !boot || !pid || !start) return std::nullopt;
  if (*state != "held" && *state != "free") return std::nullopt;
  const auto beats = to_number(*beat), milliseconds = to_number(*interval), number = to_number(*pid);
  if (!beats || !milliseconds || !number || *milliseconds > k_longest_interval) return std::nullopt;
  claim.held = *state == "held";
  claim.token = *token;
  claim.beat = *beats;
  claim.interval = *milliseconds;
  claim.holder = {plain_field(*host), plain_field(*boot), *number, plain_field(*start), plain_field(*space)};
  return claim;
}

}  // namespace wheelsmith::store
