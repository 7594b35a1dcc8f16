// Layouts of packages that are not runtime packages: device code, which overlays the libraries and is laid out file by
// file, and devel, which holds what no runtime package has and links to what they have.

#include <algorithm>

#include "base/text.h"
#include "rocm/layout/layout.h"
#include "rocm/layout/layout_parts.h"

namespace wheelsmith::rocm {

Layout lay_out_device(const PackageRow& row, const Entries& entries, const InstallPlace& place, unsigned threads) {
  Layout layout;
  const Entries own = held(row, entries);
  const Tree tree(own);
  const std::map<std::string, Look> looks = look_at_all(own, threads);
  std::vector<Draft> drafts;
  for (const auto& [path, entry] : own) {
    const Resolved end = tree.resolve(path);
    if (end.kind != Resolved::Kind::file) {
      layout.findings.push_back(
          left_out(path, entry,
                   end.kind == Resolved::Kind::folder ? "it points to a folder" : "it is dangling in this package"));
    } else {
      drafts.push_back({path, &entries.find(end.path)->second, &looks.at(end.path)});
    }
  }
  edit_all(drafts, place, threads, layout.files, layout.elf, layout.findings);
  sort_by_path(layout.files);
  return layout;
}

DevelLayout lay_out_devel(const PackageRow& row, const Entries& entries, const InstallPlace& place,
                          const std::vector<Shipped>& shipped, unsigned threads) {
  DevelLayout result;
  const Entries own = held(row, entries);
  const Tree tree(own);
  std::map<std::string, std::string> links;  // path -> target
  const auto into_package = [](const std::string& path, const std::string& folder) {
    std::string target;
    for (std::ptrdiff_t i = std::count(path.begin(), path.end(), '/'); i >= 0; --i) target += "../";
    return target + folder + "/" + path;
  };
  // The devel tree also has libraries that are shipped under another name than in the artifacts.
  for (const Shipped& package : shipped) {
    for (const auto& [path, soname] : package.layout->aliases) {
      const std::string wanted = folder_of(path) + soname;
      if (own.contains(path) && !own.contains(wanted) && package.layout->ships(wanted))
        links[wanted] = into_package(wanted, package.folder);
    }
  }
  Entries rest;
  for (const auto& [path, entry] : own) {
    const auto in = std::find_if(shipped.begin(), shipped.end(), [&path = path](const Shipped& package) {
      return package.layout->ships(path) || package.layout->aliases.contains(path);
    });
    if (in != shipped.end()) {
      const auto alias = in->layout->aliases.find(path);
      links[path] = alias != in->layout->aliases.end() ? alias->second : into_package(path, in->folder);
    } else if (!entry.link) {
      rest.emplace_hint(rest.end(), path, entry);
    } else if (entry.link_target.starts_with('/') || tree.resolve(path).kind == Resolved::Kind::nothing) {
      result.findings.push_back(left_out(path, entry, "it is dangling in this package"));
    } else {
      links[path] = entry.link_target;
    }
  }
  const std::map<std::string, Look> looks = look_at_all(rest, threads);
  std::vector<Draft> drafts;
  for (const auto& [path, entry] : rest) drafts.push_back({path, &entries.find(path)->second, &looks.at(path)});
  std::vector<LaidFile> files;
  edit_all(drafts, place, threads, files, result.elf, result.findings);
  for (LaidFile& file : files) result.items.push_back({file.path, std::move(file.content), "", file.executable});
  for (auto& [path, target] : links) result.items.push_back({path, {}, target, false});
  std::sort(result.items.begin(), result.items.end(),
            [](const DevelItem& a, const DevelItem& b) { return a.path < b.path; });
  return result;
}

}  // namespace wheelsmith::rocm
