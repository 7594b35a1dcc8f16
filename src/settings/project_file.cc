#include "settings/project_file.h"

#include "sys/ownership.h"

namespace wheelsmith::settings {

namespace fs = std::filesystem;

fs::path project_file(const fs::path& start, const LookAtFolder& look) {
  std::optional<std::uint64_t> device;
  for (fs::path folder = start; !folder.empty(); folder = folder.parent_path()) {
    const std::optional<FolderFacts> facts = look(folder);
    if (!facts || facts->shared || (device && *device != facts->device)) return {};
    if (facts->has_file) return folder / k_project_file_name;
    if (facts->repository || folder == folder.parent_path()) return {};
    device = facts->device;
  }
  return {};
}

fs::path project_file(const fs::path& folder) { return project_file(folder, examine_folder); }

std::optional<FolderFacts> examine_folder(const fs::path& folder) {
  const auto ownership = sys::ownership_of(folder);
  if (!ownership) return std::nullopt;
  std::error_code ignored;
  return FolderFacts{.device = ownership->device,
                     .shared = ownership->sticky() || ownership->world_writable(),
                     .repository = fs::exists(fs::symlink_status(folder / ".git", ignored)),
                     .has_file = fs::is_regular_file(folder / k_project_file_name, ignored)};
}

}  // namespace wheelsmith::settings
