// Finds devices by the names that users and tools use. nvidia-smi says "NVIDIA A100-SXM4-80GB", rocminfo "AMD Instinct
// MI300X", a shop "GeForce RTX™ 4090 Laptop GPU", a user "rtx4090"; the table says "A100", "Instinct MI300X", "GeForce
// RTX 4090". All are reduced to the same key: lower case, without brands, form factors and memory sizes, letters and
// digits only. "4090" and "7900 xtx" also match if only one of the series RTX, GTX and RX has that number.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "gpu/arch.h"

namespace wheelsmith::gpu {

namespace data {
extern const std::string_view devices_tsv;
}

namespace {

constexpr std::array<std::string_view, 39> k_noise = {
    "with",   "nvidia", "geforce", "quadro", "tesla",  "grid", "amd",      "ati",        "radeon",     "instinct",
    "tm",     "r",      "c",       "laptop", "mobile", "gpu",  "graphics", "generation", "edition",    "workstation",
    "server", "pcie",   "sxm",     "sxm2",   "sxm3",   "sxm4", "sxm5",     "sxm6",       "nvl",        "oam",
    "hbm2",   "hbm2e",  "hbm3",    "hbm3e",  "gb",     "gib",  "maxq",     "design",     "corporation"};

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Letters and digits in runs; "(TM)" and bytes outside ASCII end a run.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : to_lower(name)) {
    if (is_letter_or_digit(c)) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_memory_size(std::string_view word) {
  for (const std::string_view unit : {"gb", "gib", "g"}) {
    if (word.ends_with(unit) && is_digits(word.substr(0, word.size() - unit.size()))) return true;
  }
  return false;
}

std::string key_of(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  std::string key;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_next = i + 1 < words.size();
    if (has_next && is_digits(words[i]) && (words[i + 1] == "gb" || words[i + 1] == "gib")) continue;
    if (has_next && words[i] == "max" && words[i + 1] == "q") {
      ++i;
      continue;
    }
    if (is_memory_size(words[i]) || std::ranges::find(k_noise, words[i]) != k_noise.end()) continue;
    key += words[i];
  }
  // "GeForceRTX4090": a brand without a separating blank.
  for (const std::string_view brand : {"nvidia", "amd", "geforce", "radeon", "instinct", "tesla", "quadro"}) {
    if (key.starts_with(brand) && key.size() > brand.size()) key.erase(0, brand.size());
  }
  return key;
}

struct Table {
  std::vector<Device> devices;
  std::map<std::string, std::size_t> by_key;
  std::vector<std::string> names;  // aliases included, for "did you mean"
};

void add_row(Table& table, std::string_view line) {
  const auto fields = split(line, '\t');
  if (line.starts_with('#') || fields.size() < 3) return;
  const std::size_t index = table.devices.size();
  table.devices.push_back({std::string(fields[2]), ArchList::parse(fields[1]).requests.at(0).arch});
  std::vector<std::string_view> names = {fields[2]};
  if (fields.size() > 3) {
    for (const std::string_view alias : split(fields[3], ',')) names.push_back(alias);
  }
  for (const std::string_view name : names) {
    table.by_key.try_emplace(key_of(name), index);
    table.names.emplace_back(name);
  }
}

const Table& table() {
  static const Table instance = [] {
    Table made;
    for (const std::string_view line : lines(data::devices_tsv)) add_row(made, line);
    return made;
  }();
  return instance;
}

// The number alone, if only one series has it.
std::optional<std::size_t> find_in_series(const std::string& key) {
  if (key.empty() || !is_digits(key.substr(0, 1))) return std::nullopt;
  std::optional<std::size_t> found;
  for (const char* series : {"rtx", "gtx", "rx"}) {
    const auto place = table().by_key.find(series + key);
    if (place == table().by_key.end()) continue;
    if (found) return std::nullopt;
    found = place->second;
  }
  return found;
}

// "sm_90", "9.0", "gfx942:xnack-": an architecture stands for a device.
std::optional<Device> read_as_arch(std::string_view name) {
  const auto list = ArchList::try_parse(name);
  if (!list) return std::nullopt;
  Arch arch = list->requests[0].arch;
  const bool one_processor = list->requests.size() == 1 && arch.target.find("generic") == std::string::npos;
  if (!one_processor || arch.target == "amdgcnspirv") return std::nullopt;
  arch.suffix.clear();
  return Device{display_name(arch, CodeKind::sass), arch};
}

// Names with the same prefix come first, then those with similar spelling.
std::vector<std::string> near_names(std::string_view name) {
  constexpr std::size_t k_most = 4, k_shortest = 3, k_longest = 60;
  const std::string key = key_of(name);
  std::vector<std::string> found;
  if (name.size() > k_longest) return found;
  std::map<std::string, std::string> names;
  std::vector<std::string> keys;
  for (const std::string& known : table().names) {
    if (names.try_emplace(key_of(known), known).second) keys.push_back(key_of(known));
  }
  if (const auto best = nearest(key, keys)) found.push_back(names.at(*best));
  for (const std::string& other : keys) {
    if (found.size() >= k_most || key.size() < k_shortest) break;
    const std::string& shown = names.at(other);
    const bool alike = other.find(key) != std::string::npos || key.find(other) != std::string::npos;
    if (alike && other.size() >= k_shortest && std::ranges::find(found, shown) == found.end()) found.push_back(shown);
  }
  return found;
}

}  // namespace

std::optional<Device> try_find_device(std::string_view name) {
  // "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S" names the processor first and the GPU last.
  const std::size_t with = name.find("w/ ");
  const std::string key = key_of(with == std::string_view::npos ? name : name.substr(with + 3));
  if (const auto place = table().by_key.find(key); place != table().by_key.end()) return table().devices[place->second];
  if (const auto index = find_in_series(key)) return table().devices[*index];
  return read_as_arch(name);
}

Device find_device(std::string_view name) {
  if (auto device = try_find_device(name)) return std::move(*device);
  const std::vector<std::string> near = near_names(name);
  throw Error(fmt::format(
      "unknown GPU '{}'; {}", printable(name.substr(0, 64)),
      near.empty() ? "use its architecture instead (sm_90, 9.0, gfx942)" : "did you mean " + join(near, ", ") + "?"));
}

std::vector<Device> known_devices() { return table().devices; }

}  // namespace wheelsmith::gpu
