// Libraries that other packages bring: torch's, the CUDA wheels', ROCm's. The wheel must find them where pip puts them,
// beside itself in site-packages, and it must require the packages.

#include <fmt/format.h>

#include <algorithm>

#include "surgery/repair/repairer.h"
#include "surgery/repair/siblings.h"

namespace wheelsmith::surgery {

// Packages and drivers, as src/wheel/data/providers.tsv names them. Libraries that the desktop provides are copied.
bool Repairer::is_others(const wheel::ElfFacts& by, const std::string& soname) const {
  const std::string who = wheel::provided_by_others(soname, m_required.required);
  if (who.starts_with("the wheel ") || who.find("driver") != who.npos || who.starts_with("ROCm")) return true;
  // A requirement by itself proves little: leidenalg imports igraph, whose wheel has no libigraph.so. There must be a
  // run path into the package, or code that loads its libraries.
  const auto leads_there = [&](const std::vector<std::string>& paths) {
    return std::ranges::any_of(paths, [&](const std::string& entry) {
      const auto folder = wheel::folder_in_wheel(entry, place_of(by.path));
      return folder && !m_own_folders.contains(*folder) && m_required.has_module(folder->substr(0, folder->find('/')));
    });
  };
  if (m_required.loaded.empty() && !leads_there(by.rpath) && !leads_there(by.runpath)) return false;
  const auto found = wheel::find_required(m_required, by, soname, m_own_folders);
  return found && found->certain;
}

void Repairer::add_sibling(const wheel::ElfFacts& file, const std::string& folder) {
  for (const auto* paths : {&file.rpath, &file.runpath}) {
    for (const std::string& entry : *paths) {
      if (wheel::folder_in_wheel(entry, place_of(file.path)) == folder) return;  // it leads there already
    }
  }
  m_siblings[file.path].insert(folder);
}

void Repairer::plan_siblings() {
  std::set<std::string> unrequired;
  for (const wheel::ElfFacts& file : m_files) {
    if (place_of(file.path).empty()) continue;
    for (const std::string& soname : file.needed) {
      const bool own = std::ranges::any_of(m_scan.elf, [&](const wheel::ElfFacts& one) {
        return one.soname == soname || one.path.ends_with("/" + soname);
      });
      if (own || !is_others(file, soname)) continue;
      const std::vector<SiblingFolder> folders = sibling_folders(soname, m_required.required);
      const bool required = std::ranges::any_of(folders, &SiblingFolder::required);
      if (required || folders.size() == 1) {
        for (const SiblingFolder& folder : folders) add_sibling(file, folder.folder);
      }
      // What requires torch gets torch's own requirements along with it.
      const bool by_torch = std::ranges::find(m_required.required, "torch") != m_required.required.end();
      if (!folders.empty() && !required && !by_torch)
        unrequired.insert(fmt::format("{} comes from the package {}, which METADATA does not require", soname,
                                      folders.front().package));
    }
  }
  for (const std::string& text : unrequired) m_draft.note(text);
}

}  // namespace wheelsmith::surgery
