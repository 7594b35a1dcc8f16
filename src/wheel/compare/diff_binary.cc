// Two versions of one binary, by what they offer and what they require.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "gpu/code/fatbin.h"
#include "wheel/compare/diff.h"
#include "wheel/read/scan.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_symbols = 10'000;  // of one kind for one file; then a count

using Words = std::set<std::string>;

class BinaryDiff {
 public:
  BinaryDiff(const std::string& path, std::vector<Difference>& differences)
      : m_path(path), m_differences(differences) {}

  void value(Difference::Kind kind, const char* what, const std::string& left, const std::string& right) {
    if (left != right) m_differences.push_back({kind, fmt::format("{}: {}", m_path, what), left, right});
  }

  // One difference for each word that only one side has.
  void words(Difference::Kind kind, const char* what, const Words& left, const Words& right) {
    one_sided(kind, what, left, right, true);
    one_sided(kind, what, right, left, false);
  }

 private:
  void one_sided(Difference::Kind kind, const char* what, const Words& has, const Words& lacks, bool is_left) {
    std::vector<std::string> only;
    std::ranges::set_difference(has, lacks, std::back_inserter(only));
    for (std::size_t i = 0; i < std::min(only.size(), k_most_symbols); ++i)
      add(kind, fmt::format("{}: {} {}", m_path, what, only[i]), what, is_left);
    if (only.size() > k_most_symbols)
      add(kind, fmt::format("{}: {} more: {}", m_path, only.size() - k_most_symbols, what), what, is_left);
  }

  void add(Difference::Kind kind, std::string subject, const std::string& text, bool is_left) {
    m_differences.push_back({kind, std::move(subject), is_left ? text : "", is_left ? "" : text});
  }

  const std::string& m_path;
  std::vector<Difference>& m_differences;
};

Words required_symbols(const ElfFacts& facts) {
  Words result;
  for (const UndefinedSymbol& symbol : facts.undefined) {
    if (!symbol.weak) result.insert(symbol.version.empty() ? symbol.name : symbol.name + "@" + symbol.version);
  }
  return result;
}

Words required_versions(const ElfFacts& facts) {
  Words result;
  for (const auto& [library, versions] : facts.versions_needed) {
    for (const std::string& version : versions) result.insert(version + " of " + library);
  }
  return result;
}

Words words_of(const std::vector<std::string>& list) { return {list.begin(), list.end()}; }

// The device code of one architecture and kind.
struct CodeGroup {
  std::uint64_t count = 0, bytes = 0;
  std::string hash;  // of NVIDIA entries

  [[nodiscard]] std::string text() const {
    std::string result = fmt::format("{}, {} bytes", count == 1 ? "1 entry" : fmt::format("{} entries", count), bytes);
    if (!hash.empty()) result += ", sha256 " + hash.substr(0, 16);
    return result;
  }
};
using CodeGroups = std::map<std::string, CodeGroup>;

std::string label_of(const gpu::Arch& arch, gpu::CodeKind kind, bool relocatable) {
  return fmt::format("{} ({}{})", gpu::display_name(arch, kind), gpu::to_string(kind),
                     relocatable ? ", relocatable" : "");
}

// Hashes of the entries of each architecture, in the order of the file.
void add_hashes(const elf::ElfFile& file, CodeGroups& groups) {
  std::map<std::string, Sha256> hashes;
  for (const elf::Section& section : file.sections) {
    const bool relocatable = section.name == "__nv_relfatbin";
    if ((!relocatable && section.name != ".nv_fatbin") || section.type == elf::k_section_nobits) continue;
    const Bytes bytes = file.contents(section);
    gpu::FatbinWalk walk;
    walk.container = [&](const gpu::FatbinContainer& container) {
      for (const gpu::FatbinEntry& entry : container.entries) {
        const gpu::CodeKind kind = entry.kind == gpu::FatbinKind::ptx     ? gpu::CodeKind::ptx
                                   : entry.kind == gpu::FatbinKind::ltoir ? gpu::CodeKind::ltoir
                                                                          : gpu::CodeKind::sass;
        hashes[label_of(gpu::nvidia_arch(entry.arch, entry.suffix), kind, relocatable)].update(
            bytes.clamp(entry.offset, entry.bytes));
      }
    };
    walk.broken = [](std::uint64_t, std::uint64_t, const std::string&) {};
    gpu::walk_fatbins(bytes, walk);
  }
  for (auto& [label, hash] : hashes) {
    const auto group = groups.find(label);
    if (group != groups.end()) group->second.hash = to_hex(hash.finish());
  }
}

CodeGroups code_groups(const ElfFacts& facts, const elf::ElfFile& file) {
  CodeGroups groups;
  for (const gpu::CodeSum& sum : facts.device_code.sums) {
    CodeGroup& group = groups[label_of(sum.arch, sum.kind, sum.relocatable)];
    group.count += sum.count;
    group.bytes += sum.bytes;
  }
  add_hashes(file, groups);
  return groups;
}

}  // namespace

void diff_binaries(const std::string& path, Bytes left, Bytes right, std::vector<Difference>& differences) {
  if (!elf::ElfFile::has_magic(left) || !elf::ElfFile::has_magic(right)) return;
  try {
    const ElfFacts here = elf_facts(path, left, {.exported = true}), there = elf_facts(path, right, {.exported = true});
    BinaryDiff result(path, differences);
    using enum Difference::Kind;
    result.value(arch, "machine", here.machine, there.machine);
    result.value(symbol, "SONAME", here.soname, there.soname);
    result.value(symbol, "RPATH", join(here.rpath, ":"), join(there.rpath, ":"));
    result.value(symbol, "RUNPATH", join(here.runpath, ":"), join(there.runpath, ":"));
    result.value(symbol, "interpreter", here.interpreter, there.interpreter);
    result.words(symbol, "NEEDED", words_of(here.needed), words_of(there.needed));
    result.words(symbol, "required version", required_versions(here), required_versions(there));
    result.words(symbol, "defined version", words_of(here.versions_provided), words_of(there.versions_provided));
    result.words(symbol, "exported", words_of(here.exported), words_of(there.exported));
    result.words(symbol, "required", required_symbols(here), required_symbols(there));
    const CodeGroups code = code_groups(here, elf::ElfFile::parse(left));
    const CodeGroups other = code_groups(there, elf::ElfFile::parse(right));
    for (const auto& [label, group] : code) {
      const auto found = other.find(label);
      result.value(arch, label.c_str(), group.text(), found == other.end() ? "" : found->second.text());
    }
    for (const auto& [label, group] : other) {
      if (!code.contains(label)) result.value(arch, label.c_str(), "", group.text());
    }
  } catch (const Error& error) {  // one file becomes an answer; its bytes are compared all the same
    differences.push_back({Difference::Kind::symbol, path + ": not readable", error.what(), error.what()});
  }
}

}  // namespace wheelsmith::wheel
