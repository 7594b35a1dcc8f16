#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "testing/zip_builder.h"

namespace wheelsmith::testing {

// A wheel that is right in every respect, to be made wrong in one.
//
//   const std::string good = WheelBuilder("demo", "1.0", "py3-none-any").add("demo/__init__.py", "").build();
class WheelBuilder {
 public:
  WheelBuilder(std::string name, std::string version, std::string tag);

  WheelBuilder& add(std::string path, std::string data);
  WheelBuilder& purelib(bool value) { return m_purelib = value, *this; }
  // METADATA, WHEEL or RECORD as given instead of what would be true; "" leaves the file out.
  WheelBuilder& metadata(std::string text) { return m_metadata = std::move(text), *this; }
  WheelBuilder& wheel_file(std::string text) { return m_wheel_file = std::move(text), *this; }
  // Changes the text of RECORD before it is written.
  WheelBuilder& edit_record(std::function<void(std::string&)> edit) { return m_edit = std::move(edit), *this; }
  // Members that RECORD knows nothing of, and lies.
  WheelBuilder& raw(ZipMember member);

  [[nodiscard]] std::string file_name() const;
  [[nodiscard]] std::string dist_info() const { return m_name + "-" + m_version + ".dist-info"; }
  [[nodiscard]] std::string build() const;

 private:
  std::string m_name, m_version, m_tag;
  bool m_purelib = false;
  std::string m_metadata;
  std::string m_wheel_file;
  std::function<void(std::string&)> m_edit;
  std::vector<std::pair<std::string, std::string>> m_files;
  std::vector<ZipMember> m_raw;
};

}  // namespace wheelsmith::testing
