#include "gpu/arch_words.h"

#include <array>
#include <cstdint>

#include "base/text.h"
#include "gpu/arch.h"

namespace wheelsmith::gpu {

namespace data {
extern const std::string_view families_tsv;
}

namespace {

// As in torch 2.15. Older ones differ in Blackwell (10.0;12.0+PTX) and Blackwell+Tegra (10.1, the number that became
// 11.0 with CUDA 13).
constexpr std::array k_generations = {
    Generation{"kepler+tesla", "3.7"},     Generation{"kepler", "3.5+PTX"},
    Generation{"maxwell+tegra", "5.3"},    Generation{"maxwell", "5.0;5.2+PTX"},
    Generation{"pascal", "6.0;6.1+PTX"},   Generation{"volta+tegra", "7.2"},
    Generation{"volta", "7.0+PTX"},        Generation{"turing", "7.5+PTX"},
    Generation{"ampere+tegra", "8.7"},     Generation{"ampere", "8.0;8.6+PTX"},
    Generation{"ada", "8.9+PTX"},          Generation{"hopper", "9.0+PTX"},
    Generation{"blackwell+tegra", "11.0"}, Generation{"blackwell", "10.0;10.3;12.0;12.1+PTX"},
    Generation{"rubin", "10.7+PTX"},
};

constexpr std::array k_nvidia_numbers = {"35",   "37",   "50",  "52",   "53",   "60",  "61",   "62",   "70",
                                         "72",   "75",   "80",  "86",   "87",   "89",  "90",   "90a",  "100",
                                         "100a", "100f", "103", "103a", "103f", "107", "107a", "107f", "110",
                                         "110a", "110f", "120", "120a", "120f", "121", "121a", "121f"};

std::vector<NamedTargets> read_targets(std::string_view kind) {
  std::vector<NamedTargets> rows;
  for (const std::string_view line : lines(data::families_tsv)) {
    const auto fields = split(line, '\t');
    if (fields.size() != 3 || fields[0] != kind) continue;
    const auto members = split(fields[2], ',');
    rows.push_back({std::string(fields[1]), {members.begin(), members.end()}});
  }
  return rows;
}

}  // namespace

std::span<const NamedTargets> amd_families() {
  static const std::vector<NamedTargets> rows = read_targets("family");
  return rows;
}

std::span<const NamedTargets> amd_generics() {
  static const std::vector<NamedTargets> rows = read_targets("generic");
  return rows;
}

std::span<const Generation> generations() { return k_generations; }

std::vector<std::string> known_arch_words() {
  std::vector<std::string> words = {"amdgcnspirv", "gfx803", "gfx908", "gfx90a"};
  for (const std::string number : k_nvidia_numbers) {
    words.push_back("sm_" + number);
    words.push_back("compute_" + number);
    const std::size_t minor = number.find_last_of("0123456789");
    words.push_back(number.substr(0, minor) + "." + number.substr(minor));
    words.push_back(number);
  }
  for (const Generation& generation : k_generations) words.emplace_back(generation.name);
  for (const auto table : {amd_generics(), amd_families()}) {
    for (const NamedTargets& row : table) {
      words.push_back(row.name);
      words.insert(words.end(), row.members.begin(), row.members.end());
    }
  }
  return words;
}

}  // namespace wheelsmith::gpu
