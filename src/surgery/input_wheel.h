#pragma once

#include <future>
#include <map>
#include <string>

#include "base/bytes.h"
#include "pep/record.h"
#include "pep/wheel_name.h"
#include "wheel/read/distribution.h"
#include "wheel/read/wheel_tree.h"
#include "zip/archive.h"

namespace wheelsmith::surgery {

// A wheel as the input of an operation. It is hostile, and it is never written to.
class InputWheel {
 public:
  // Throws Error for what is not a wheel with one .dist-info folder, METADATA and WHEEL, or cannot be copied safely:
  // names that lead out of it, links, two members of one name.
  InputWheel(std::string path, Blob file);
  InputWheel(const InputWheel&) = delete;
  InputWheel& operator=(const InputWheel&) = delete;

  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] Bytes bytes() const { return m_file.bytes; }
  [[nodiscard]] const zip::Archive& archive() const { return m_archive; }
  [[nodiscard]] const wheel::WheelTree& tree() const { return m_tree; }
  [[nodiscard]] const pep::WheelName& name() const { return m_name; }
  [[nodiscard]] const wheel::Distribution& distribution() const { return m_distribution; }
  [[nodiscard]] std::string metadata_text() const;
  // The line of RECORD for a member, if it has a strong hash and the size is right; else null.
  [[nodiscard]] const pep::RecordLine* recorded(const zip::Entry& entry) const;

  // In hexadecimal. It is computed in a thread of its own from the moment that start_hash() is called.
  void start_hash();
  [[nodiscard]] std::string sha256() const;

 private:
  std::string m_path;
  Blob m_file;
  pep::WheelName m_name;
  zip::Archive m_archive;
  wheel::WheelTree m_tree;
  wheel::Distribution m_distribution;
  std::map<std::string, pep::RecordLine, std::less<>> m_record;
  std::shared_future<std::string> m_hash;
};

}  // namespace wheelsmith::surgery
