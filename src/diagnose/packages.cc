#include "diagnose/packages.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "base/text.h"

namespace wheelsmith::diagnose {

namespace data {
extern const std::string_view packages_tsv;
}

namespace {

struct PackageRow {
  SystemPackage package;
  std::string_view names;  // "header=a.h,b/ pc=a"
};

constexpr std::array<std::string_view, 5> k_kind_names = {"header=", "pc=", "lib=", "program=", "cmake="};

std::vector<PackageRow> read_packages() {
  std::vector<PackageRow> rows;
  for (const std::string_view line : lines(data::packages_tsv)) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1), third = line.find('\t', second + 1);
    rows.push_back({{line.substr(0, first), line.substr(first + 1, second - first - 1),
                     line.substr(second + 1, third - second - 1)},
                    line.substr(third + 1)});
  }
  return rows;
}

const std::vector<PackageRow>& package_rows() {
  static const std::vector<PackageRow> rows = read_packages();
  return rows;
}

// The names of one kind: "a.h,b/".
std::string_view names_of(const PackageRow& row, Missing kind) {
  const std::string_view key = k_kind_names[static_cast<std::size_t>(kind)];
  std::size_t at = row.names.starts_with(key) ? 0 : row.names.find(" " + std::string(key));
  if (at == row.names.npos) return {};
  at = row.names.find('=', at) + 1;
  return row.names.substr(at, std::min(row.names.find(' ', at), row.names.size()) - at);
}

template <class Fits>
std::optional<SystemPackage> find_row(Missing kind, Fits fits) {
  for (const PackageRow& row : package_rows()) {
    std::string_view names = names_of(row, kind);
    while (!names.empty()) {
      const std::size_t comma = std::min(names.find(','), names.size());
      if (fits(names.substr(0, comma))) return row.package;
      names.remove_prefix(std::min(comma + 1, names.size()));
    }
  }
  return std::nullopt;
}

// "gfortran-13" is looked for as "gfortran", "/usr/bin/swig" as "swig", "llvm-config-14" as "llvm-config".
std::string_view plain_program(std::string_view name) {
  name = base_name(name);
  const std::size_t dash = name.rfind('-');
  if (dash != name.npos && dash + 1 < name.size() && name.find_first_not_of("0123456789.", dash + 1) == name.npos)
    name = name.substr(0, dash);
  return name;
}

}  // namespace

std::optional<SystemPackage> package_with(Missing kind, std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (kind == Missing::program) name = plain_program(name);
  if (auto found = find_row(kind, [&](std::string_view known) { return known == name; })) return found;
  if (kind == Missing::header) {
    const std::size_t slash = name.find('/');
    if (slash == name.npos) return std::nullopt;
    const std::string_view folder = name.substr(0, slash + 1);
    return find_row(kind, [&](std::string_view known) { return known == folder; });
  }
  if (kind == Missing::program) return std::nullopt;
  const std::string lower = to_lower(name);
  return find_row(kind, [&](std::string_view known) { return to_lower(known) == lower; });
}

std::optional<SystemPackage> package_with_any(std::string_view given) {
  std::string name;
  for (const char c : given) {
    if (c != ' ') name += c;
  }
  for (const Missing kind : {Missing::pc, Missing::cmake, Missing::lib, Missing::program, Missing::header}) {
    if (auto found = package_with(kind, name)) return found;
  }
  // Users call the same library "libfoo" and "foo".
  if (name.starts_with("lib") && name.size() > 5) {
    for (const Missing kind : {Missing::lib, Missing::pc}) {
      if (auto found = package_with(kind, std::string_view(name).substr(3))) return found;
    }
  } else if (auto found = package_with(Missing::pc, "lib" + name)) {
    return found;
  }
  return std::nullopt;
}

Values package_values(const Values& groups) {
  std::optional<SystemPackage> found;
  const std::pair<const char*, Missing> kinds[] = {{"header", Missing::header},
                                                   {"pc", Missing::pc},
                                                   {"library", Missing::lib},
                                                   {"program", Missing::program},
                                                   {"pkg", Missing::cmake}};
  for (const auto& [group, kind] : kinds) {
    const auto named = groups.find(group);
    if (!found && named != groups.end()) found = package_with(kind, named->second);
  }
  for (const char* group : {"dependency", "library", "pkg"}) {
    const auto named = groups.find(group);
    if (!found && named != groups.end()) found = package_with_any(named->second);
  }
  if (!found) return {};
  Values values{{"debian", std::string(found->debian)}};
  std::string others;
  if (found->rpm != "-") {
    values["rpm"] = std::string(found->rpm);
    others += fmt::format("Fedora, RHEL: dnf install {}", found->rpm);
  }
  if (found->conda != "-") {
    values["conda"] = std::string(found->conda);
    others += fmt::format("{}conda: conda install -c conda-forge {}", others.empty() ? "" : "; ", found->conda);
  }
  values["install"] = fmt::format("apt-get install -y {}{}", found->debian, others.empty() ? "" : "   # " + others);
  return values;
}

}  // namespace wheelsmith::diagnose
