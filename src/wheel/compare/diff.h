#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/enum_names.h"
#include "base/file_tree.h"
#include "zip/archive.h"

// What differs between two wheels, binaries or installed folders, in the terms of those who use them: metadata, tags,
// files, symbols, architectures; and where all of that is equal, why the bytes are not. Both sides are hostile.

namespace wheelsmith::wheel {

struct Difference {
  enum class Kind : std::uint8_t { metadata, file, symbol, arch, tag, bytes } kind = Kind::file;
  std::string subject;
  std::string left, right;             // "": that side does not have it
  std::vector<std::string> reasons{};  // sentences: where the bytes of a file differ
};

struct DiffSide {
  const FileTree* tree = nullptr;
  const zip::Archive* archive = nullptr;  // of a wheel, else null
  Bytes bytes{};                          // of a wheel or a single file
  std::string file_name{};                // of a wheel
};

struct DiffOptions {
  unsigned threads = 1;
  std::vector<std::string> ignore;  // kinds, or shell patterns on the subject or on the file that it belongs to
};

struct Diff {
  std::vector<Difference> differences;  // by kind, then by subject
  [[nodiscard]] bool equal() const { return differences.empty(); }
};

Diff diff(const DiffSide& left, const DiffSide& right, const DiffOptions& options);

// The differences of two ELF files that a user of theirs would notice: machine, SONAME, NEEDED, run paths, exported and
// required symbols, required versions, device code. Sides that are not ELF give nothing.
void diff_binaries(const std::string& path, Bytes left, Bytes right, std::vector<Difference>& differences);

}  // namespace wheelsmith::wheel

template <>
struct wheelsmith::EnumNames<wheelsmith::wheel::Difference::Kind> {
  static constexpr std::array list = {"metadata", "file", "symbol", "arch", "tag", "bytes"};
};
