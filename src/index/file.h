#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pep/version.h"
#include "sys/open_folder.h"

// The files of an index: the parts of their names, and the facts read from them.

namespace wheelsmith::index {

// Facts from the contents of a file. The cache stores them, so they depend on nothing else.
struct Facts {
  std::string sha256;           // hex
  std::string metadata_sha256;  // hex, of the METADATA member as it is; "" if there is none
  std::string requires_python;  // specifiers; "" for none
  std::string variant;          // variant.json of a variant wheel (PEP 825), one line; else ""
  std::string problem;          // why it is not listed; "" if it is
  std::string remark;           // a problem that does not exclude it; else ""
  friend bool operator==(const Facts&, const Facts&) = default;
};

enum class FileKind : std::uint8_t { wheel, sdist };

// The parts of a file name.
struct FileName {
  FileKind kind = FileKind::wheel;
  std::string project;  // normalized
  std::string written;  // the project as spelled in the name
  std::string version;  // normal form
  pep::Version parsed;
  std::string build, python, abi, platform, label;  // of wheels
};

// Whether a name has the suffix of a distribution: .whl, .tar.gz, .zip.
bool looks_like_distribution(std::string_view name);
// Throws Error if the name is not valid in an index: not a distribution, no version, or invalid characters (including
// all with a meaning in HTML, URLs or a shell).
FileName parse_file_name(std::string_view name);

struct File {
  std::string folder;  // relative to the indexed folder; "" for itself
  std::string name;
  FileName parts;
  sys::FileStat stat;
  Facts facts;
  std::optional<std::string> yanked;     // the reason, may be ""
  std::string upload_time;               // "2026-11-15T18:00:00Z", or ""
  bool has_provenance = false;           // NAME.provenance is next to it and refers to it
  std::vector<std::string> beside;       // suffixes of companion files that are published: ".asc", ……
  bool has_sidecar = true;               // NAME.metadata is advertised, if there is metadata
  std::optional<sys::FileStat> sidecar;  // NAME.metadata as it is now

  [[nodiscard]] bool has_beside(std::string_view ending) const {
    return std::find(beside.begin(), beside.end(), ending) != beside.end();
  }
  [[nodiscard]] std::string path() const { return folder.empty() ? name : folder + "/" + name; }
};

// Reads the file once from beginning to end. Problems are recorded in the facts; throws Error only if it cannot be read
// or changes meanwhile.
Facts read_facts(const sys::OpenFile& file, const FileName& name, std::string_view file_name);

// METADATA of a wheel that was read before, or nothing if it can no longer be read.
std::optional<std::string> read_metadata(const sys::OpenFile& file, const FileName& name);

}  // namespace wheelsmith::index
