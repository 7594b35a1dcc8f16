#include "toolchain/cuda/cuda_texts.h"

#include <algorithm>

#include "base/text.h"
#include "toolchain/ask.h"

namespace wheelsmith::toolchain {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The number after `words` in the text, ignoring blanks: ("__GNUC__ > 15", "__GNUC__>") -> 15.
int number_behind(std::string_view condition, std::string_view words) {
  std::string dense;
  std::remove_copy_if(condition.begin(), condition.end(), std::back_inserter(dense),
                      [](char c) { return c == ' ' || c == '\t'; });
  const std::size_t at = dense.find(words);
  if (at == std::string::npos) return 0;
  std::size_t end = at + words.size();
  while (end < dense.size() && is_digit(dense[end])) ++end;
  const std::string_view digits = std::string_view(dense).substr(at + words.size(), end - at - words.size());
  const std::uint64_t number = to_number(digits).value_or(0);
  return number < 1000 ? static_cast<int>(number) : 0;
}

// A condition that only holds for compilers other than plain GCC and Clang (defined(__HORIZON__)): its bounds do not
// apply here. The whole header is inside defined(__CUDACC__), which is nvcc.
bool is_special(std::string_view condition) {
  for (std::size_t at = condition.find("defined("); at != std::string_view::npos;
       at = condition.find("defined(", at + 8)) {
    const std::string_view before = trim(condition.substr(0, at));
    std::string_view name = condition.substr(at + 8);
    name = name.substr(0, name.find(')'));
    if (!before.ends_with('!') && name != "__GNUC__" && name != "__clang__" && name != "__CUDACC__") return true;
  }
  return false;
}

}  // namespace

HostLimits read_host_config(std::string_view text) {
  HostLimits limits, pending;
  std::vector<bool> special;  // for each open #if
  for (std::string_view line : lines(text.substr(0, 1u << 20))) {
    line = trim(line);
    if (line.starts_with("#endif")) {
      if (!special.empty()) special.pop_back();
      continue;
    }
    if (line.starts_with("#else") || line.starts_with("#elif")) {
      if (!special.empty())
        special.back() =
            (special.size() > 1 && special[special.size() - 2]) || (line.starts_with("#elif") && is_special(line));
      pending = {};
      continue;
    }
    // Other conditions on versions choose between declarations; a bound is followed by an #error.
    if (line.starts_with("#error")) {
      if (pending.gcc != 0) limits.gcc = pending.gcc;
      if (pending.clang != 0) limits.clang = pending.clang;
    }
    if (!line.empty()) pending = {};
    if (!line.starts_with("#if")) continue;
    const bool outside = special.empty() || !special.back();
    special.push_back(!outside || is_special(line));
    if (special.back()) continue;
    pending.gcc = number_behind(line, "__GNUC__>");
    pending.clang = number_behind(line, "__clang_major__>");
    if (const int next = number_behind(line, "__clang_major__>=")) pending.clang = next - 1;
  }
  return limits;
}

NvccVersion read_nvcc_version(std::string_view text) {
  NvccVersion found;
  const std::size_t release = text.find("release ");
  if (release == std::string_view::npos) return found;
  const std::string_view line = text.substr(release, text.find('\n', release) - release);
  found.version = first_version(line);
  const std::size_t full = line.find(", V");
  found.full_version = full == std::string_view::npos ? found.version : first_version(line.substr(full));
  return found;
}

std::vector<std::string> read_nvcc_archs(std::string_view text) {
  std::vector<std::string> archs;
  for (std::size_t at = text.find("sm_"); at != std::string_view::npos; at = text.find("sm_", at + 3)) {
    if (at > 0 && is_word(text[at - 1])) continue;
    std::size_t end = at + 3;
    while (end < text.size() && is_word(text[end])) ++end;
    std::string_view word = text.substr(at + 3, end - at - 3);
    std::string_view digits = word;
    if (digits.ends_with('a') || digits.ends_with('f')) digits.remove_suffix(1);
    if (digits.size() < 2 || digits.size() > 4 || !to_number(digits)) continue;
    archs.emplace_back(word);
    if (archs.size() == 4096) break;
  }
  // By number, then by suffix.
  std::sort(archs.begin(), archs.end(), [](const std::string& a, const std::string& b) {
    const auto key = [](const std::string& arch) {
      const bool suffix = !is_digit(arch.back());
      return std::pair(to_number(std::string_view(arch).substr(0, arch.size() - (suffix ? 1 : 0))).value_or(0), arch);
    };
    return key(a) < key(b);
  });
  archs.erase(std::unique(archs.begin(), archs.end()), archs.end());
  return archs;
}

std::string header_number(std::string_view text, std::string_view macro) {
  for (std::string_view line : lines(text)) {
    line = trim(line);
    if (!line.starts_with('#')) continue;
    line = trim(line.substr(1));
    if (!line.starts_with("define")) continue;
    line = trim(line.substr(6));
    if (!line.starts_with(macro) || line.size() == macro.size() || is_word(line[macro.size()])) continue;
    const std::string_view value = trim(line.substr(macro.size()));
    const std::size_t end = std::min(value.size(), value.find_first_not_of("0123456789"));
    if (end > 0 && end < 10) return std::string(value.substr(0, end));
  }
  return {};
}

std::string dryrun_variable(std::string_view text, std::string_view name) {
  for (std::string_view line : lines(text)) {
    if (!line.starts_with("#$ ")) continue;
    line.remove_prefix(3);
    if (line.starts_with(name) && line.substr(name.size()).starts_with('=')) {
      return std::string(trim(line.substr(name.size() + 1)));
    }
  }
  return {};
}

}  // namespace wheelsmith::toolchain
