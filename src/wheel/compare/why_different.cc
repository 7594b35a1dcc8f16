// Why two versions of a file differ. Binaries are compared by section, because one changed path shifts everything after
// it; text files by line.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "wheel/compare/compare.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_text_bytes = 256 << 10;
constexpr std::size_t k_most_cells = 4'000'000;  // of a table of lines against lines
constexpr std::size_t k_most_lines = 6;
constexpr std::size_t k_most_sections = 12;
constexpr std::size_t k_widest = 160;

std::string shortened(std::string_view text) {
  std::string result = printable(text.substr(0, k_widest));
  if (text.size() > k_widest) result += "…";
  return result;
}

std::size_t first_difference(Bytes first, Bytes second) {
  const std::size_t common = std::min(first.size(), second.size());
  std::size_t at = 0;
  while (at < common && first.data()[at] == second.data()[at]) ++at;
  return at;
}

bool is_text(Bytes bytes) {
  return bytes.size() <= k_most_text_bytes && bytes.text().find('\0') == std::string_view::npos &&
         is_valid_utf8(bytes.text());
}

using Lines = std::vector<std::string_view>;

// Which lines of both, between a common start and a common end, are in a longest common subsequence. None if there are
// too many lines.
std::vector<std::pair<bool, bool>> common_lines(const Lines& here, const Lines& there, std::size_t start,
                                                std::size_t end) {
  const std::size_t rows = here.size() - start - end, columns = there.size() - start - end;
  std::vector<std::pair<bool, bool>> common(std::max(rows, columns));
  if (rows == 0 || columns == 0 || rows > k_most_cells / columns) return common;
  std::vector<std::uint32_t> longest((rows + 1) * (columns + 1));
  const auto at = [&](std::size_t row, std::size_t column) -> std::uint32_t& {
    return longest[row * (columns + 1) + column];
  };
  for (std::size_t row = rows; row-- > 0;) {
    for (std::size_t column = columns; column-- > 0;)
      at(row, column) = here[start + row] == there[start + column] ? at(row + 1, column + 1) + 1
                                                                   : std::max(at(row + 1, column), at(row, column + 1));
  }
  for (std::size_t row = 0, column = 0; row < rows && column < columns;) {
    if (here[start + row] == there[start + column])
      common[row++].first = common[column++].second = true;
    else if (at(row + 1, column) >= at(row, column + 1))
      ++row;
    else
      ++column;
  }
  return common;
}

std::vector<std::string> compare_text(Bytes first, Bytes second) {
  const Lines here = lines(first.text()), there = lines(second.text());
  const std::size_t shorter = std::min(here.size(), there.size());
  std::size_t start = 0, end = 0;
  while (start < shorter && here[start] == there[start]) ++start;
  while (end < shorter - start && here[here.size() - 1 - end] == there[there.size() - 1 - end]) ++end;
  const std::vector<std::pair<bool, bool>> common = common_lines(here, there, start, end);
  std::vector<std::string> result;
  const auto add = [&](const Lines& all, const char* mark, bool std::pair<bool, bool>::* is_common) {
    std::size_t shown = 0, more = 0;
    for (std::size_t i = start; i < all.size() - end; ++i) {
      if (common[i - start].*is_common) continue;
      if (++shown <= k_most_lines)
        result.push_back(fmt::format("line {} {} {}", i + 1, mark, shortened(all[i])));
      else
        ++more;
    }
    if (more > 0) result.push_back(fmt::format("{} {}", mark, counted(static_cast<std::uint64_t>(more), "more line")));
  };
  add(here, "-", &std::pair<bool, bool>::first);
  add(there, "+", &std::pair<bool, bool>::second);
  if (result.empty()) result.emplace_back("the line endings differ");
  return result;
}

// The printable text around a place, or "".
std::string text_around(Bytes bytes, std::size_t at) {
  const auto shown = [&](std::size_t place) { return bytes.data()[place] >= 0x20 && bytes.data()[place] < 0x7f; };
  if (at >= bytes.size() || !shown(at)) return "";
  std::size_t begin = at, end = at;
  while (begin > 0 && at - begin < k_widest && shown(begin - 1)) --begin;
  while (end < bytes.size() && end - at < k_widest && shown(end)) ++end;
  return end - begin < 4 ? "" : std::string(bytes.text().substr(begin, end - begin));
}

std::string compare_section(std::string_view name, Bytes first, Bytes second) {
  const std::size_t at = first_difference(first, second);
  std::string text = fmt::format("section {}", printable(name));
  if (first.size() != second.size()) text += fmt::format(": {} and {} bytes", first.size(), second.size());
  const std::string here = text_around(first, at), there = text_around(second, at);
  if (!here.empty() && !there.empty())
    text += fmt::format(": \"{}\" and \"{}\"", shortened(here), shortened(there));
  else
    text += fmt::format(", first at byte {}", at);
  return text;
}

std::vector<std::string> compare_elf(const elf::ElfFile& first, const elf::ElfFile& second) {
  std::vector<std::string> result;
  if (first.machine != second.machine)
    return {fmt::format("code for {} and for {}", first.machine_name(), second.machine_name())};
  if (first.build_id != second.build_id)
    result.push_back(
        fmt::format("build ID {} and {}", first.build_id.value_or("none"), second.build_id.value_or("none")));
  std::size_t different = 0;
  for (const elf::Section& section : first.sections) {
    if (section.name.empty() || section.name == ".note.gnu.build-id") continue;
    const elf::Section* other = second.find_section(section.name);
    if (other == nullptr) {
      result.push_back(fmt::format("section {} is only in the first", printable(section.name)));
      continue;
    }
    const Bytes here = first.contents(section), there = second.contents(*other);
    const bool same =
        here.size() == there.size() && (here.size() == 0 || std::memcmp(here.data(), there.data(), here.size()) == 0);
    if (same) continue;
    if (++different <= k_most_sections) result.push_back(compare_section(section.name, here, there));
  }
  for (const elf::Section& section : second.sections) {
    if (!section.name.empty() && first.find_section(section.name) == nullptr)
      result.push_back(fmt::format("section {} is only in the second", printable(section.name)));
  }
  if (different > k_most_sections) result.push_back(fmt::format("{} more sections", different - k_most_sections));
  if (result.empty()) result.emplace_back("all sections are identical; headers, padding or trailing bytes differ");
  return result;
}

// Untrusted section tables may overlap anything; exceptions are reported as text.
std::vector<std::string> compare_binaries(Bytes first, Bytes second) {
  try {
    const auto here = elf::ElfFile::try_parse(first), there = elf::ElfFile::try_parse(second);
    if (here && there) return compare_elf(*here, *there);
  } catch (const Error& error) {  // one member becomes an answer
    return {fmt::format("its sections cannot be read: {}", error.what())};
  }
  return {fmt::format("only one of the two is a readable ELF file")};
}

}  // namespace

std::vector<std::string> why_different(const std::string& name, Bytes first, Bytes second) {
  if (elf::ElfFile::has_magic(first) || elf::ElfFile::has_magic(second)) return compare_binaries(first, second);
  if (is_text(first) && is_text(second)) return compare_text(first, second);
  const std::size_t at = first_difference(first, second);
  // PEP 552: magic, flags, then the source's time and size, or its hash.
  if (name.ends_with(".pyc") && at >= 4 && at < 16)
    return {"the byte code header: a different interpreter or source timestamp"};
  if (first.size() != second.size())
    return {fmt::format("{} and {} bytes, first at byte {}", first.size(), second.size(), at)};
  return {fmt::format("first at byte {} of {}", at, first.size())};
}

}  // namespace wheelsmith::wheel
