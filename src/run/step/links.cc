#include "run/step/links.h"

#include <fmt/format.h>

#include "base/error.h"
#include "pep/project/project_page.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::run {

void link(const std::filesystem::path& target, const std::filesystem::path& name) {
  std::error_code error;
  std::filesystem::remove(name, error);
  std::filesystem::create_symlink(target, name, error);
  if (error) sys::throw_sys_error(error.value(), "link", name);
}

std::string link_needed_wheel(const NeededWheel& need, const std::filesystem::path& folder, const store::Store& store) {
  const auto blob = store.blob(need.wheel.sha256);
  if (!blob)
    throw Error(fmt::format("{}, a dependency of this step, is no longer in the store; rerun the same command",
                            need.wheel.file_name));
  sys::make_folders(folder);
  link(*blob, folder / need.wheel.file_name);
  return fmt::format("{} @ {}", need.project, pep::file_url((folder / need.wheel.file_name).string()));
}

}  // namespace wheelsmith::run
