#include "elf/edit_tags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "elf/elf_format.h"

namespace wheelsmith::elf {

namespace {

constexpr std::size_t k_longest_name = 60000;  // the reader's limit is 65536

void check_name(const std::string& what, const std::string& name) {
  if (name.empty()) throw Error(fmt::format("{} cannot be empty", what));
  if (name.find('\0') != name.npos || name.size() > k_longest_name)
    throw Error(fmt::format("{} cannot be {}", what, printable(name.substr(0, 100))));
}

std::string joined(const RunPath& path) {
  std::string text;
  for (const std::string& entry : path.entries) {
    check_name("a run path entry", entry);
    if (entry.find(':') != entry.npos)
      throw Error(fmt::format("the run path entry {} contains a colon, so the loader would read it as two entries",
                              printable(entry)));
    if (!text.empty()) text += ':';
    text += entry;
  }
  if (!text.empty()) check_name("a run path", text);
  return text;
}

bool is_in(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class TagEditor {
 public:
  TagEditor(const ElfFile& file, const VersionFields& versions, const Edit& edit)
      : m_file(file), m_versions(versions), m_edit(edit) {}

  TagEdit run() {
    check();
    for (const DynamicTag& tag : m_file.dynamic.tags) visit(tag);
    finish_run_path();
    finish_names();
    edit_versions();
    return std::move(m_result);
  }

 private:
  [[nodiscard]] std::string_view string_at(std::uint64_t offset) const {
    const Bytes table =
        m_file.mapped_from(*m_file.dynamic.value(k_tag_strings)).clamp(0, *m_file.dynamic.value(k_tag_strings_size));
    return table.c_string(offset);
  }
  void keep(const DynamicTag& tag) {
    if (may_name_string(tag.tag)) m_result.kept.push_back(tag.value);
    m_result.tags.push_back({tag.tag, tag.value, {}});
  }
  void release(std::uint64_t offset) {
    m_result.released.push_back(offset);
    m_result.changed = true;
  }
  void replace(const DynamicTag& tag, const std::string& text) {
    if (string_at(tag.value) == text) return keep(tag);
    release(tag.value);
    m_result.tags.push_back({tag.tag, 0, text});
  }

  void check() {
    if (m_edit.run_path) m_run_path = joined(*m_edit.run_path);
    for (const auto& [from, to] : m_edit.rename_needed) check_name("the name of a NEEDED library", to);
    for (const std::string& name : m_edit.add_needed) check_name("the name of a NEEDED library", name);
    if (m_edit.soname) check_name("the soname", *m_edit.soname);
    // glibc looks up the library of each required version among the loaded ones, and ends the process if it is missing.
    for (const VersionFields::Field& field : m_versions.need_files) {
      const std::string_view name = string_at(field.string);
      if (is_in(m_edit.remove_needed, name) && is_needed(name))
        throw Error(fmt::format("{} cannot be removed from NEEDED: the file requires symbol versions from it",
                                printable(name)));
    }
  }

  [[nodiscard]] bool is_needed(std::string_view name) const {
    return std::find(m_file.dynamic.needed.begin(), m_file.dynamic.needed.end(), name) != m_file.dynamic.needed.end();
  }

  void visit(const DynamicTag& tag) {
    switch (tag.tag) {
      case k_tag_needed: return visit_needed(tag);
      case k_tag_soname: return m_edit.soname ? replace(tag, *m_edit.soname) : keep(tag);
      case k_tag_rpath:
      case k_tag_runpath: return visit_run_path(tag);
      default: return keep(tag);
    }
  }

  void visit_needed(const DynamicTag& tag) {
    const std::string_view name = string_at(tag.value);
    if (is_in(m_edit.remove_needed, name)) return release(tag.value);
    const auto renamed = m_edit.rename_needed.find(std::string(name));
    replace(tag, renamed == m_edit.rename_needed.end() ? std::string(name) : renamed->second);
    m_needed.emplace_back(renamed == m_edit.rename_needed.end() ? name : renamed->second);
    m_behind_needed = m_result.tags.size();
  }

  // The first run path of either kind becomes the requested one; any other is removed.
  void visit_run_path(const DynamicTag& tag) {
    if (!m_edit.run_path) return keep(tag);
    if (m_run_path.empty() || m_has_run_path) return release(tag.value);
    m_has_run_path = true;
    const std::uint64_t wanted = m_edit.run_path->runpath ? k_tag_runpath : k_tag_rpath;
    m_result.changed |= tag.tag != wanted;
    replace({wanted, tag.value}, m_run_path);
  }

  void finish_run_path() {
    if (!m_edit.run_path || m_run_path.empty() || m_has_run_path) return;
    m_result.changed = true;
    m_result.tags.push_back({m_edit.run_path->runpath ? k_tag_runpath : k_tag_rpath, 0, m_run_path});
  }

  void finish_names() {
    for (const std::string& name : m_edit.add_needed) {
      if (is_in(m_needed, name)) continue;
      m_result.tags.insert(m_result.tags.begin() + static_cast<std::ptrdiff_t>(m_behind_needed++),
                           {k_tag_needed, 0, name});
      m_needed.push_back(name);
      m_result.changed = true;
    }
    if (!m_edit.soname || m_file.dynamic.soname) return;
    m_result.tags.push_back({k_tag_soname, 0, *m_edit.soname});
    m_result.changed = true;
  }

  void edit_versions() {
    for (const std::uint64_t name : m_versions.names) m_result.kept.push_back(name);
    const auto change = [&](const VersionFields::Field& field, const std::string& text, std::uint64_t hash_offset) {
      if (string_at(field.string) == text) return m_result.kept.push_back(field.string);
      release(field.string);
      m_result.versions.push_back({field.offset, text, hash_offset});
    };
    for (const VersionFields::Field& field : m_versions.need_files) {
      const std::string name(string_at(field.string));
      const auto renamed = m_edit.rename_needed.find(name);
      change(field, renamed != m_edit.rename_needed.end() && is_needed(name) ? renamed->second : name, 0);
    }
    if (!m_versions.base_name) return;
    // The base entry repeats the soname if the linker knew one.
    const std::string name(string_at(m_versions.base_name->string));
    const bool follows = m_edit.soname && (!m_file.dynamic.soname || *m_file.dynamic.soname == name);
    change(*m_versions.base_name, follows ? *m_edit.soname : name, m_versions.base_hash);
  }

  const ElfFile& m_file;
  const VersionFields& m_versions;
  const Edit& m_edit;
  std::string m_run_path;
  bool m_has_run_path = false;
  std::size_t m_behind_needed = 0;
  std::vector<std::string> m_needed;
  TagEdit m_result;
};

}  // namespace

bool may_name_string(std::uint64_t tag) {
  switch (tag) {
    case k_tag_needed:
    case k_tag_soname:
    case k_tag_rpath:
    case k_tag_runpath: return true;
    default: break;
  }
  // Sizes, counts, flags and addresses of the specification and of GNU.
  const bool is_known = tag <= 37 || tag == k_tag_gnu_hash || (tag >= k_tag_version_symbols && tag <= 0x6fffffff) ||
                        (tag >= 0x6ffffd00 && tag < 0x6ffffefa);
  return !is_known;
}

TagEdit edit_tags(const ElfFile& file, const VersionFields& versions, const Edit& edit) {
  return TagEditor(file, versions, edit).run();
}

}  // namespace wheelsmith::elf
