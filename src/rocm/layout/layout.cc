#include "rocm/layout/layout.h"

// From artifacts to the files of a package. A wheel holds files only, and pip makes no links, so every link is decided
// upon:
//
//   a library whose SONAME is its name, or that has none   shipped
//   a link whose name is the SONAME of what it leads to    shipped, with that file's contents
//   any other name of a library                            not shipped; an alias: the devel tree has it as a link
//   a library whose SONAME is the name of nothing          shipped under its SONAME; its own name is an alias
//   a second one of a SONAME, alone in another folder      shipped: who keeps such a copy opens it by its path
//   a link to a program, or to a script elsewhere          a small program that runs that one (stub.h)
//   a library that is loaded without its version too       a tiny library of that name (filter_library.h)
//   another link to a file                                 shipped, with that file's contents
//   a link to a folder or to nothing                       left out, and told
//
// So there is one file for each library, under the one name that the loader asks for. A script that is reached by a
// link from another folder is run in its own place: it finds its modules beside itself.
//
// Run paths lead from a file's own place up to site-packages and down into the sibling package. The devel tree mirrors
// the packages at the same depth, so a hard link there finds the same folders by the same words.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "rocm/filter_library.h"
#include "rocm/layout/layout_parts.h"
#include "rocm/look.h"
#include "rocm/stub.h"

namespace wheelsmith::rocm {

namespace {

// The runtime rules, one entry after the other.
class RuntimeLayout {
 public:
  RuntimeLayout(const PackageRow& row, const Entries& all, unsigned threads)
      : m_entries(held(row, all)), m_tree(m_entries), m_looks(look_at_all(m_entries, threads)) {
    // The entries are in the caller's map; the layout points into it.
    for (const auto& [path, entry] : m_entries) {
      const Entry& original = all.find(path)->second;
      entry.link ? link(path, original, all) : file(path, original);
    }
    ship_unnamed();
    add_unversioned(row);
  }

  Layout finish(const InstallPlace& place, unsigned threads);

 private:
  void ship(const std::string& path, const Entry& entry, const Look* look) { m_shipped[path] = {&entry, look}; }

  void file(const std::string& path, const Entry& entry) {
    const Look& look = m_looks.at(path);
    if (look.kind != Look::Kind::library || look.soname.empty() || look.soname == base_name(path)) {
      ship(path, entry, &look);
    } else {
      alias(path, path, entry, look);
    }
  }

  void link(const std::string& path, const Entry& entry, const Entries& all) {
    const Resolved end = m_tree.resolve(path);
    if (end.kind == Resolved::Kind::nothing) {
      m_layout.findings.push_back(left_out(path, entry, "it is dangling in this package"));
    } else if (end.kind == Resolved::Kind::folder) {
      m_layout.findings.push_back(left_out(path, entry, "it points to a folder"));
    } else {
      const Entry& target = all.find(end.path)->second;
      const Look& look = m_looks.at(end.path);
      const bool elsewhere = folder_of(end.path) != folder_of(path);
      if (look.kind == Look::Kind::library && !look.soname.empty() && look.soname != base_name(path)) {
        alias(path, end.path, target, look);
      } else if ((look.kind == Look::Kind::program && look.machine == exec_stub_machine()) ||
                 (look.kind == Look::Kind::script && elsewhere)) {
        m_layout.files.push_back({path, {nullptr, nullptr, exec_stub(relative_target(path, end.path))}, true});
      } else {
        ship(path, target, &look);
      }
    }
  }

  // A name that differs from the SONAME. If no file has the SONAME as its name, this file gets it.
  void alias(const std::string& path, const std::string& file_path, const Entry& entry, const Look& look) {
    const std::string wanted = folder_of(path) + look.soname;
    const bool is_file = path == file_path;
    if (m_tree.resolve(wanted).kind == Resolved::Kind::file) {
      m_layout.aliases[path] = look.soname;
    } else if (is_file && elsewhere(look.soname)) {
      ship(path, entry, &look);
    } else if (is_file) {
      m_layout.aliases[path] = look.soname;
      const auto [at, is_new] = m_unnamed.try_emplace(wanted, std::pair(&entry, &look));
      if (!is_new) {
        m_layout.findings.push_back({"rocm-conflict", Severity::warning, path,
                                     fmt::format("two libraries here have the SONAME {}", look.soname),
                                     "the package can contain only one of them", "remove one of them"});
      }
    } else if (folder_of(path) == folder_of(file_path)) {
      m_layout.aliases[path] = look.soname;  // beside the file that gets the name
    } else {
      m_layout.findings.push_back(left_out(path, m_entries.at(path), "its target library has another name"));
    }
  }

  [[nodiscard]] bool elsewhere(const std::string& name) const {
    return std::any_of(m_entries.begin(), m_entries.end(), [&](const auto& one) {
      return base_name(one.first) == name && m_tree.resolve(one.first).kind == Resolved::Kind::file;
    });
  }

  void ship_unnamed() {
    for (const auto& [path, what] : m_unnamed) ship(path, *what.first, what.second);
  }

  // Programs also load these by their plain names.
  void add_unversioned(const PackageRow& row) {
    std::map<std::string, std::string> more;  // plain name -> file; of several versions the last
    for (const auto& [path, what] : m_shipped) {
      const bool wanted =
          std::any_of(row.unversioned.begin(), row.unversioned.end(),
                      [&path = path](const std::string& pattern) { return path_matches(pattern, path); });
      if (!wanted || what.look == nullptr || what.look->kind != Look::Kind::library) continue;
      std::string plain = path.substr(0, path.rfind(".so.") + 3);
      m_layout.aliases.erase(plain);
      if (!m_shipped.contains(plain)) more[std::move(plain)] = path;
    }
    for (const auto& [plain, path] : more) {
      std::string library = filter_library(m_shipped.at(path).look->machine, base_name(path));
      m_layout.files.push_back({plain, {nullptr, nullptr, std::move(library)}, true});
    }
  }

  struct What {
    const Entry* entry = nullptr;
    const Look* look = nullptr;
  };

  const Entries m_entries;
  const Tree m_tree;
  const std::map<std::string, Look> m_looks;
  std::map<std::string, What> m_shipped;
  std::map<std::string, std::pair<const Entry*, const Look*>> m_unnamed;
  Layout m_layout;
};

Layout RuntimeLayout::finish(const InstallPlace& place, unsigned threads) {
  std::vector<Draft> drafts;
  for (const auto& [path, what] : m_shipped) drafts.push_back({path, what.entry, what.look});
  edit_all(drafts, place, threads, m_layout.files, m_layout.elf, m_layout.findings);
  sort_by_path(m_layout.files);
  return std::move(m_layout);
}

}  // namespace

bool Layout::ships(const std::string& path) const {
  const auto at = std::lower_bound(files.begin(), files.end(), path,
                                   [](const LaidFile& file, const std::string& wanted) { return file.path < wanted; });
  return at != files.end() && at->path == path;
}

Layout lay_out_runtime(const PackageRow& row, const Entries& entries, const InstallPlace& place, unsigned threads) {
  return RuntimeLayout(row, entries, threads).finish(place, threads);
}

}  // namespace wheelsmith::rocm
