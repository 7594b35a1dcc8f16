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

// A member of the wheel to be: contents fetched when their turn comes, and where they can be copied packed, from where.
struct SealedMember : zip::NewMember {
  const zip::Entry* raw = nullptr;
  // Of a raw member: its line in the old RECORD. Where there is one, the contents are not read again.
  std::optional<pep::RecordLine> recorded{};
  // A part of the contents, from any thread, each part once. A member that has it is deflated in parts that run in
  // parallel, where SealOptions::write_at allows that.
  std::function<Blob(std::uint64_t offset, std::uint64_t size)> open_part{};
};

struct SealOptions {
  std::int64_t time = k_zip_epoch;
  unsigned threads = 1;
  const zip::Archive* raw_from = nullptr;  // copy what has `raw` from it as it is, instead of deflating it again
  // Changes bytes that the sink has got already. The header of a member in parts is written again at its end.
  std::function<void(std::uint64_t offset, Bytes bytes)> write_at = {};
};

// Writes the members with a RECORD of them all. Canonical order: by name, the .dist-info folder last, RECORD behind
// all. Throws Error for names that lead out of the wheel, for two members of one name, and for one called RECORD.
// Returns the size of the wheel.
std::uint64_t seal(std::vector<SealedMember> members, const std::string& dist_info, const SealOptions& options,
                   Sink& sink);

// Throws Error unless the name is relative, plain ('/' between parts, no "." or "..") and safe on every system.
void refuse_hostile_name(const std::string& name);

// Scripts and what was executable get 0755, all else 0644.
std::uint32_t canonical_mode(std::string_view name, std::uint32_t mode);

// The text of a WHEEL file: the fields of `old` but for its tags, then every tag of the name, sorted. Root-Is-Purelib
// becomes false where the name's platform says that there are binaries.
std::string wheel_file_text(const pep::Headers& old, const pep::WheelName& name);

// The tag set with its words sorted, each once. Throws Error for words that no tag has.
std::string canonical_tag_set(std::string_view set);

}  // namespace wheelsmith::wheel
