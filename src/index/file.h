#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pep/version.h"
#include "sys/open_folder.h"

// The files of an index: what they are by name, and what was read out of them.

namespace wheelsmith::index {

// What the bytes of a file say. It is what the cache keeps, so it depends on nothing else.
struct Facts {
  std::string sha256;           // hex
  std::string metadata_sha256;  // hex, of the METADATA member as it is; "" where there is none
  std::string requires_python;  // specifiers; "" for none
  std::string variant;          // variant.json of a variant wheel (PEP 825), one line; else ""
  std::string problem;          // why it is left out of the index; "" when it is not
  std::string remark;           // what is wrong and does not keep it out; else ""
  friend bool operator==(const Facts&, const Facts&) = default;
};

enum class FileKind : std::uint8_t { wheel, sdist };

// What a file's name says.
struct FileName {
  FileKind kind = FileKind::wheel;
  std::string project;  // normalized
  std::string written;  // the project as the name writes it
  std::string version;  // normal form
  pep::Version parsed;
  std::string build, python, abi, platform, label;  // of wheels
};

// Whether a name ends as distributions do: .whl, .tar.gz, .zip.
bool looks_like_distribution(std::string_view name);
// Throws Error with the reason why it can name no file of an index: not one of a distribution, no version, or
// characters that no such name has (all that means something in HTML, in URLs or in a shell is among them).
FileName parse_file_name(std::string_view name);

struct File {
  std::string folder;  // relative to the indexed folder; "" for itself
  std::string name;
  FileName parts;
  sys::FileStat stat;
  Facts facts;
  std::optional<std::string> yanked;     // the reason, may be ""
  std::string upload_time;               // "2026-11-15T18:00:00Z", or ""
  bool has_provenance = false;           // NAME.provenance lies beside it, and is about it
  std::vector<std::string> beside;       // endings of what else lies beside it and is published: ".asc", …
  bool has_sidecar = true;               // NAME.metadata is told of, where there is metadata
  std::optional<sys::FileStat> sidecar;  // NAME.metadata as it lies there now

  [[nodiscard]] bool has_beside(std::string_view ending) const {
    return std::find(beside.begin(), beside.end(), ending) != beside.end();
  }
  [[nodiscard]] std::string path() const { return folder.empty() ? name : folder + "/" + name; }
};

// Reads the file once from its beginning to its end. Whatever is wrong with it is told in the facts; throws Error only
// when it cannot be read or changes meanwhile.
Facts read_facts(const sys::OpenFile& file, const FileName& name, std::string_view file_name);

// METADATA of a wheel that was read before, or nothing when it has none any more that can be read.
std::optional<std::string> read_metadata(const sys::OpenFile& file, const FileName& name);

}  // namespace wheelsmith::index
