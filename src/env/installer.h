#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "env/env.h"
#include "env/wheel_layout.h"
#include "zip/archive.h"

namespace wheelsmith::env {

// Installs one or many wheels into one environment: all are read and checked first, then written, with all members
// distributed over the threads, largest first.
class Installer {
 public:
  explicit Installer(InstallTarget target) : m_target(std::move(target)) {}

  // Reads and checks; throws an Error that names the wheel. Nothing is written. `direct_url` is the text of its
  // direct_url.json; "" for none.
  void add(const std::filesystem::path& wheel, const std::string& direct_url = "");
  // When two wheels have the same file (namespace packages do), the last one added wins, as with pip.
  void write(unsigned threads);

  // Projects in the order added, for callers that remove older versions first.
  [[nodiscard]] std::vector<std::string> projects() const;

 private:
  struct Wheel {
    std::filesystem::path path;
    Blob file;
    zip::Archive archive;
    WheelLayout layout;
    std::filesystem::path root;  // of its .dist-info
  };
  struct Output {
    std::string destination;
    const Wheel* wheel = nullptr;
    const LaidOutFile* member = nullptr;  // null: write `text`
    std::string text;
    bool executable = false;
  };

  [[nodiscard]] std::filesystem::path folder_of(const Wheel& wheel, Scheme scheme) const;
  void place(const Wheel& wheel, const std::string& direct_url);
  void make_folders() const;
  void write_member(const Output& output, const zip::Archive::Allocate& allocate) const;
  [[nodiscard]] std::string record_of(const Wheel& wheel, std::vector<const Output*> outputs) const;

  InstallTarget m_target;
  std::vector<std::unique_ptr<Wheel>> m_wheels;
  std::vector<Output> m_outputs;
};

// The .dist-info or .egg-info of an installed version of the project.
std::optional<std::filesystem::path> installed_as(const std::string& project, const InstallTarget& target);

// Removes the files in the project's RECORD that are inside the environment. False when it is not installed. Throws
// Error without a RECORD.
bool uninstall(const std::string& project, const InstallTarget& target);
// Removes the link that `setup.py develop` made: NAME.egg-link and its line in easy-install.pth. False when there is
// none.
bool unlink_develop(const std::string& project, const InstallTarget& target);

}  // namespace wheelsmith::env
