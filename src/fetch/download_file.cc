#include "fetch/download_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "fetch/part_file.h"
#include "sys/files.h"

namespace wheelsmith::fetch {

namespace fs = std::filesystem;

void download_file(const std::string& url, const fs::path& target, const std::string& sha256,
                   const FetchOptions& options, std::uint64_t most_bytes) {
  const std::string name = target.filename().string();
  const std::string place = mirrored(url, options.mirrors);
  const auto wrong = [&](const std::string& found) {
    return Error(fmt::format("hash mismatch for {} from {}: expected SHA-256 {}, got {}; the download was discarded",
                             printable(name), printable(without_credentials(place)), sha256, found));
  };
  const fs::path folder = target.parent_path() / ("." + name + ".part");
  if (const auto source = local_path(place)) {
    std::error_code error;
    if (!fs::is_regular_file(*source, error)) throw Error(fmt::format("no such file: {}", printable(source->string())));
    sys::make_folders(folder);
    fs::remove(folder / "body", error);
    sys::copy_file(*source, folder / "body");
    fs::permissions(folder / "body", fs::perms::owner_write, fs::perm_options::add, error);
    const std::string found = sha256_of_file(folder / "body");
    if (found == sha256) sync_and_rename(folder / "body", target);
    sys::remove_tree(folder);
    if (found != sha256) throw wrong(found);
    return;
  }
  if (options.offline)
    throw Error(fmt::format("cannot fetch {} with --offline", printable(without_credentials(place))));
  PartFile part(folder, name, true);
  const bool was_resumed = part.resumed();
  part.fetch(place, options, most_bytes);
  std::string found = part.sha256();
  if (found != sha256 && was_resumed) {  // the first half may be from a file replaced since
    part.start_anew();
    part.fetch(place, options, most_bytes);
    found = part.sha256();
  }
  if (found != sha256) {
    part.discard();
    throw wrong(found);
  }
  part.publish(target);
}

}  // namespace wheelsmith::fetch
