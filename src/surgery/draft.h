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

// A change of large contents as the old bytes, kept unpacked, and a function that gives parts of the new ones.
struct PartedContents {
  std::uint64_t size = 0;  // of the new contents
  // Called once with the old contents; returns the reader of parts, which may hold on to them. Parts are asked for from
  // several threads, each once.
  using Reader = std::function<Blob(std::uint64_t offset, std::uint64_t size)>;
  std::function<Reader(Blob old)> open;
};

// The wheel that an operation makes. Members are called by the names that they have in the input; write() moves them
// to the .dist-info and .data folders of the new name and version. draft.cc has the essay.
class Draft {
 public:
  // All members of the input as they are, without RECORD and its signatures. The input must outlive the draft.
  Draft(const InputWheel& input, std::string operation);

  [[nodiscard]] const InputWheel& input() const { return m_input; }
  // Name, version, build number, tags and label of the new wheel; starts as the input's. Version and name are the
  // spelling of METADATA.
  void set_project(std::string name, std::string version);
  pep::WheelName& name() { return m_name; }
  [[nodiscard]] const pep::WheelName& name() const { return m_name; }
  // What the provenance says of the operation: its options, what it did.
  document::Table& details() { return m_details; }

  void note(std::string text) { m_notes.push_back(std::move(text)); }
  [[nodiscard]] const std::vector<std::string>& notes() const { return m_notes; }

  // Adds a member, or replaces the one of that name.
  void put_text(const std::string& member, std::string text, bool executable = false);
  void put(const std::string& member, std::uint32_t mode, std::uint64_t size, std::function<Blob()> open);
  void put_parts(const std::string& member, std::uint32_t mode, PartedContents contents, std::function<Blob()> old);
  // Replaces the contents of a member by an edit of them. Throws Error where there is no such member.
  void edit_elf(const std::string& member, std::shared_ptr<const elf::Edited> edited);
  void edit_parts(const std::string& member, PartedContents contents);
  void drop(const std::string& member);
  // Gives a member another name, for an input member inside the wheel only.
  void move(const std::string& member, const std::string& to);

  [[nodiscard]] bool has(const std::string& member) const { return m_members.contains(member); }
  // The path of a member of the .dist-info folder, in the input's names.
  [[nodiscard]] std::string in_dist_info(const std::string& name) const;
  // The name in the new wheel.
  [[nodiscard]] std::string new_name(const std::string& member) const;
  // The .dist-info folder of the new wheel.
  [[nodiscard]] const std::string& dist_info() const { return m_dist_info; }
  // Members of the input whose packed bytes go into the new wheel, by the names that they have there: new -> old.
  [[nodiscard]] std::map<std::string, std::string> carried() const;

  // Writes the wheel; returns its size. `write_at` changes bytes that the sink has got.
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

// Reads parts of the edit of an ELF file without a second copy of it.
PartedContents parted(std::shared_ptr<const elf::Edited> edited);

}  // namespace wheelsmith::surgery
