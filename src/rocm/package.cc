#include "rocm/package.h"

// Builds packages from artifacts: read the artifacts, determine the mode and targets, then for each package: lay it
// out, tag it by its binaries, write it. The layouts of runtime packages are kept (without their ELF facts) until the
// devel package knows which files it can omit.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "rocm/artifacts.h"
#include "rocm/devel_tar.h"
#include "rocm/layout/layout.h"
#include "rocm/layout/package_table.h"
#include "rocm/python/python_side.h"
#include "rocm/release_facts.h"
#include "rocm/stub.h"
#include "rocm/tar_xz.h"
#include "sys/file.h"
#include "sys/files.h"
#include "wheel/tags/platform.h"

namespace wheelsmith::rocm {

namespace fs = std::filesystem;

namespace {

class Packager {
 public:
  explicit Packager(const PackageOptions& options) : m_options(options), m_dist(options.destination / "dist") {}

  Packaged run();

 private:
  // One package: a row of the table for one family, one ISA or for all.
  struct Made {
    const PackageRow* row = nullptr;
    std::string own;
    std::string folder;
    Entries entries;
    Layout layout;
  };

  void find_targets();
  [[nodiscard]] std::vector<std::string> owners(const PackageRow& row) const;
  [[nodiscard]] DistInfo info_for(const PackageRow& row, const std::string& own) const;
  [[nodiscard]] InstallPlace place_of(const PackageRow& row, const std::string& own) const;
  [[nodiscard]] fs::path folder_for(const std::string& own, bool shared_name) const;
  Entries entries_of(const PackageRow& row, const std::string& own, bool& any);
  void make(const PackageRow& row, const std::string& own);
  void make_runtime(const PackageRow& row, const std::string& own, Entries entries);
  void make_devel(const PackageRow& row, const std::string& own, const Entries& entries);
  void keep_apart(const PackageRow& row, Layout& layout, const std::string& folder);
  void write(WheelPlan plan, const fs::path& folder);
  void write_sdist(const DistInfo& info, const fs::path& folder);
  std::string tag_of(const std::vector<wheel::ElfFacts>& elf);
  void tell(std::vector<Finding>& findings);
  void say(const std::string& what) const {
    if (m_options.on_progress) m_options.on_progress(what);
  }

  const PackageOptions& m_options;
  fs::path m_dist;
  Artifacts m_artifacts;
  std::vector<PackageRow> m_table;
  const std::vector<ConflictRule> m_conflict_rules = conflict_rules();
  DistInfo m_info;
  std::vector<std::string> m_expected;
  std::vector<std::unique_ptr<Made>> m_made;
  std::map<std::string, std::string> m_owners;  // path in site-packages -> the package that has it, of shared folders
  std::set<std::string> m_sonames;              // of all packages so far
  std::set<std::string> m_told;                 // findings
  std::string m_core_tag;
  Packaged m_result;
};

void Packager::find_targets() {
  std::set<std::string> found;
  for (const PackageRow& row : m_table) {
    if (row.for_each == PackageRow::ForEach::once || row.kind == PackageRow::Kind::devel) continue;
    for (const Artifact& artifact : m_artifacts.all) {
      if (artifact.name.target == "generic") continue;
      const std::string target = m_info.kpack ? artifact.name.base_target() : artifact.name.target;
      if (row.takes(artifact.name, target)) found.insert(target);
    }
  }
  if (found.empty()) throw Error("there is no artifact with device code, so the target GPUs are unknown");
  m_result.targets.assign(found.begin(), found.end());
  const auto of = [](const std::optional<std::vector<std::string>>& families) {
    return families ? targets_of_families(*families) : std::vector<std::string>();
  };
  const std::vector<std::string> on_linux = of(m_options.linux_families), on_windows = of(m_options.windows_families);
  if (m_info.kpack) {
    std::vector<std::string> missing;
    for (const std::string& target : on_linux) {
      if (!found.contains(target)) missing.push_back(target);
    }
    if (!missing.empty()) {
      throw Error(
          fmt::format("there are no artifacts for {}, which belongs to the requested families; fetch or build them",
                      join(missing, ", ")));
    }
    if (m_options.linux_families && m_options.windows_families) {
      m_info.linux_targets = on_linux;
      m_info.windows_targets = on_windows;
      found.insert(on_windows.begin(), on_windows.end());
    }
  }
  m_info.targets.assign(found.begin(), found.end());
}

std::vector<std::string> Packager::owners(const PackageRow& row) const {
  if (row.for_each == PackageRow::ForEach::once) return {""};
  return m_result.targets;
}

// A package of one family lists only that family.
DistInfo Packager::info_for(const PackageRow& row, const std::string& own) const {
  DistInfo info = m_info;
  if (row.for_each == PackageRow::ForEach::family) info.targets = {own};
  return info;
}

InstallPlace Packager::place_of(const PackageRow& row, const std::string& own) const {
  InstallPlace place;
  place.folder = platform_folder(m_info, row.name, own);
  for (const Searched& searched : row.search)
    place.searched.push_back(platform_folder(m_info, searched.package, own) + "/" + searched.folder);
  return place;
}

// Packages of several families with the same name need separate folders.
fs::path Packager::folder_for(const std::string& own, bool shared_name) const {
  const bool apart = !m_info.kpack && m_result.targets.size() > 1 && shared_name;
  fs::path folder = apart ? m_dist / own : m_dist;
  sys::make_folders(folder);
  return folder;
}

Entries Packager::entries_of(const PackageRow& row, const std::string& own, bool& any) {
  Entries entries;
  std::vector<Finding> findings;
  for (const Artifact& artifact : m_artifacts.all) {
    if (!row.takes(artifact.name, own)) continue;
    any = true;
    merge(entries, artifact.entries, findings, m_conflict_rules);
  }
  settle(entries, findings);
  tell(findings);
  return entries;
}

// Each finding is reported once, even if several packages cause it.
void Packager::tell(std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    if (m_told.insert(finding.id + "\n" + finding.subject + "\n" + finding.what).second)
      m_result.findings.push_back(std::move(finding));
  }
}

std::string Packager::tag_of(const std::vector<wheel::ElfFacts>& elf) {
  if (!m_options.platform_tag.empty()) return m_options.platform_tag;
  // Libraries of the other packages are installed together with this one.
  wheel::PlatformOptions options;
  options.trust_others = true;
  for (const wheel::ElfFacts& file : elf) {
    if (!file.soname.empty()) m_sonames.insert(file.soname);
    m_sonames.insert(std::string(base_name(file.path)));
  }
  options.excluded.assign(m_sonames.begin(), m_sonames.end());
  const std::string tag = elf.empty() ? "any" : wheel::deserved_platform(elf, options).tag;
  // Packages with the same name exist for other systems, so files without binaries still belong to this system.
  if (tag != "any") return tag;
  if (!m_core_tag.empty()) return m_core_tag;
  return exec_stub_machine() == elf::k_machine_aarch64 ? "linux_aarch64" : "linux_x86_64";
}

void Packager::write(WheelPlan plan, const fs::path& folder) {
  plan.version = m_result.version;
  say(fmt::format("packing {}", plan.distribution));
  WheelWriting writing;
  writing.compression = m_options.wheel_compression;
  writing.time = m_options.time;
  writing.threads = m_options.threads;
  m_result.packages.push_back(write_wheel(plan, folder, writing));
}

// If two wheels own one file, uninstalling one breaks the other.
void Packager::keep_apart(const PackageRow& row, Layout& layout, const std::string& folder) {
  std::vector<Finding> findings;
  const auto taken = [&](const LaidFile& file) {
    const auto [at, is_new] = m_owners.emplace(folder + "/" + file.path, row.name);
    if (is_new || row.kind != PackageRow::Kind::device) return false;
    findings.push_back({"rocm-owned-twice", Severity::warning, folder + "/" + file.path,
                        "another package contains this file; it is omitted here",
                        "uninstalling one of two packages that own a file breaks the other",
                        "put files that are not specific to one ISA into the generic artifact"});
    return true;
  };
  std::erase_if(layout.files, taken);
  tell(findings);
}

void Packager::make_runtime(const PackageRow& row, const std::string& own, Entries entries) {
  auto made = std::make_unique<Made>();
  made->row = &row;
  made->own = own;
  made->entries = std::move(entries);
  const InstallPlace place = place_of(row, own);
  made->folder = place.folder;
  const bool is_device = row.kind == PackageRow::Kind::device;
  made->layout = is_device ? lay_out_device(row, made->entries, place, m_options.threads)
                           : lay_out_runtime(row, made->entries, place, m_options.threads);
  keep_apart(row, made->layout, place.folder);
  tell(made->layout.findings);
  const DistInfo info = info_for(row, own);
  WheelPlan plan;
  plan.distribution = dist_name(info, row.name, own);
  plan.metadata = metadata(info, row.name, own);
  plan.platform_tag = tag_of(made->layout.elf);
  if (m_core_tag.empty()) m_core_tag = plan.platform_tag;
  made->layout.elf.clear();
  for (TextFile& file : pure_package_files(info, row.name, own))
    plan.members.push_back(text_member(std::move(file.path), std::move(file.text), file.executable));
  std::vector<std::string> paths;
  for (const LaidFile& file : made->layout.files) {
    paths.push_back(file.path);
    plan.members.push_back(
        {place.folder + "/" + file.path, file.content.size(), file.executable,
         [&content = file.content](std::uint64_t offset, std::uint64_t size) { return content.piece(offset, size); }});
  }
  if (is_device) {
    for (TextFile& file : device_files(info, own, paths))
      plan.members.push_back(text_member(std::move(file.path), std::move(file.text), file.executable));
  } else {
    plan.entry_points = entry_points(info, row.name, [&](const std::string& path) { return made->layout.ships(path); });
  }
  write(std::move(plan), m_dist);
  // Device files are linked into the devel tree through their own manifest.
  if (!is_device) m_made.push_back(std::move(made));
}

void Packager::make_devel(const PackageRow& row, const std::string& own, const Entries& entries) {
  std::vector<Shipped> shipped;
  for (const auto& made : m_made) {
    if (made->own.empty() || made->own == own) shipped.push_back({made->folder, &made->layout});
  }
  const InstallPlace place = place_of(row, own);
  DevelLayout layout = lay_out_devel(row, entries, place, shipped, m_options.threads);
  tell(layout.findings);
  if (std::none_of(layout.items.begin(), layout.items.end(),
                   [](const DevelItem& item) { return item.path == "__init__.py"; })) {
    layout.items.insert(layout.items.begin(), DevelItem{"__init__.py", {}, "", false});
  }
  const DistInfo info = info_for(row, own);
  WheelPlan plan;
  plan.distribution = dist_name(info, row.name, own);
  plan.metadata = metadata(info, row.name, own);
  plan.platform_tag = tag_of(layout.elf);
  std::string folder;  // of the importable package
  for (TextFile& file : pure_package_files(info, row.name, own)) {
    folder = file.path.substr(0, file.path.find('/'));
    plan.members.push_back(text_member(std::move(file.path), std::move(file.text), file.executable));
  }
  plan.entry_points = entry_points(info, row.name, [](const std::string&) { return false; });
  const DevelTar tar(layout.items, place.folder);
  const fs::path target = folder_for(own, true);
  if (!m_options.devel_compression) {
    plan.members.push_back({folder + "/_devel.tar", tar.size(), false,
                            [&](std::uint64_t offset, std::uint64_t size) { return tar.piece(offset, size); }});
    write(std::move(plan), target);
    return;
  }
  sys::AtomicFile packed(target / "_devel.tar.xz");  // never published: gone with the object
  write_xz(tar, m_options.threads, packed);
  const Blob blob = sys::map_file(packed.temporary_path());
  plan.members.push_back(
      {folder + "/_devel.tar.xz", blob.bytes.size(), false,
       [&](std::uint64_t offset, std::uint64_t size) { return Blob{blob.owner, blob.bytes.slice(offset, size)}; }});
  write(std::move(plan), target);
}

void Packager::make(const PackageRow& row, const std::string& own) {
  bool any = false;
  Entries entries = entries_of(row, own, any);
  if (!any) {
    const std::string name = dist_name(m_info, row.name, own);
    if (row.required) throw Error(fmt::format("there is no artifact for {}, which is required", name));
    m_result.findings.push_back({"rocm-package-missing", Severity::warning, name, "there are no artifacts for it",
                                 "requesting it through rocm's extras fails", "build or fetch its artifacts"});
    return;
  }
  if (row.kind == PackageRow::Kind::devel) {
    make_devel(row, own, entries);
  } else {
    make_runtime(row, own, std::move(entries));
  }
}

void Packager::write_sdist(const DistInfo& info, const fs::path& folder) {
  const fs::path path = folder / selector_sdist_name(info);
  sys::AtomicFile file(path);
  write_selector_sdist(info, file);
  const std::uint64_t size = file.size();
  file.commit();
  m_result.packages.push_back({dist_name(info, "meta"), path, size, selector_sdist_files(info).size()});
}

Packaged Packager::run() {
  sys::make_folders(m_dist);
  say("reading artifacts");
  m_artifacts = read_artifacts(m_options.artifacts, m_options.destination, m_options.threads);
  m_result.findings = std::move(m_artifacts.findings);
  const ReleaseManifest manifest = read_release_manifest(m_artifacts);
  m_result.kpack = m_info.kpack = manifest.kpack;
  m_result.version = m_info.version = m_options.version(manifest.version);
  m_info.suffix = m_options.suffix;
  m_table = package_table(manifest.kpack);
  find_targets();
  m_info.packages = {"meta"};
  for (const PackageRow& row : m_table) {
    const auto takes = [&](const Artifact& artifact) {
      const std::vector<std::string> all = owners(row);
      return std::any_of(all.begin(), all.end(), [&](const std::string& own) { return row.takes(artifact.name, own); });
    };
    if (std::any_of(m_artifacts.all.begin(), m_artifacts.all.end(), takes)) m_info.packages.push_back(row.name);
  }
  for (const PackageRow& row : m_table) {
    for (const std::string& own : owners(row)) make(row, own);
  }
  if (m_info.kpack) {
    write_sdist(m_info, m_dist);
  } else {
    for (const std::string& family : m_result.targets) {
      DistInfo info = m_info;
      info.targets = {family};
      write_sdist(info, folder_for(family, true));
    }
  }
  return std::move(m_result);
}

}  // namespace

std::vector<std::string> family_list(std::string_view text) {
  std::vector<std::string> families;
  for (const std::string_view some : split(text, ';')) {
    for (const std::string_view one : split(some, ',')) {
      if (!trim(one).empty()) families.emplace_back(trim(one));
    }
  }
  return families;
}

Packaged package(const PackageOptions& options) { return Packager(options).run(); }

}  // namespace wheelsmith::rocm
