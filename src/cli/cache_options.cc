// The settings of the compile cache as values.

#include "base/error.h"
#include "base/request_error.h"
#include "cli/session.h"

namespace wheelsmith::cli {

cache::CacheOptions cache_options(const settings::Settings& settings, const store::Store& store) {
  cache::CacheOptions options;
  options.enabled = true;
  const std::string folder = settings.text("cache-dir");
  options.folder = folder.empty() ? store.root() / "objects" : std::filesystem::absolute(folder);
  options.size = parse_size("cache-size", settings.text("cache-size"));
  options.compression = settings.text("cache-compression");
  options.remote = settings.text("cache-remote");
  try {
    cache::check_compression(options.compression);
    if (!options.remote.empty()) cache::check_remote(options.remote);
  } catch (const Error& error) {
    throw RequestError(error.what());
  }
  // Every user of the machine can read the command lines of all processes.
  const settings::Held* held = settings.find("cache-remote");
  if (held != nullptr && held->origin == "--cache-remote" &&
      fetch::without_credentials(options.remote) != options.remote)
    throw UsageError(
        "--cache-remote contains a password, and every user of this machine can read command lines; set it in "
        "config.toml or in the variable WHEELSMITH_CACHE_REMOTE");
  return options;
}

}  // namespace wheelsmith::cli
