#include "surgery/input_wheel.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "wheel/write/seal.h"

namespace wheelsmith::surgery {

namespace {

wheel::Distribution only_distribution(const FileTree& tree) {
  std::vector<wheel::Distribution> found = wheel::find_distributions(tree, tree.files());
  if (found.size() != 1)
    throw Error(fmt::format("not a wheel: it has {} .dist-info folders, and a wheel has one", found.size()));
  if (!found[0].problems.empty()) throw Error(found[0].problems[0]);
  for (const auto& [present, file] :
       {std::pair(found[0].wheel.has_value(), "WHEEL"), std::pair(found[0].metadata.has_value(), "METADATA")}) {
    if (!present) throw Error(fmt::format("not a wheel: {}/{} is missing", found[0].dist_info, file));
  }
  return std::move(found[0]);
}

void refuse_unsafe_members(const zip::Archive& archive) {
  std::set<std::string> names;
  for (const zip::Entry& entry : archive.entries()) {
    std::string name = entry.name;
    if (entry.is_folder()) name.pop_back();
    wheel::refuse_hostile_name(name);
    if (entry.is_folder()) continue;
    if (entry.is_symlink()) throw Error(fmt::format("the member {} is a link, which wheels must not contain", name));
    if (!names.insert(name).second)
      throw Error(fmt::format("the member {} is in the wheel twice; which one counts is not defined", name));
  }
}

}  // namespace

InputWheel::InputWheel(std::string path, Blob file)
    : m_path(std::move(path)),
      m_file(std::move(file)),
      m_name(pep::WheelName::parse(base_name(m_path))),
      m_archive(zip::Archive::open(m_file.bytes)),
      m_tree(m_archive) {
  refuse_unsafe_members(m_archive);
  m_distribution = only_distribution(m_tree);
  if (!m_distribution.has_record) return;
  const Blob text = m_tree.open(pep::record_path(m_distribution.dist_info)).value();
  for (pep::RecordLine& line : pep::Record::parse(text.bytes).lines) {
    if (line.algorithm != "sha256" && line.algorithm != "sha384" && line.algorithm != "sha512") continue;
    std::string name = line.path;
    m_record.insert_or_assign(std::move(name), std::move(line));
  }
}

std::string InputWheel::metadata_text() const {
  return std::string(m_tree.open(m_distribution.dist_info + "/METADATA").value().bytes.text());
}

const pep::RecordLine* InputWheel::recorded(const zip::Entry& entry) const {
  const auto found = m_record.find(entry.name);
  return found != m_record.end() && found->second.size == entry.size ? &found->second : nullptr;
}

void InputWheel::start_hash() {
  if (m_hash.valid()) return;
  m_hash = std::async(std::launch::async, [bytes = m_file.bytes] { return to_hex(wheelsmith::sha256(bytes)); }).share();
}

std::string InputWheel::sha256() const {
  return m_hash.valid() ? m_hash.get() : to_hex(wheelsmith::sha256(m_file.bytes));
}

}  // namespace wheelsmith::surgery
