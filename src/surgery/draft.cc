#include "surgery/draft.h"

// Operations on finished wheels.
//
//   InputWheel ── Draft: what changes ── write: seal() ── check ── rename
//
// A wheel of 3 GB in which 200 bytes of metadata change must not be unpacked: members that an operation does not touch
// are copied as compressed bytes, and their lines of RECORD come from the input's RECORD. Changed members are deflated
// in parallel, large ones in parts, so that memory stays within the largest changed member. Order, times, modes and
// headers are canonical (seal.cc), so equal inputs and options give equal bytes.
//
// Each operation leaves a record in .dist-info/wheelsmith/operations.json: its name and options, and the SHA-256 of
// the wheel that it started from. Like the rest of the provenance it names no time, host or path. Files that describe
// the build stay as they are.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "base/text.h"
#include "pep/version.h"

namespace wheelsmith::surgery {

namespace {

constexpr std::string_view k_operations_file = "wheelsmith/operations.json";
constexpr std::uint64_t k_large = 8 << 20;  // members from this size on are deflated in parts
constexpr std::size_t k_most_operations = 1000;

std::string stem_of(const std::string& dist_info) {
  return dist_info.substr(0, dist_info.size() - std::string_view(".dist-info").size());
}

// The contents of one member, unpacked when the first part is asked for and let go after the last.
class PartedMember {
 public:
  PartedMember(PartedContents contents, std::function<Blob()> old)
      : m_contents(std::move(contents)), m_old(std::move(old)) {}

  Blob part(std::uint64_t offset, std::uint64_t size) {
    PartedContents::Reader reader;
    {
      const std::lock_guard lock(m_mutex);
      if (!m_reader) m_reader = m_contents.open(m_old());
      reader = m_reader;
      m_served += size;
      if (m_served >= m_contents.size) m_reader = nullptr;  // the caller of the last part still holds a copy
    }
    return reader(offset, size);
  }

 private:
  PartedContents m_contents;
  std::function<Blob()> m_old;
  std::mutex m_mutex;
  PartedContents::Reader m_reader;
  std::uint64_t m_served = 0;
};

// The operations that the input went through before this one.
document::Array earlier_operations(const InputWheel& input) {
  const auto blob = input.tree().open(input.distribution().dist_info + "/" + std::string(k_operations_file));
  if (!blob) return {};
  const auto value = document::try_parse_json(blob->bytes.text());
  const document::Array* list = value ? (*value)["operations"].array() : nullptr;
  if (list == nullptr || list->size() > k_most_operations)
    throw Error(
        fmt::format("{} of the wheel cannot be read, so this operation cannot be added to it", k_operations_file));
  return *list;
}

}  // namespace

PartedContents parted(std::shared_ptr<const elf::Edited> edited) {
  PartedContents contents;
  contents.size = edited->size;
  contents.open = [edited](Blob old) -> PartedContents::Reader {
    return [edited, old = std::move(old)](std::uint64_t offset, std::uint64_t size) {
      auto buffer = std::make_shared<std::vector<std::uint8_t>>(size);
      const auto lay = [&](std::uint64_t at, const void* data, std::uint64_t count) {
        const std::uint64_t begin = std::max(at, offset), end = std::min(at + count, offset + size);
        if (begin < end)
          std::memcpy(buffer->data() + (begin - offset), static_cast<const std::uint8_t*>(data) + (begin - at),
                      end - begin);
      };
      lay(0, old.bytes.data(), std::min<std::uint64_t>(old.bytes.size(), edited->size));
      for (const elf::Patch& patch : edited->patches) lay(patch.offset, patch.bytes.data(), patch.bytes.size());
      lay(edited->tail_offset, edited->tail.data(), edited->tail.size());
      return Blob{buffer, Bytes(buffer->data(), buffer->size())};
    };
  };
  return contents;
}

Draft::Draft(const InputWheel& input, std::string operation)
    : m_input(input),
      m_operation(std::move(operation)),
      m_name(input.name()),
      m_dist_info(input.distribution().dist_info) {
  for (const zip::Entry& entry : input.archive().entries()) {
    if (entry.is_folder() || pep::is_record_or_signature(entry.name, m_dist_info)) continue;
    wheel::SealedMember member;
    member.name = entry.name;
    member.mode = wheel::canonical_mode(entry.name, entry.unix_mode());
    member.size = entry.size;
    member.open = [&input, &entry] { return input.tree().open(entry.name).value(); };
    member.raw = &entry;
    if (const pep::RecordLine* line = input.recorded(entry)) member.recorded = *line;
    m_members.emplace(entry.name, std::move(member));
  }
  for (const char* signature : {"RECORD.jws", "RECORD.p7s"}) {
    if (input.archive().find(in_dist_info(signature)) != nullptr)
      note(fmt::format("{} is left out: it signs the RECORD of the old wheel", in_dist_info(signature)));
  }
}

std::string Draft::in_dist_info(const std::string& name) const { return m_input.distribution().dist_info + "/" + name; }

void Draft::set_project(std::string name, std::string version) {
  m_name.name = std::move(name);
  m_name.version = std::move(version);
  m_dist_info = fmt::format("{}-{}.dist-info", m_name.name, m_name.version);
}

std::string Draft::new_name(const std::string& member) const {
  const std::string& old = m_input.distribution().dist_info;
  if (old == m_dist_info) return member;
  const std::string old_stem = stem_of(old);
  if (member.starts_with(old + "/")) return m_dist_info + member.substr(old.size());
  if (member.starts_with(old_stem + ".data/")) return stem_of(m_dist_info) + member.substr(old_stem.size());
  return member;
}

std::map<std::string, std::string> Draft::carried() const {
  std::map<std::string, std::string> result;
  for (const auto& [name, member] : m_members) {
    if (member.raw != nullptr) result.emplace(new_name(name), member.raw->name);
  }
  return result;
}

wheel::SealedMember& Draft::existing(const std::string& member) {
  const auto found = m_members.find(member);
  if (found == m_members.end()) throw Error(fmt::format("the wheel has no member {}", printable(member)));
  return found->second;
}

void Draft::put(const std::string& member, std::uint32_t mode, std::uint64_t size, std::function<Blob()> open) {
  wheel::SealedMember added;
  added.name = member;
  added.mode = wheel::canonical_mode(member, mode);
  added.size = size;
  added.open = std::move(open);
  m_members.insert_or_assign(member, std::move(added));
}

void Draft::put_text(const std::string& member, std::string text, bool executable) {
  const auto shared = std::make_shared<const std::string>(std::move(text));
  put(member, executable ? 0755 : 0644, shared->size(), [shared] { return Blob{shared, Bytes(*shared)}; });
}

void Draft::put_parts(const std::string& member, std::uint32_t mode, PartedContents contents,
                      std::function<Blob()> old) {
  const std::uint64_t size = contents.size;
  const auto state = std::make_shared<PartedMember>(std::move(contents), std::move(old));
  put(member, mode, size, [state, size] { return state->part(0, size); });
  if (size >= k_large)
    m_members.at(member).open_part = [state](std::uint64_t offset, std::uint64_t count) {
      return state->part(offset, count);
    };
}

void Draft::edit_parts(const std::string& member, PartedContents contents) {
  const wheel::SealedMember old = existing(member);
  put_parts(member, old.mode, std::move(contents), old.open);
}

void Draft::edit_elf(const std::string& member, std::shared_ptr<const elf::Edited> edited) {
  edit_parts(member, parted(std::move(edited)));
}

void Draft::drop(const std::string& member) {
  (void)existing(member);
  m_members.erase(member);
}

void Draft::move(const std::string& member, const std::string& to) {
  if (m_members.contains(to)) throw Error(fmt::format("the wheel already has a member {}", printable(to)));
  wheel::SealedMember moved = std::move(existing(member));
  m_members.erase(member);
  moved.name = to;
  moved.mode = wheel::canonical_mode(to, moved.mode);
  m_members.emplace(to, std::move(moved));
}

std::string Draft::wheel_text() const {
  pep::Headers fields = *m_input.distribution().wheel;
  const auto is_build = [](const auto& field) { return to_lower(field.first) == "build"; };
  std::erase_if(fields.fields, is_build);
  if (!m_name.build.empty()) fields.fields.emplace_back("Build", m_name.build);
  return wheel::wheel_file_text(fields, m_name);
}

std::string Draft::provenance_text() const {
  document::Array operations = earlier_operations(m_input);
  document::Table input;
  input["file"] = std::string(base_name(m_input.path()));
  input["sha256"] = m_input.sha256();
  document::Table operation;
  operation["operation"] = m_operation;
  operation["tool"] = "wheelsmith " WHEELSMITH_VERSION;
  operation["input"] = std::move(input);
  for (const auto& [key, value] : m_details) operation[key] = value;
  operations.emplace_back(std::move(operation));
  document::Table document;
  document["schema"] = 1;
  document["operations"] = std::move(operations);
  return document::to_json(document) + "\n";
}

std::uint64_t Draft::write(Sink& sink, const std::function<void(std::uint64_t, Bytes)>& write_at,
                           const WriteOptions& options) const {
  (void)earlier_operations(m_input);  // refuse before anything is written
  std::vector<wheel::SealedMember> members;
  const std::string wheel_file = in_dist_info("WHEEL");
  const std::string provenance = in_dist_info(std::string(k_operations_file));
  const auto add_text = [&](const std::string& name, std::function<std::string()> text) {
    wheel::SealedMember member;
    member.name = new_name(name);
    member.open = [text = std::move(text)] {
      const auto shared = std::make_shared<const std::string>(text());
      return Blob{shared, Bytes(*shared)};
    };
    members.push_back(std::move(member));
  };
  for (const auto& [name, member] : m_members) {
    if (name == wheel_file || name == provenance) continue;
    members.push_back(member);
    members.back().name = new_name(name);
  }
  add_text(wheel_file, [this] { return wheel_text(); });
  // Its turn comes with the .dist-info folder, at the end: by then the input's hash is there.
  add_text(provenance, [this] { return provenance_text(); });
  wheel::SealOptions seal_options{.time = options.time, .threads = options.threads};
  seal_options.raw_from = &m_input.archive();
  seal_options.write_at = write_at;
  return wheel::seal(std::move(members), m_dist_info, seal_options, sink);
}

}  // namespace wheelsmith::surgery
