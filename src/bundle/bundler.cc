#include "bundle/bundler.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "gpu/code/kpack.h"

// Copies the parts of an SDK that a framework needs, and nothing more.
//
// Libraries that the wheel's files need and the wheel does not contain are searched in the SDK, then their
// dependencies, and so on. Libraries of an SDK find their data relative to themselves (lib/librocblas.so uses
// lib/rocblas/library next to it), so the SDK's tree keeps its shape below one folder of the wheel:
//
//   demo/_C.so            run path: what it had inside the wheel, then $ORIGIN/../demo.libs/lib
//   demo.libs/lib/libA.so, demo.libs/lib/libA/data, demo.libs/share/…
//
// Each library is there once, under its SONAME: NEEDED entries with another name (libA.so for libA.so.1) are changed,
// or a process would load it twice. Libraries opened by name at run time, and data files, cannot be derived from the
// binaries; they are listed in data/sdk_table.toml.

namespace wheelsmith::bundle {

namespace fs = std::filesystem;

namespace {

wheel::Distribution only_distribution(const FileTree& tree) {
  std::vector<wheel::Distribution> found = wheel::find_distributions(tree, tree.files());
  if (found.size() != 1 || !found[0].metadata || !found[0].wheel)
    throw Error("is not a valid wheel: it must have one .dist-info folder with METADATA and WHEEL");
  if (!found[0].problems.empty()) throw Error(found[0].problems[0]);
  return std::move(found[0]);
}

}  // namespace

Bundler::Bundler(const BundleInputs& inputs)
    : m_inputs(inputs),
      m_sdk_table(sdk_table()),
      m_name(pep::WheelName::parse(inputs.file_name)),
      m_archive(zip::Archive::open(inputs.wheel)),
      m_tree(m_archive),
      m_view(inputs.sdks, m_sdk_table),
      m_scan(wheel::scan(m_tree, {.threads = inputs.threads})),
      m_distribution(only_distribution(m_tree)),
      m_root(pep::escaped_name(m_name.name) + ".libs") {
  for (const Finding& finding : m_scan.unreadable)
    m_summary.notes.push_back(fmt::format("{}: {}", finding.subject, finding.what));
  for (const wheel::ElfFacts& facts : m_scan.elf) {
    m_own.emplace(base_name(facts.path));
    if (!facts.soname.empty()) m_own.insert(facts.soname);
  }
  choose();
  finish();
}

void Bundler::choose() {
  for (const wheel::ElfFacts& facts : m_scan.elf) {
    for (const std::string& name : facts.needed) need(name, "");
  }
  add_init_modules();
  // The dependencies of each library are collected in a loop, because the chain of libraries may be long.
  while (!m_queue.empty()) {
    const std::string path = m_queue.back();
    m_queue.pop_back();
    const std::vector<std::string> needed = m_chosen.at(path).needed;
    for (const std::string& name : needed) need(name, folder_of(path));
    add_what_belongs(path);
  }
  m_summary.from_elsewhere.assign(m_elsewhere.begin(), m_elsewhere.end());
}

void Bundler::need(const std::string& name, const std::string& asking) {
  if (m_own.contains(name) || m_sdk_table.is_never(name) || m_by_name.contains(name)) return;
  const auto found = m_view.find_library(name, asking);
  if (!found) {
    m_elsewhere.insert(name);
    return;
  }
  const std::string path = add_library(*found);
  if (!path.empty()) m_by_name[name] = path;
}

// The path below the root under which it is found; "" if it is not a library.
std::string Bundler::add_library(const std::string& sdk_path, bool by_soname) {
  const Blob blob = m_view.open(sdk_path);
  if (!elf::can_edit(blob.bytes)) {
    m_summary.notes.push_back(fmt::format("{} is not a shared library and was omitted", sdk_path));
    return "";
  }
  const elf::ElfFile file = elf::ElfFile::parse(blob.bytes);
  std::string path = sdk_path;
  if (by_soname && file.dynamic.soname && file.dynamic.soname->find('/') == std::string_view::npos) {
    const std::string folder = folder_of(sdk_path);
    path = (folder.empty() ? "" : folder + "/") + std::string(*file.dynamic.soname);
  }
  if (m_chosen.contains(path)) return path;
  Chosen chosen;
  chosen.source = sdk_path;
  chosen.needed.assign(file.dynamic.needed.begin(), file.dynamic.needed.end());
  chosen.runpath = file.dynamic.runpath.has_value();
  m_by_name.emplace(base_name(path), path);
  add_kpack(path, file);
  m_data.erase(path);
  m_chosen.emplace(path, std::move(chosen));
  m_queue.push_back(path);
  return path;
}

// Device code in archives beside the library, one for each GPU.
void Bundler::add_kpack(const std::string& path, const elf::ElfFile& file) {
  const elf::Section* section = file.find_section(".rocm_kpack_ref");
  if (section == nullptr) return;
  for (std::string search : gpu::read_kpack_reference(file.contents(*section)).search_paths) {
    constexpr std::string_view k_target = "@GFXARCH@";
    const std::size_t at = search.find(k_target);
    if (at != search.npos) search.replace(at, k_target.size(), "*");
    const std::string pattern = (fs::path(folder_of(path)) / search).lexically_normal().generic_string();
    for (const std::string& archive : m_view.matching(pattern)) m_data.insert(archive);
  }
}

void Bundler::add_what_belongs(const std::string& path) {
  const std::string_view name = base_name(path);
  for (const SdkTable::Library& row : m_sdk_table.libraries) {
    const bool is_it = std::any_of(row.names.begin(), row.names.end(),
                                   [&](const std::string& pattern) { return glob_match(pattern, name); });
    if (!is_it) continue;
    for (const std::string& pattern : row.also) {
      for (const std::string& found : m_view.matching(pattern)) add_library(found);
    }
    for (const std::string& pattern : row.data) {
      for (const std::string& found : m_view.matching(pattern)) add_data(found);
    }
  }
}

// Plugins among the data are libraries too, but they are opened by their path.
void Bundler::add_data(const std::string& sdk_path) {
  if (m_chosen.contains(sdk_path) || m_data.contains(sdk_path)) return;
  const bool may_be_library = base_name(sdk_path).find(".so") != std::string_view::npos;
  if (may_be_library && elf::can_edit(m_view.open(sdk_path).bytes)) {
    add_library(sdk_path, false);
    return;
  }
  m_data.insert(sdk_path);
}

}  // namespace wheelsmith::bundle
