#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The names in a claim's folder: g-<number> for the generations of the exclusive claim, r-<token> for readers.

namespace wheelsmith::store {

std::string generation_name(std::uint64_t number);
std::optional<std::uint64_t> generation_number(std::string_view name);
bool is_reader_name(std::string_view name);
// The generation after that of the file; empty for a reader's file.
std::filesystem::path next_generation(const std::filesystem::path& file);

struct ClaimNames {
  std::vector<std::uint64_t> generations;  // ascending
  std::vector<std::string> readers;
};
ClaimNames claim_names(const std::filesystem::path& folder);

}  // namespace wheelsmith::store
