#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "bundle/bundler.h"
#include "bundle/metadata_edit.h"
#include "document/value.h"
#include "elf/elf_file.h"
#include "pep/record.h"

// The members of the new wheel: unchanged members of the old wheel as packed bytes, the SDK's files below one folder,
// and the files that describe both: run paths, METADATA, RECORD.

namespace wheelsmith::bundle {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_origin = "$ORIGIN";

// The path from one folder of the wheel to another, as the loader reads it.
std::string origin_path(const std::string& from, const std::string& to) {
  const std::string relative = fs::path(to).lexically_relative(from.empty() ? "." : from).generic_string();
  return relative == "." ? std::string(k_origin) : fmt::format("{}/{}", k_origin, relative);
}

// The folder of the wheel that a run path entry names; nothing if it is absolute or leads out of the wheel.
std::optional<std::string> inside_wheel(std::string_view entry, const std::string& folder) {
  if (entry.starts_with("${ORIGIN}"))
    entry.remove_prefix(std::string_view("${ORIGIN}").size());
  else if (entry.starts_with(k_origin))
    entry.remove_prefix(k_origin.size());
  else
    return {};
  if (!entry.empty() && entry[0] != '/') return {};
  std::string path = (fs::path(folder.empty() ? "." : folder) / fs::path(std::string(entry)).relative_path())
                         .lexically_normal()
                         .generic_string();
  if (path == ".." || path.starts_with("../")) return {};
  return path;
}

// The edited file; the old bytes if the edit changes nothing.
Blob edited_blob(const Blob& blob, const elf::Edit& edit) {
  const elf::Edited edited = elf::edit(blob.bytes, edit);
  if (!edited.changed) return blob;
  auto bytes = std::make_shared<const std::vector<std::byte>>(elf::apply(edited, blob.bytes));
  return {bytes, Bytes(bytes->data(), bytes->size())};
}

}  // namespace

std::vector<std::string> Bundler::library_folders() const {
  std::vector<std::string> folders;
  for (const auto& [path, chosen] : m_chosen) {
    const std::string folder = folder_of(path);
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  }
  return folders;
}

std::map<std::string, std::string> Bundler::renamed(const std::vector<std::string>& needed) const {
  std::map<std::string, std::string> result;
  for (const std::string& name : needed) {
    const auto found = m_by_name.find(name);
    if (found != m_by_name.end() && base_name(found->second) != name)
      result.emplace(name, std::string(base_name(found->second)));
  }
  return result;
}

// Its own folder, then all others that hold libraries: some are opened by name only.
elf::Edit Bundler::edit_for_library(const std::string& path, const Chosen& chosen) const {
  elf::Edit edit;
  edit.run_path = elf::RunPath{chosen.runpath, {std::string(k_origin)}};
  for (const std::string& folder : library_folders()) {
    if (folder != folder_of(path)) edit.run_path->entries.push_back(origin_path(folder_of(path), folder));
  }
  edit.rename_needed = renamed(chosen.needed);
  return edit;
}

// Entries that lead to places inside the wheel stay first. Files that need nothing from the SDK are not changed.
elf::Edit Bundler::edit_for_member(const wheel::ElfFacts& facts) const {
  elf::Edit edit;
  std::vector<std::string> added;
  const std::string folder = folder_of(facts.path);
  for (const std::string& name : facts.needed) {
    const auto found = m_by_name.find(name);
    if (found == m_by_name.end() || m_own.contains(name)) continue;
    const std::string library_folder = folder_of(found->second);
    std::string entry = origin_path(folder, library_folder.empty() ? m_root : m_root + "/" + library_folder);
    if (std::find(added.begin(), added.end(), entry) == added.end()) added.push_back(std::move(entry));
  }
  if (added.empty()) return edit;
  const bool runpath = !facts.runpath.empty();
  edit.run_path = elf::RunPath{runpath, {}};
  for (const std::string& entry : runpath ? facts.runpath : facts.rpath) {
    const auto inside = inside_wheel(entry, folder);
    if (inside && !m_sdk_table.is_sdk_folder(inside->substr(0, inside->find('/'))))
      edit.run_path->entries.push_back(entry);
  }
  std::vector<std::string>& entries = edit.run_path->entries;
  for (const std::string& entry : added) {
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
  }
  edit.rename_needed = renamed(facts.needed);
  return edit;
}

void Bundler::add_member(std::string name, std::uint32_t mode, std::uint64_t size, std::function<Blob()> open) {
  wheel::SealedMember member;
  member.mode = wheel::canonical_mode(name, mode);
  member.name = std::move(name);
  member.size = size;
  member.open = std::move(open);
  m_members.push_back(std::move(member));
}

void Bundler::add_old_members(const std::string& metadata) {
  std::map<std::string, elf::Edit> edits;
  for (const wheel::ElfFacts& facts : m_scan.elf) {
    elf::Edit edit = edit_for_member(facts);
    if (!edit.empty()) edits.emplace(facts.path, std::move(edit));
  }
  const std::string old_info = m_distribution.dist_info + "/", data = old_info.substr(0, old_info.rfind(".dist-info"));
  for (const zip::Entry& entry : m_archive.entries()) {
    if (entry.is_folder()) continue;
    if (entry.is_symlink())
      throw Error(fmt::format("member {} is a symbolic link; wheels cannot contain links", entry.name));
    if (pep::is_record_or_signature(entry.name, m_distribution.dist_info)) continue;
    std::string name = entry.name;
    const auto text_member = [&](const std::string& text) {
      add_member(name, 0644, text.size(),
                 [shared = std::make_shared<const std::string>(text)] { return Blob{shared, Bytes(*shared)}; });
    };
    if (name.starts_with(old_info))
      name = m_dist_info + "/" + name.substr(old_info.size());
    else if (name.starts_with(data + ".data/"))
      name = m_dist_info.substr(0, m_dist_info.rfind(".dist-info")) + name.substr(data.size());
    const auto init = m_init_modules.find(entry.name);
    const auto edit = edits.find(entry.name);
    if (entry.name == old_info + "METADATA") {
      text_member(metadata);
    } else if (init != m_init_modules.end()) {
      text_member(init->second);
    } else if (edit != edits.end()) {
      m_summary.edited.push_back(entry.name);
      add_member(name, entry.unix_mode(), entry.size,
                 [this, &entry, wanted = edit->second] { return edited_blob(m_archive.read(entry), wanted); });
    } else {
      add_member(name, entry.unix_mode(), entry.size, [this, &entry] { return m_tree.open(entry.name).value(); });
      m_members.back().raw = &entry;
    }
  }
}

void Bundler::add_sdk_members() {
  for (const auto& [path, chosen] : m_chosen) {
    const std::string name = m_root + "/" + path;
    const std::uint64_t size = m_view.files().at(chosen.source).size;
    add_member(name, 0755, size, [this, source = chosen.source, wanted = edit_for_library(path, chosen)] {
      return edited_blob(m_view.open(source), wanted);
    });
    m_summary.libraries.push_back({name, m_view.source_of(chosen.source), size});
  }
  for (const std::string& path : m_data) {
    const std::uint64_t size = m_view.files().at(path).size;
    add_member(m_root + "/" + path, 0644, size, [this, path] { return m_view.open(path); });
    ++m_summary.data_files;
    m_summary.data_size += size;
  }
}

// What came from where it is no longer asked for. pip removes a folder whole when it has put a file right into it, so
// this one also keeps an empty folder from staying behind.
void Bundler::add_list() {
  document::Table table;
  table["schema"] = 1;
  document::Array libraries;
  for (const auto& [path, chosen] : m_chosen) libraries.emplace_back(path);
  table["libraries"] = std::move(libraries);
  table["dropped_requirements"] = document::Array(m_summary.dropped.begin(), m_summary.dropped.end());
  const auto text = std::make_shared<const std::string>(document::to_json(table) + "\n");
  add_member(m_root + "/bundle.json", 0644, text->size(), [text] { return Blob{text, Bytes(*text)}; });
}

void Bundler::finish() {
  const std::string metadata(m_tree.open(m_distribution.dist_info + "/METADATA").value().bytes.text());
  const std::string version =
      m_inputs.local_label.empty() ? "" : with_local_label(m_distribution.version(), m_inputs.local_label);
  const MetadataEdit edited =
      edit_metadata(metadata, [&](std::string_view name) { return m_sdk_table.is_inside(name); }, version);
  m_summary.dropped = edited.dropped;
  m_dist_info = m_distribution.dist_info;
  pep::WheelName name = m_name;
  if (!version.empty()) {
    name.version = version;
    m_dist_info = pep::escaped_name(name.name) + "-" + version + ".dist-info";
  }
  m_summary.file_name = name.to_string();
  add_old_members(edited.text);
  add_sdk_members();
  if (m_chosen.empty()) return;
  add_list();
  add_sbom();
}

std::uint64_t Bundler::write(Sink& sink) const {
  wheel::SealOptions options{.time = m_inputs.time, .threads = m_inputs.threads};
  options.raw_from = &m_archive;
  return wheel::seal(m_members, m_dist_info, options, sink);
}

}  // namespace wheelsmith::bundle
