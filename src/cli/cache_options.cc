// The settings of the compile cache as values.

#include "base/error.h"
#include "base/text.h"
#include "cli/session.h"
#include "sys/process.h"

namespace wheelsmith::cli {

governor::CacheOptions cache_options(const settings::Settings& settings, const store::Store& store) {
  governor::CacheOptions options;
  options.program = sys::find_program("ccache");
  const std::string folder = settings.text("cache-dir");
  options.folder = folder.empty() ? store.root() / "ccache" : std::filesystem::absolute(folder);
  options.size = parse_size("cache-size", settings.text("cache-size"));
  options.compression = settings.text("cache-compression");
  options.remote = settings.text("cache-remote");
  try {
    governor::check_cache_compression(options.compression);
    if (!options.remote.empty()) governor::check_cache_remote(options.remote);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  // Everybody on the machine can read a command line.
  const settings::Held* held = settings.find("cache-remote");
  if (held != nullptr && held->origin == "--cache-remote" &&
      fetch::without_credentials(options.remote) != options.remote)
    throw UsageError(
        "--cache-remote with a password can be read by everybody on this machine; put it into config.toml or into "
        "WHEELSMITH_CACHE_REMOTE");
  return options;
}

}  // namespace wheelsmith::cli
