#include "rocm/wheel_writer.h"

// Wheels of gigabytes, written in one pass: each file is mapped, hashed for RECORD, deflated and written, a few
// megabytes of it at a time and several at once. Nothing is staged.
//
// Root-Is-Purelib is false, since there are binaries; and all of these packages say so, since run paths and links lead
// from one of them into the others: they must land in one site-packages also where those of pure and other packages are
// two.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "pep/metadata/metadata.h"
#include "pep/record.h"
#include "pep/wheel_name.h"
#include "sys/files.h"
#include "sys/process/process.h"
#include "wheel/write/seal.h"

namespace wheelsmith::rocm {

namespace {

void arrange(std::vector<WheelMember>& members) {
  std::sort(members.begin(), members.end(), [](const WheelMember& a, const WheelMember& b) { return a.path < b.path; });
  for (std::size_t i = 0; i < members.size(); ++i) {
    wheel::refuse_hostile_name(members[i].path);
    if (i > 0 && members[i].path == members[i - 1].path)
      throw Error(printable(members[i].path) + " would be in the wheel twice");
  }
}

}  // namespace

WheelMember text_member(std::string path, std::string text, bool executable) {
  WheelMember member;
  member.path = std::move(path);
  member.size = text.size();
  member.executable = executable;
  const auto shared = std::make_shared<const std::string>(std::move(text));
  member.open = [shared](std::uint64_t offset, std::uint64_t size) {
    return Blob{shared, Bytes(*shared).slice(offset, size)};
  };
  return member;
}

WrittenWheel write_wheel(const WheelPlan& plan, const std::filesystem::path& folder, const WheelWriting& writing) {
  pep::WheelName name;
  name.name = pep::escaped_name(plan.distribution);
  name.version = plan.version;
  name.python = "py3";
  name.abi = "none";
  name.platform = wheel::canonical_tag_set(plan.platform_tag);
  const std::string file_name = name.to_string();
  if (pep::WheelName::parse(file_name) != name) throw Error(printable(file_name) + " is not a valid wheel file name");
  const std::string dist_info = name.name + "-" + name.version + ".dist-info";
  try {
    std::vector<WheelMember> members = plan.members;
    arrange(members);
    pep::Headers fields;
    fields.fields = {
        {"Wheel-Version", "1.0"}, {"Generator", "wheelsmith " WHEELSMITH_VERSION}, {"Root-Is-Purelib", "false"}};
    members.push_back(text_member(dist_info + "/METADATA", plan.metadata));
    members.push_back(text_member(dist_info + "/WHEEL", wheel::wheel_file_text(fields, name)));
    if (!plan.entry_points.empty()) members.push_back(text_member(dist_info + "/entry_points.txt", plan.entry_points));

    sys::AtomicFile file(folder / file_name);
    zip::Writer writer(file, {.time = writing.time, .level = writing.level, .threads = writing.threads});
    const zip::Packing packing = writing.compression ? zip::Packing::smaller : zip::Packing::stored;
    std::vector<Sha256> hashes(members.size());
    std::vector<zip::PiecedMember> pieced;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto open = [&member = members[i]](std::uint64_t offset, std::uint64_t size) {
        if (sys::interrupted()) throw Error("interrupted");
        return member.open(offset, size);
      };
      pieced.push_back({members[i].path, members[i].executable ? 0755U : 0644U, members[i].size, packing, open,
                        [&hash = hashes[i]](Bytes bytes) { hash.update(bytes); }});
    }
    writer.add_pieces(pieced, [&](std::uint64_t offset, Bytes bytes) { file.write_at(offset, bytes); });
    std::vector<pep::RecordLine> lines;
    for (std::size_t i = 0; i < members.size(); ++i)
      lines.push_back(pep::record_line(members[i].path, hashes[i].finish(), members[i].size));
    writer.add(pep::record_path(dist_info), Bytes(pep::record_text(lines, dist_info)), 0644, packing);
    WrittenWheel written{plan.distribution, folder / file_name, writer.finish(), members.size() + 1};
    file.commit();
    return written;
  } catch (const Error& error) {
    throw error.in(printable(file_name));
  }
}

}  // namespace wheelsmith::rocm
