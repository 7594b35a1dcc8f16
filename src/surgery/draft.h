#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/sink.h"
#include "document/value.h"
#include "elf/edit.h"
#include "surgery/input_wheel.h"
#include "surgery/item.h"
#include "wheel/write/seal.h"

namespace wheelsmith::surgery {

// An edit of large contents: the old bytes stay unpacked, and a function returns parts of the new ones.
struct PartedContents {
  std::uint64_t size = 0;  // of the new contents
  // Called once with the old contents; returns the reader of parts, which may keep them. Parts are read from several
  // threads, each once.
  using Reader = std::function<Blob(std::uint64_t offset, std::uint64_t size)>;
  std::function<Reader(Blob old)> open;
};

// The wheel that an operation makes. Members have the names of the input; write() moves them
// to the .dist-info and .data folders of the new name and version. See draft.cc.
class Draft {
 public:
  // All members of the input as they are, without RECORD and its signatures. The input must outlive the draft.
  Draft(const InputWheel& input, std::string operation);

  [[nodiscard]] const InputWheel& input() const { return m_input; }
  // Name, version, build number, tags and label of the new wheel; initially those of the input. Version and name are
  // spelled as in METADATA.
  void set_project(std::string name, std::string version);
  pep::WheelName& name() { return m_name; }
  [[nodiscard]] const pep::WheelName& name() const { return m_name; }
  // The operation's entry in the provenance: its options and results.
  document::Table& details() { return m_details; }

  void note(std::string text) { m_notes.push_back(std::move(text)); }
  [[nodiscard]] const std::vector<std::string>& notes() const { return m_notes; }

  // Adds a member, or replaces the one of that name.
  void put_text(const std::string& member, std::string text, bool executable = false);
  void put(const std::string& member, std::uint32_t mode, std::uint64_t size, std::function<Blob()> open);
  void put_parts(const std::string& member, std::uint32_t mode, PartedContents contents, std::function<Blob()> old);
  // Replaces the contents of a member by an edit of them. Throws Error if the member does not exist.
  void edit_elf(const std::string& member, std::shared_ptr<const elf::Edited> edited);
  void edit_parts(const std::string& member, PartedContents contents);
  void drop(const std::string& member);
  // Renames a member of the input.
  void move(const std::string& member, const std::string& to);

  [[nodiscard]] bool has(const std::string& member) const { return m_members.contains(member); }
  // The path of a member of the input's .dist-info folder.
  [[nodiscard]] std::string in_dist_info(const std::string& name) const;
  // The name in the new wheel.
  [[nodiscard]] std::string new_name(const std::string& member) const;
  // The .dist-info folder of the new wheel.
  [[nodiscard]] const std::string& dist_info() const { return m_dist_info; }
  // Members of the input that are copied as compressed bytes: new name -> old name.
  [[nodiscard]] std::map<std::string, std::string> carried() const;

  // Writes the wheel; returns its size. `write_at` overwrites bytes that the sink has received.
  std::uint64_t write(Sink& sink, const std::function<void(std::uint64_t, Bytes)>& write_at,
                      const WriteOptions& options) const;

 private:
  [[nodiscard]] wheel::SealedMember& existing(const std::string& member);
  [[nodiscard]] std::string wheel_text() const;
  [[nodiscard]] std::string provenance_text() const;

  const InputWheel& m_input;
  std::string m_operation;
  pep::WheelName m_name;
  std::string m_dist_info;
  std::map<std::string, wheel::SealedMember> m_members;
  document::Table m_details;
  std::vector<std::string> m_notes;
};

// Reads parts of an edited ELF file without a second copy of it.
PartedContents parted(std::shared_ptr<const elf::Edited> edited);

}  // namespace wheelsmith::surgery
