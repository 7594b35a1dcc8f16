#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/sink.h"
#include "base/zip_epoch.h"
#include "elf/edit.h"
#include "pep/wheel_name.h"
#include "zip/writer.h"

namespace wheelsmith::wheel {

struct AddedFile {
  std::string name;
  std::string content;
  bool executable = false;
};

// The requested changes. Tags are compressed sets ("manylinux_2_17_x86_64.manylinux2014_x86_64"); unset values stay as
// in the file name.
struct WheelEdit {
  std::optional<std::string> python_tag, abi_tag, platform_tag;
  std::vector<AddedFile> dist_info_files;  // names inside the .dist-info folder: "wheelsmith/provenance.json"
  std::vector<AddedFile> files;            // names inside the wheel; existing members are replaced
  std::vector<std::string> dropped;        // members to drop; each must exist
  // Members to rewrite with these edits.
  std::map<std::string, std::shared_ptr<const elf::Edited>> elf_edits;
  std::int64_t time = k_zip_epoch;  // SOURCE_DATE_EPOCH
  // Deflate every member again, so that equal contents give equal bytes regardless of the original packer; otherwise
  // unchanged members are copied compressed.
  bool recompress = true;
  unsigned threads = 1;
};

struct EditedWheel {
  std::string file_name;
  std::uint64_t size = 0;
};

// The wheel with the changes, in canonical form: members in order, fixed timestamps and modes, no folder entries, no
// signatures of the old RECORD, WHEEL with every tag of the new name (only if a tag was given), a new RECORD. Every
// member is unpacked and its CRC checked. Throws Error for a wheel that cannot be read completely or is hostile: names
// that point outside, duplicate names, links. `path` gives the old file name.
EditedWheel edit_wheel(const std::string& path, Bytes wheel, const WheelEdit& edit, Sink& sink);

// A new wheel.
struct NewWheel {
  pep::WheelName name;                  // name and version from METADATA, escaped for file names
  std::string metadata;                 // the text of METADATA
  std::vector<zip::NewMember> members;  // all except the .dist-info folder; "NAME-VERSION.data/scripts/…" for programs
  std::vector<AddedFile> dist_info_files;
  std::string generator = "wheelsmith";
  std::int64_t time = k_zip_epoch;
  unsigned threads = 1;
};
EditedWheel pack_wheel(const NewWheel& wheel, Sink& sink);

}  // namespace wheelsmith::wheel
