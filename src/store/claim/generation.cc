#include "store/claim/generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/text.h"

namespace wheelsmith::store {

namespace {

constexpr std::string_view k_generation = "g-";
constexpr std::string_view k_reader = "r-";
// Far beyond what any store reaches; a name beyond it was not written by this program.
constexpr std::uint64_t k_last_generation = 1ull << 62;

}  // namespace

std::string generation_name(std::uint64_t number) { return fmt::format("{}{:012}", k_generation, number); }

std::optional<std::uint64_t> generation_number(std::string_view name) {
  if (!name.starts_with(k_generation)) return std::nullopt;
  const auto number = to_number(name.substr(k_generation.size()));
  if (!number || *number >= k_last_generation || generation_name(*number) != name) return std::nullopt;
  return number;
}

bool is_reader_name(std::string_view name) { return name.starts_with(k_reader); }

std::filesystem::path next_generation(const std::filesystem::path& file) {
  const auto number = generation_number(file.filename().string());
  return number ? file.parent_path() / generation_name(*number + 1) : std::filesystem::path();
}

ClaimNames claim_names(const std::filesystem::path& folder) {
  ClaimNames found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (const auto number = generation_number(name)) found.generations.push_back(*number);
    if (is_reader_name(name)) found.readers.push_back(name);
  }
  std::ranges::sort(found.generations);
  std::ranges::sort(found.readers);
  return found;
}

}  // namespace wheelsmith::store
