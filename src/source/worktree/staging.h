#pragma once

#include <filesystem>

namespace wheelsmith::source {

// An empty folder beside the target; it is renamed to the target only when complete, and removed otherwise.
class Staging {
 public:
  explicit Staging(const std::filesystem::path& target);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
  // Renames it, or a folder inside it, to the target, which must be empty or absent.
  void publish(const std::filesystem::path& made);

 private:
  std::filesystem::path m_target;
  std::filesystem::path m_path;
};

}  // namespace wheelsmith::source
