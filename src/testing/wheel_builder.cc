#include "testing/wheel_builder.h"

#include "base/hash.h"
#include "base/text.h"

namespace wheelsmith::testing {

namespace {

// Every tag that a compressed set stands for, as the WHEEL file lists them.
std::string tag_lines(const std::string& tag) {
  const auto parts = split(tag, '-');
  std::string lines;
  for (const std::string_view python : split(parts[0], '.')) {
    for (const std::string_view abi : split(parts[1], '.')) {
      for (const std::string_view platform : split(parts[2], '.')) {
        lines += "Tag: " + std::string(python) + "-" + std::string(abi) + "-" + std::string(platform) + "\n";
      }
    }
  }
  return lines;
}

}  // namespace

WheelBuilder::WheelBuilder(std::string name, std::string version, std::string tag)
    : m_name(std::move(name)), m_version(std::move(version)), m_tag(std::move(tag)) {
  m_metadata = "Metadata-Version: 2.1\nName: " + m_name + "\nVersion: " + m_version + "\nSummary: A demo\n";
  m_purelib = m_tag.ends_with("-any");
}

WheelBuilder& WheelBuilder::add(std::string path, std::string data) {
  m_files.emplace_back(std::move(path), std::move(data));
  return *this;
}

WheelBuilder& WheelBuilder::raw(ZipMember member) {
  m_raw.push_back(std::move(member));
  return *this;
}

std::string WheelBuilder::file_name() const { return m_name + "-" + m_version + "-" + m_tag + ".whl"; }

std::string WheelBuilder::build() const {
  std::vector<std::pair<std::string, std::string>> files = m_files;
  const std::string wheel_file = !m_wheel_file.empty() ? m_wheel_file
                                                       : std::string("Wheel-Version: 1.0\nGenerator: test\n") +
                                                             "Root-Is-Purelib: " + (m_purelib ? "true" : "false") +
                                                             "\n" + tag_lines(m_tag);
  if (!m_metadata.empty()) files.emplace_back(dist_info() + "/METADATA", m_metadata);
  files.emplace_back(dist_info() + "/WHEEL", wheel_file);
  std::string record;
  ZipBuilder zip;
  for (const auto& [path, data] : files) {
    record += path + ",sha256=" + to_base64url(sha256(Bytes(data))) + "," + std::to_string(data.size()) + "\n";
    zip.add(path, data);
  }
  record += dist_info() + "/RECORD,,\n";
  if (m_edit) m_edit(record);
  zip.add(dist_info() + "/RECORD", record);
  for (const ZipMember& member : m_raw) zip.add(member);
  return zip.build();
}

}  // namespace wheelsmith::testing
