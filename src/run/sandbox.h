#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recipe/recipe.h"
#include "run/job.h"
#include "sys/sandbox/sandbox.h"
#include "toolchain/toolchain.h"

// What foreign code may see of this machine (docs/security.md). The policies of a step's commands and of a wheel's
// tests are made of the same parts.

namespace wheelsmith::run {

// Throws Error where the user asked for what the kernel does not have.
sys::SandboxMode sandbox_mode(const SandboxOptions& options);
// What is missing here compared with the best, for people; "" where nothing is.
std::string sandbox_shortage(sys::SandboxMode mode, bool chosen);

class PolicyMaker {
 public:
  PolicyMaker(const SandboxOptions& options, const std::filesystem::path& store);

  void read(const std::filesystem::path& path);
  void write(const std::filesystem::path& path);
  // An interpreter: its own files and those of the one it is a virtual environment of.
  void python(const toolchain::Python& python);
  // A folder of installed packages, and the folders that .pth files in it name.
  void site(const std::filesystem::path& folder);
  // A compiler or tool: the folder it is installed in, where it has one of its own.
  void program(const std::filesystem::path& path);
  void gpu_devices();
  // What a recipe opens. It is somebody else's text: the user's home and the store stay closed. Throws Error.
  void opened_by_recipe(const std::vector<recipe::OpenPath>& paths);
  void temporary(const std::filesystem::path& folder) { m_policy.temporary = folder; }
  void network(bool open) { m_policy.network = open; }

  [[nodiscard]] const sys::SandboxPolicy& policy() const { return m_policy; }

 private:
  [[nodiscard]] bool is_private(const std::filesystem::path& path) const;
  [[nodiscard]] bool is_too_wide(const std::filesystem::path& path) const;

  sys::SandboxPolicy m_policy;
  std::filesystem::path m_store;
  std::vector<std::filesystem::path> m_homes;
};

// The absolute paths of files and folders in the values of variables: "-I/data/include:/data/lib" names two.
std::vector<std::filesystem::path> paths_in(std::string_view text);

}  // namespace wheelsmith::run
