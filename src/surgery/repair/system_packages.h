#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace wheelsmith::surgery {

// The package of the distribution that a file comes from.
struct SystemPackage {
  std::string name, version, architecture;
  std::string purl;
  struct License {
    std::string name;  // "copyright"
    std::filesystem::path path;
  };
  std::vector<License> licenses;
};

// Owners of the files by path, as far as a package database below `root` knows them: dpkg's, rpm's (by the program
// rpm), apk's. Databases are read, not asked, where that is possible.
std::map<std::string, SystemPackage> owning_packages(const std::set<std::string>& paths,
                                                     const std::filesystem::path& root);

}  // namespace wheelsmith::surgery
