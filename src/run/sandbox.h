#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recipe/recipe.h"
#include "run/job.h"
#include "sys/sandbox/sandbox.h"
#include "toolchain/toolchain.h"

// The parts of this machine that foreign code may see (docs/security.md). The policies for a step's commands and a
// wheel's tests are built from the same parts.

namespace wheelsmith::run {

// Throws Error when the kernel lacks the requested mode, or for `auto` all of them.
sys::SandboxMode sandbox_mode(const SandboxOptions& options);
// What is missing compared with full isolation, as a message; "" when nothing is.
std::string sandbox_shortage(sys::SandboxMode mode, bool chosen);

class PolicyMaker {
 public:
  // `stores`: the folders of the store; two if several machines share it, otherwise one.
  PolicyMaker(const SandboxOptions& options, const std::vector<std::filesystem::path>& stores);

  void read(const std::filesystem::path& path);
  void write(const std::filesystem::path& path);
  // An interpreter: its own files and those of its base interpreter.
  void python(const toolchain::Python& python);
  // A folder of installed packages, and the folders its .pth files name.
  void site(const std::filesystem::path& folder);
  // A compiler or tool: its installation prefix, if it has one.
  void program(const std::filesystem::path& path);
  void gpu_devices();
  // Paths that a recipe opens. The recipe's author is not the user: homes and the store stay closed. Throws Error.
  void opened_by_recipe(const std::vector<recipe::OpenPath>& paths);
  void temporary(const std::filesystem::path& folder) { m_policy.temporary = folder; }
  void network(bool open) { m_policy.network = open; }

  [[nodiscard]] const sys::SandboxPolicy& policy() const { return m_policy; }

 private:
  [[nodiscard]] bool is_in_store(const std::filesystem::path& real) const;
  [[nodiscard]] bool is_private(const std::filesystem::path& path) const;
  [[nodiscard]] bool is_too_wide(const std::filesystem::path& path) const;

  sys::SandboxPolicy m_policy;
  std::vector<std::filesystem::path> m_stores, m_homes;
};

// Absolute paths of files and folders in variable values: "-I/data/include:/data/lib" names two.
std::vector<std::filesystem::path> paths_in(std::string_view text);

}  // namespace wheelsmith::run
