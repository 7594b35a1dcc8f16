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

// What is to be different. Tags are compressed sets ("manylinux_2_17_x86_64.manylinux2014_x86_64"); what is not given
// stays as the file name has it.
struct WheelEdit {
  std::optional<std::string> python_tag, abi_tag, platform_tag;
  std::vector<AddedFile> dist_info_files;  // names inside the .dist-info folder: "wheelsmith/provenance.json"
  std::vector<AddedFile> files;            // names inside the wheel; what is there already is replaced
  std::vector<std::string> dropped;        // members to leave out; each must be there
  // Members that are rewritten as these edits of them say.
  std::map<std::string, std::shared_ptr<const elf::Edited>> elf_edits;
  std::int64_t time = k_zip_epoch;  // SOURCE_DATE_EPOCH
  // Deflate every member anew, so that equal contents give equal bytes whoever packed them first; else members that do
  // not change are copied packed.
  bool recompress = true;
  unsigned threads = 1;
};

struct EditedWheel {
  std::string file_name;
  std::uint64_t size = 0;
};

// The wheel with the changes, in canonical form: members in order, time stamps and modes fixed, no folder entries, no
// signatures of the old RECORD, WHEEL with every tag of the new name (only if a tag was given), RECORD anew. Every
// member is unpacked and its CRC checked. Throws Error for a wheel that cannot be read whole or is hostile: names that
// lead out of it, two members of one name, links. `path` gives the old file name.
EditedWheel edit_wheel(const std::string& path, Bytes wheel, const WheelEdit& edit, Sink& sink);

// A wheel from nothing.
struct NewWheel {
  pep::WheelName name;                  // name and version as METADATA has them, escaped as file names are
  std::string metadata;                 // the text of METADATA
  std::vector<zip::NewMember> members;  // all but the .dist-info folder; "NAME-VERSION.data/scripts/…" for programs
  std::vector<AddedFile> dist_info_files;
  std::string generator = "wheelsmith";
  std::int64_t time = k_zip_epoch;
  unsigned threads = 1;
};
EditedWheel pack_wheel(const NewWheel& wheel, Sink& sink);

}  // namespace wheelsmith::wheel
