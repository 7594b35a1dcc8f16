// The members of a repaired wheel: binaries with new names of what they need, copies of libraries, and what tells where
// the copies are from.

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "attest/sbom.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "surgery/metadata_text.h"
#include "surgery/repair/repairer.h"
#include "surgery/repair/strip.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::surgery {

namespace {

constexpr std::uint64_t k_most_license_bytes = 4 << 20;

// Starts the program from where its libraries are. It is found by the list of installed files, so that it works in
// user and target folders, too.
std::string program_shim(const std::string& project, const std::string& member) {
  return fmt::format(
      "#!python\n"
      "# Starts a program that lies beside the libraries it needs.\n"
      "import os\n"
      "import sys\n"
      "from importlib.metadata import distribution\n"
      "\n"
      "if __name__ == \"__main__\":\n"
      "    program = os.fspath(distribution(\"{}\").locate_file(\"{}\"))\n"
      "    os.execv(program, [program, *sys.argv[1:]])\n",
      project, member);
}

elf::Edited unchanged(Bytes original) {
  elf::Edited edited;
  edited.tail_offset = edited.size = original.size();
  return edited;
}

bool is_of_build_machine(const std::string& entry) { return entry.empty() || entry.front() == '/'; }

}  // namespace

// A program in .data/scripts is installed into bin, from where no fixed way leads to site-packages. It moves into a
// folder beside the copies, and a script takes its place.
void Repairer::move_programs() {
  for (const wheel::ElfFacts& file : m_files) {
    const auto change = m_plan.members.find(file.path);
    if (change == m_plan.members.end() || !change->second.uses_grafts || !place_of(file.path).empty()) continue;
    const std::size_t slash = file.path.find('/');
    const std::string rest = file.path.substr(slash + 1);
    if (!rest.starts_with("scripts/"))
      throw Error(
          fmt::format("{} needs copies of libraries, but is installed outside of site-packages, where no run "
                      "path leads to them",
                      printable(file.path)));
    const std::string target = m_input.name().name + ".scripts/" + rest.substr(8);
    m_draft.move(file.path, target);
    m_draft.put_text(file.path, program_shim(m_input.distribution().name(), target), true);
    m_moved.emplace(file.path, target);
    m_draft.note(fmt::format("{} moved to {}; a script in its place starts it", file.path, target));
  }
}

elf::Edit Repairer::edit_for(const wheel::ElfFacts& file) const {
  elf::Edit edit;
  const bool runpath = !file.runpath.empty();
  const std::vector<std::string>& old = runpath ? file.runpath : file.rpath;
  std::vector<std::string> entries;
  std::ranges::copy_if(old, std::back_inserter(entries),
                       [](const std::string& one) { return !is_of_build_machine(one); });
  std::vector<std::string> added;
  const std::string folder = folder_of_path(place_of(file.path));
  if (const auto siblings = m_siblings.find(file.path); siblings != m_siblings.end()) {
    for (const std::string& sibling : siblings->second) added.push_back(origin_path(folder, sibling));
  }
  bool uses_grafts = false;
  if (const auto change = m_plan.members.find(file.path); change != m_plan.members.end()) {
    edit.rename_needed = change->second.renames;
    edit.remove_needed = change->second.removed;
    uses_grafts = change->second.uses_grafts;
  }
  // What is loaded by its name at run time is looked for on the run path of the file that loads it.
  if (!m_explicit.empty() && !place_of(file.path).empty())
    uses_grafts = uses_grafts || std::ranges::any_of(file.undefined, [](const wheel::UndefinedSymbol& symbol) {
                    return symbol.name == "dlopen" || symbol.name == "dlmopen";
                  });
  if (uses_grafts) added.push_back(origin_path(folder, m_libs));
  std::erase_if(added, [&](const std::string& one) { return std::ranges::find(entries, one) != entries.end(); });
  entries.insert(entries.end(), added.begin(), added.end());
  // RPATH rather than RUNPATH: it also holds for what the libraries need, and LD_LIBRARY_PATH does not come before it.
  if (entries != old) edit.run_path = elf::RunPath{added.empty() && runpath, entries};
  return edit;
}

void Repairer::edit_members() {
  if (m_request.strip) m_stripped = std::make_unique<sys::TempDir>();
  std::vector<std::pair<std::string, elf::Edit>> edits;
  std::map<std::string, const wheel::ElfFacts*> facts;
  for (const wheel::ElfFacts& file : m_files) {
    elf::Edit edit = edit_for(file);
    if (edit.empty() && !(m_request.strip && (!file.stripped || file.debug_info))) continue;
    edits.emplace_back(file.path, std::move(edit));
    facts.emplace(file.path, &file);
  }
  std::mutex mutex;
  document::Array edited_names;
  parallel_for(edits.size(), m_options.threads, [&](std::size_t i) {
    const auto& [path, edit] = edits[i];
    try {
      Blob blob = m_input.tree().open(path).value();
      Blob strip;
      if (m_request.strip) {
        strip = stripped(blob.bytes, facts.at(path)->machine, m_stripped->path(), i);
        blob = strip;
      }
      // A static program has nothing to edit, and an empty edit of it is refused.
      const auto edited = edit.empty() ? std::make_shared<const elf::Edited>(unchanged(blob.bytes))
                                       : std::make_shared<const elf::Edited>(elf::edit(blob.bytes, edit));
      const std::lock_guard lock(mutex);
      const auto moved = m_moved.find(path);
      const std::string& target = moved == m_moved.end() ? path : moved->second;
      if (strip.owner)
        m_draft.put_parts(target, 0755, parted(edited), [strip] { return strip; });
      else if (edited->changed)
        m_draft.edit_elf(target, edited);
    } catch (const Error& error) {
      throw error.in(printable(path));
    }
  });
  for (const auto& [path, edit] : edits) edited_names.emplace_back(path);
  if (!edited_names.empty()) m_draft.details()["edited"] = std::move(edited_names);
}

void Repairer::add_grafts() {
  if (m_plan.grafts.empty()) return;
  std::set<std::string> paths;
  for (const auto& [path, graft] : m_plan.grafts) {
    paths.insert(path);
    paths.insert(graft.library->path);
  }
  m_owners = owning_packages(paths, m_source.root);
  document::Array grafted;
  std::size_t number = 1'000'000;  // apart from those of the members
  for (const auto& [path, graft] : m_plan.grafts) {
    const std::string member = m_libs + "/" + graft.name;
    if (m_draft.has(member)) throw Error(fmt::format("the wheel already has a member {}", printable(member)));
    Blob blob = sys::map_file(path);
    std::string& hash = m_hashes[path];
    if (hash.empty()) hash = to_hex(sha256(blob.bytes));
    if (m_request.strip) blob = stripped(blob.bytes, graft.library->facts.machine, m_stripped->path(), number++);
    elf::Edit edit;
    edit.soname = graft.name;
    edit.rename_needed = graft.renames;
    const bool needs_copies = !graft.renames.empty() || m_explicit.contains(path);
    edit.run_path =
        elf::RunPath{false, needs_copies ? std::vector<std::string>{"$ORIGIN"} : std::vector<std::string>()};
    try {
      const auto edited = std::make_shared<const elf::Edited>(elf::edit(blob.bytes, edit));
      m_draft.put_parts(member, 0755, parted(edited), [blob] { return blob; });
    } catch (const Error& error) {
      throw error.in(printable(path));
    }
    const auto owner = m_owners.contains(path) ? m_owners.find(path) : m_owners.find(graft.library->path);
    document::Table item;
    item["library"] = graft.library->facts.soname.empty() ? std::string(base_name(path)) : graft.library->facts.soname;
    item["member"] = member;
    item["sha256"] = hash;
    if (owner != m_owners.end()) item["package"] = owner->second.purl;
    m_draft.note(fmt::format("copies {}{} as {}", item["library"].text_or(),
                             owner == m_owners.end()
                                 ? std::string(" (no package owns it)")
                                 : fmt::format(" ({} {})", owner->second.name, owner->second.version),
                             member));
    grafted.emplace_back(std::move(item));
  }
  m_draft.details()["grafted"] = std::move(grafted);
  add_licenses();
  add_sbom();
}

// The licences of the packages go where PEP 639 wants licences; METADATA lists them if its version can.
void Repairer::add_licenses() {
  std::set<std::string> added;
  for (const auto& [path, package] : m_owners) {
    for (const SystemPackage::License& license : package.licenses) {
      const std::string name = fmt::format("{}/{}/{}", m_libs, package.name, license.name);
      const std::string member = m_draft.in_dist_info("licenses/" + name);
      if (added.contains(name)) continue;
      auto text = sys::read_file_if_possible(license.path, k_most_license_bytes);
      if (!text) continue;
      m_draft.put_text(member, std::move(*text));
      added.insert(name);
    }
  }
  const auto version = pep::normalized_name(m_input.distribution().metadata->get("Metadata-Version"));
  const bool lists_files = version != "1-0" && version != "1-1" && version != "1-2" && version != "2-0" &&
                           version != "2-1" && version != "2-2" && version != "2-3" && !version.empty();
  if (added.empty() || !lists_files) return;
  // In front of the first field: fields have no order, and the body stays where it is.
  std::string text;
  for (const std::string& name : added) text += "License-File: " + name + "\n";
  const std::string metadata = m_input.metadata_text();
  const std::size_t first_end = metadata.find('\n');
  if (first_end == metadata.npos) return;
  m_draft.put_text(m_draft.in_dist_info("METADATA"),
                   metadata.substr(0, first_end + 1) + text + metadata.substr(first_end + 1));
}

void Repairer::add_sbom() {
  attest::SbomInputs sbom{.name = pep::normalized_name(m_input.distribution().name()),
                          .version = m_input.distribution().version(),
                          .builder_version = WHEELSMITH_VERSION};
  for (const auto& [path, graft] : m_plan.grafts) {
    const auto owner = m_owners.contains(path) ? m_owners.find(path) : m_owners.find(graft.library->path);
    attest::Component library;
    library.name = graft.library->facts.soname.empty() ? std::string(base_name(path)) : graft.library->facts.soname;
    if (owner != m_owners.end()) {
      library.version = owner->second.version;
      library.purl = owner->second.purl;
      library.properties.emplace_back("package", owner->second.name);
    }
    library.properties.emplace_back("path", m_libs + "/" + graft.name);
    // The copy has another SONAME; RECORD has its hash.
    library.properties.emplace_back("source-sha256", m_hashes.at(path));
    sbom.bundled.push_back(std::move(library));
  }
  std::string name = "sboms/wheelsmith-repair.cdx.json";
  for (int again = 2; m_draft.has(m_draft.in_dist_info(name)); ++again)
    name = fmt::format("sboms/wheelsmith-repair-{}.cdx.json", again);
  m_draft.put_text(m_draft.in_dist_info(name), document::to_json(attest::make_sbom(sbom)) + "\n");
}

}  // namespace wheelsmith::surgery
