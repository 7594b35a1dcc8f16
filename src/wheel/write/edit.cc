#include "wheel/write/edit.h"

#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "base/text.h"
#include "pep/record.h"
#include "wheel/read/distribution.h"
#include "wheel/read/wheel_tree.h"
#include "wheel/write/seal.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {

namespace {

using Members = std::map<std::string, SealedMember>;

pep::WheelName renamed(pep::WheelName name, const WheelEdit& edit) {
  if (edit.python_tag) name.python = canonical_tag_set(*edit.python_tag);
  if (edit.abi_tag) name.abi = canonical_tag_set(*edit.abi_tag);
  if (edit.platform_tag) name.platform = canonical_tag_set(*edit.platform_tag);
  return name;
}

bool changes_tags(const WheelEdit& edit) { return edit.python_tag || edit.abi_tag || edit.platform_tag; }

Distribution only_distribution(const FileTree& tree) {
  std::vector<Distribution> found = find_distributions(tree, tree.files());
  if (found.size() != 1) {
    throw Error(fmt::format("is not a valid wheel: it has {} .dist-info folders instead of one", found.size()));
  }
  if (!found[0].problems.empty()) throw Error(found[0].problems[0]);
  if (!found[0].wheel) throw Error(fmt::format("is not a valid wheel: {}/WHEEL is missing", found[0].dist_info));
  if (!found[0].metadata) throw Error(fmt::format("is not a valid wheel: {}/METADATA is missing", found[0].dist_info));
  return std::move(found[0]);
}

// How a member is unpacked. If it is deflated again, it lives until it is written, and the writer limits the queue; if
// it is copied raw, it is only hashed, and the tree's pool limits memory.
using Read = std::function<Blob(const zip::Entry& entry)>;

Members members_of_archive(const zip::Archive& archive, const Read& read) {
  Members members;
  for (const zip::Entry& entry : archive.entries()) {
    std::string name = entry.name;
    if (entry.is_folder()) name.pop_back();
    refuse_hostile_name(name);
    if (entry.is_folder()) continue;
    if (entry.is_symlink()) throw Error(fmt::format("member {} is a symbolic link; wheels cannot contain links", name));
    SealedMember member;
    member.name = name;
    member.mode = canonical_mode(name, entry.unix_mode());
    member.size = entry.size;
    member.open = [&entry, read] { return read(entry); };
    member.raw = &entry;
    if (!members.emplace(name, std::move(member)).second) {
      throw Error(fmt::format("member {} occurs twice in the wheel; the intended one is ambiguous", name));
    }
  }
  return members;
}

SealedMember member_of(std::string name, std::string content, bool executable) {
  SealedMember member;
  member.mode = canonical_mode(name, executable ? 0755 : 0644);
  member.name = std::move(name);
  member.size = content.size();
  const auto text = std::make_shared<const std::string>(std::move(content));
  member.open = [text] { return Blob{text, Bytes(*text)}; };
  return member;
}

void put(Members& members, SealedMember member) {
  refuse_hostile_name(member.name);
  const std::string name = member.name;
  members.insert_or_assign(name, std::move(member));
}

void put_all(Members& members, const std::vector<AddedFile>& files, const std::string& prefix) {
  for (const AddedFile& file : files) put(members, member_of(prefix + file.name, file.content, file.executable));
}

void edit_member(Members& members, const std::string& name, const std::shared_ptr<const elf::Edited>& edited) {
  const auto found = members.find(name);
  if (found == members.end()) throw Error(fmt::format("cannot edit {}: no such member", printable(name)));
  SealedMember& member = found->second;
  member.size = edited->size;
  member.raw = nullptr;
  member.open = [open = member.open, edited] {
    const Blob original = open();
    const auto bytes = std::make_shared<const std::vector<std::byte>>(elf::apply(*edited, original.bytes));
    return Blob{bytes, Bytes(bytes->data(), bytes->size())};
  };
}

std::vector<SealedMember> values_of(Members&& members) {
  std::vector<SealedMember> result;
  result.reserve(members.size());
  for (auto& [name, member] : members) result.push_back(std::move(member));
  return result;
}

}  // namespace

EditedWheel edit_wheel(const std::string& path, Bytes wheel, const WheelEdit& edit, Sink& sink) {
  const std::string old_name(base_name(path));
  try {
    const pep::WheelName name = renamed(pep::WheelName::parse(old_name), edit);
    const zip::Archive archive = zip::Archive::open(wheel);
    const WheelTree tree(archive);
    Members members = members_of_archive(archive, [&](const zip::Entry& entry) {
      return edit.recompress ? archive.read(entry) : tree.open(entry.name).value();
    });
    const Distribution distribution = only_distribution(tree);
    const std::string folder = distribution.dist_info + "/";
    std::erase_if(
        members, [&](const auto& member) { return pep::is_record_or_signature(member.first, distribution.dist_info); });
    for (const std::string& dropped : edit.dropped) {
      if (members.erase(dropped) == 0) throw Error(fmt::format("cannot drop {}: no such member", printable(dropped)));
    }
    for (const auto& [member, edited] : edit.elf_edits) edit_member(members, member, edited);
    put_all(members, edit.files, "");
    put_all(members, edit.dist_info_files, folder);
    if (changes_tags(edit))
      put(members, member_of(folder + "WHEEL", wheel_file_text(*distribution.wheel, name), false));
    SealOptions options{.time = edit.time, .threads = edit.threads};
    if (!edit.recompress) options.raw_from = &archive;
    return {name.to_string(), seal(values_of(std::move(members)), distribution.dist_info, options, sink)};
  } catch (const Error& error) {
    throw error.in(printable(old_name));
  }
}

EditedWheel pack_wheel(const NewWheel& wheel, Sink& sink) {
  pep::WheelName name = wheel.name;
  name.python = canonical_tag_set(name.python);
  name.abi = canonical_tag_set(name.abi);
  name.platform = canonical_tag_set(name.platform);
  const std::string file_name = name.to_string();
  if (pep::WheelName::parse(file_name) != name) throw Error(printable(file_name) + " is not a valid wheel file name");
  const pep::Headers metadata = pep::Headers::parse(Bytes(wheel.metadata));
  if (pep::escaped_name(metadata.get("Name")) != name.name || metadata.get("Version") != name.version) {
    throw Error(fmt::format("{}: METADATA says {} {}", printable(file_name), printable(metadata.get("Name")),
                            printable(metadata.get("Version"))));
  }
  const std::string dist_info = name.name + "-" + name.version + ".dist-info";
  pep::Headers fields;
  fields.fields = {{"Wheel-Version", "1.0"}, {"Generator", wheel.generator}, {"Root-Is-Purelib", "true"}};
  if (!name.build.empty()) fields.fields.emplace_back("Build", name.build);

  std::vector<SealedMember> members;
  for (const zip::NewMember& given : wheel.members) {
    SealedMember member{given};
    member.mode = canonical_mode(member.name, member.mode);
    members.push_back(std::move(member));
  }
  members.push_back(member_of(dist_info + "/METADATA", wheel.metadata, false));
  members.push_back(member_of(dist_info + "/WHEEL", wheel_file_text(fields, name), false));
  for (const AddedFile& file : wheel.dist_info_files) {
    members.push_back(member_of(dist_info + "/" + file.name, file.content, file.executable));
  }
  return {file_name, seal(std::move(members), dist_info, {.time = wheel.time, .threads = wheel.threads}, sink)};
}

}  // namespace wheelsmith::wheel
