#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "elf/edit.h"
#include "rocm/artifacts.h"
#include "rocm/layout/package_table.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::rocm {

// The content of a file in a wheel: a file of an artifact, unchanged or with ELF edits, or generated text.
struct Content {
  const Entry* entry = nullptr;
  std::shared_ptr<const elf::Edited> edited;
  std::string text;

  [[nodiscard]] std::uint64_t size() const;
  // The bytes [offset, offset + size), mapped if they are unchanged.
  [[nodiscard]] Blob piece(std::uint64_t offset, std::uint64_t size) const;
};

struct LaidFile {
  std::string path;  // below the platform folder
  Content content;
  bool executable = false;
};

// The files of one package below its platform folder.
struct Layout {
  std::vector<LaidFile> files;                 // sorted by path
  std::map<std::string, std::string> aliases;  // not shipped: path -> name of the file beside it that is loaded instead
  std::vector<wheel::ElfFacts> elf;            // of the host's ELF files, as they were before the edits
  std::vector<Finding> findings;

  [[nodiscard]] bool ships(const std::string& path) const;
};

// Where a package's files will be installed, and which folders they search.
struct InstallPlace {
  std::string folder;                 // "_rocm_sdk_libraries"
  std::vector<std::string> searched;  // "_rocm_sdk_core/lib", relative to site-packages
};

// SONAME libraries only, no links: see layout.cc for the rules.
Layout lay_out_runtime(const PackageRow& row, const Entries& entries, const InstallPlace& place, unsigned threads);

// Every file, links resolved.
Layout lay_out_device(const PackageRow& row, const Entries& entries, const InstallPlace& place, unsigned threads);

// A member of the devel tar: a file or a link.
struct DevelItem {
  std::string path;
  Content content;
  std::string link_target;  // "" for a file
  bool executable = false;
};

struct DevelLayout {
  std::vector<DevelItem> items;  // sorted by path
  std::vector<wheel::ElfFacts> elf;
  std::vector<Finding> findings;
};

// A runtime package whose files the devel tree links to instead of holding them.
struct Shipped {
  std::string folder;
  const Layout* layout = nullptr;
};

DevelLayout lay_out_devel(const PackageRow& row, const Entries& entries, const InstallPlace& place,
                          const std::vector<Shipped>& shipped, unsigned threads);

}  // namespace wheelsmith::rocm
