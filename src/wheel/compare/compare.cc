#include "wheel/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/hash.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {

namespace {

using Entries = std::map<std::string, const zip::Entry*>;

Entries entries_of(const zip::Archive& archive) {
  Entries result;
  for (const zip::Entry& entry : archive.entries()) {
    if (!entry.is_folder()) result[entry.name] = &entry;
  }
  return result;
}

bool same_contents(Bytes first, Bytes second) {
  return first.size() == second.size() &&
         (first.size() == 0 || std::memcmp(first.data(), second.data(), first.size()) == 0);
}

// Differences in the directory entries of common members.
std::vector<std::string> compare_archives(const zip::Archive& first, const zip::Archive& second, const Entries& here,
                                          const Entries& there) {
  std::size_t times = 0, modes = 0, packing = 0;
  for (const auto& [name, entry] : here) {
    const auto found = there.find(name);
    if (found == there.end()) continue;
    const zip::Entry& other = *found->second;
    if (entry->time != other.time || entry->date != other.date) ++times;
    if (entry->external_attributes != other.external_attributes) ++modes;
    if (entry->crc32 == other.crc32 && entry->size == other.size &&
        (entry->method != other.method || entry->packed_size != other.packed_size))
      ++packing;
  }
  std::vector<std::string> result;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) result.push_back(fmt::format("{} of {} member{}", what, count, count == 1 ? "" : "s"));
  };
  add(times, "the timestamps");
  add(modes, "the file modes");
  add(packing, "the compression");
  std::vector<std::string> order, other_order;
  for (const zip::Entry& entry : first.entries()) {
    if (there.contains(entry.name)) order.push_back(entry.name);
  }
  for (const zip::Entry& entry : second.entries()) {
    if (here.contains(entry.name)) other_order.push_back(entry.name);
  }
  if (order != other_order) result.emplace_back("the order of the members");
  const auto folders = [](const zip::Archive& archive) {
    return std::ranges::count_if(archive.entries(), [](const zip::Entry& entry) { return entry.is_folder(); });
  };
  if (folders(first) != folders(second)) result.emplace_back("the entries for folders");
  return result;
}

bool describes_build(const std::string& name) {
  const std::size_t folder = name.find(".dist-info/");
  if (folder == std::string::npos || name.find('/') != folder + 10) return false;
  const std::string rest = name.substr(folder + 11);
  return rest == "RECORD" || rest.starts_with("wheelsmith/") || rest == "sboms/wheelsmith.cdx.json";
}

}  // namespace

std::vector<std::string> compare_archive_headers(const zip::Archive& first, const zip::Archive& second) {
  return compare_archives(first, second, entries_of(first), entries_of(second));
}

bool WheelComparison::same_payload() const {
  return std::all_of(members.begin(), members.end(),
                     [](const MemberDifference& member) { return describes_build(member.name); });
}

WheelComparison compare_wheels(Bytes first, Bytes second) {
  WheelComparison result;
  result.same_bytes = same_contents(first, second);
  const zip::Archive one = zip::Archive::open(first), two = zip::Archive::open(second);
  const Entries here = entries_of(one), there = entries_of(two);
  for (const auto& [name, entry] : here) {
    const auto found = there.find(name);
    if (found == there.end()) {
      result.members.push_back({MemberDifference::Kind::only_first, name});
      continue;
    }
    ++result.compared;
    const zip::Entry& other = *found->second;
    if (result.same_bytes) continue;
    const Blob left = one.read(*entry), right = two.read(other);
    if (same_contents(left.bytes, right.bytes)) continue;
    result.members.push_back({MemberDifference::Kind::differs, name, why_different(name, left.bytes, right.bytes)});
  }
  for (const auto& [name, entry] : there) {
    if (!here.contains(name)) result.members.push_back({MemberDifference::Kind::only_second, name});
  }
  std::ranges::sort(result.members, {}, &MemberDifference::name);
  // RECORD lists the hashes of the others.
  for (MemberDifference& member : result.members) {
    if (result.members.size() > 1 && member.name.ends_with(".dist-info/RECORD"))
      member.reasons = {"it lists the members that differ"};
  }
  if (!result.same_bytes) result.archive = compare_archives(one, two, here, there);
  return result;
}

}  // namespace wheelsmith::wheel
