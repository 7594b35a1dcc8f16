#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "document/table_reader.h"
#include "toolchain/library/library.h"

namespace wheelsmith::toolchain {

namespace data {
extern const std::string_view libraries_toml;
}

namespace {

LibraryKind read_kind(document::TableReader& in) {
  LibraryKind kind;
  in.text("name", kind.name);
  in.text("title", kind.title);
  in.text("variant", kind.variant);
  in.texts("headers", kind.headers);
  in.texts("macros", kind.macros);
  in.texts("files", kind.files);
  in.flag("versioned", kind.versioned);
  in.flag("any-file", kind.any_file);
  in.texts("places", kind.places);
  in.texts("variables", kind.variables);
  in.within("link", [&](document::TableReader& link) {
    link.texts("headers", kind.link_headers);
    link.texts("files", kind.link_files);
  });
  in.each("wheel", [&](document::TableReader& one) {
    LibraryWheel& wheel = kind.wheels.emplace_back();
    one.text("name", wheel.name);
    one.text("folder", wheel.folder);
    one.text("file", wheel.file);
  });
  in.text("requirement", kind.requirement);
  document::Pairs packages;
  in.pairs("packages", packages);
  kind.packages = {packages.begin(), packages.end()};
  in.text("repository", kind.repository);
  return kind;
}

std::vector<LibraryKind> read_kinds(std::string_view toml) {
  const document::Table table = document::parse_toml(toml, "libraries.toml");
  document::Problems problems("libraries.toml");
  document::TableReader in(table, "the libraries", 1, problems);
  std::vector<LibraryKind> kinds;
  in.each("library", [&](document::TableReader& one) { kinds.push_back(read_kind(one)); });
  in.finish();
  problems.throw_if_any();
  return kinds;
}

}  // namespace

const std::vector<LibraryKind>& library_kinds() {
  static const std::vector<LibraryKind> kinds = read_kinds(data::libraries_toml);
  return kinds;
}

const LibraryKind* find_library_kind(std::string_view name) {
  for (const LibraryKind& kind : library_kinds()) {
    if (kind.name == to_lower(name)) return &kind;
  }
  return nullptr;
}

std::string library_package(const LibraryKind& kind, std::string_view manager, std::string_view cuda_version) {
  const auto known = kind.packages.find(std::string(manager));
  if (known == kind.packages.end()) return "";
  const std::vector<std::string_view> parts = split(cuda_version, '.');
  std::string package = known->second;
  replace_all(package, "{major}", cuda_version.empty() ? "13" : parts[0]);
  replace_all(package, "{minor}", parts.size() > 1 ? parts[1] : "0");
  return package;
}

std::string install_library(const LibraryKind& kind, std::string_view manager, std::string_view cuda_version) {
  const std::string package = library_package(kind, manager, cuda_version);
  if (package.empty()) return "";
  return fmt::format("{} {} {}{}", manager, manager == "pacman" ? "-S" : "install", package,
                     kind.repository.empty() ? "" : fmt::format(" ({})", kind.repository));
}

}  // namespace wheelsmith::toolchain
