#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/sink.h"
#include "base/zip_epoch.h"
#include "pep/metadata/metadata.h"
#include "pep/record.h"
#include "pep/wheel_name.h"
#include "zip/archive.h"
#include "zip/writer.h"

namespace wheelsmith::wheel {

// A member to write: contents are read on demand; `raw` names the compressed source if it can be copied.
struct SealedMember : zip::NewMember {
  const zip::Entry* raw = nullptr;
  // Of a raw member: its line in the old RECORD. If set, the contents are not read again.
  std::optional<pep::RecordLine> recorded{};
  // Returns a part of the contents; called from any thread, once per part. With SealOptions::write_at, a member that
  // has it is deflated in parallel parts.
  std::function<Blob(std::uint64_t offset, std::uint64_t size)> open_part{};
};

struct SealOptions {
  std::int64_t time = k_zip_epoch;
  unsigned threads = 1;
  const zip::Archive* raw_from = nullptr;  // copy members with `raw` from it unchanged instead of deflating them again
  // Overwrites bytes that the sink has received. The header of a member in parts is rewritten at its end.
  std::function<void(std::uint64_t offset, Bytes bytes)> write_at = {};
};

// Writes the members with a RECORD of them all. Canonical order: by name, the .dist-info folder last, RECORD at the
// end. Throws Error for names that point outside the wheel, for duplicate names, and for a member named RECORD.
// Returns the size of the wheel.
std::uint64_t seal(std::vector<SealedMember> members, const std::string& dist_info, const SealOptions& options,
                   Sink& sink);

// Throws Error unless the name is relative, plain ('/' between parts, no "." or "..") and safe on every system.
void refuse_hostile_name(const std::string& name);

// Scripts and executable files get 0755, all others 0644.
std::uint32_t canonical_mode(std::string_view name, std::uint32_t mode);

// The text of a WHEEL file: the fields of `old` except its tags, then every tag of the name, sorted. Root-Is-Purelib
// becomes false if the name's platform implies binaries.
std::string wheel_file_text(const pep::Headers& old, const pep::WheelName& name);

// The tag set, sorted and without duplicates. Throws Error for invalid tags.
std::string canonical_tag_set(std::string_view set);

}  // namespace wheelsmith::wheel
