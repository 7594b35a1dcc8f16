// The settings of the compile cache as values.

#include "cli/session.h"
#include "governor/cache/find_cache.h"

namespace wheelsmith::cli {

governor::CacheOptions cache_options(const settings::Settings& settings, const store::Store& store) {
  const governor::CacheOptions options =
      governor::find_cache({.folder = settings.text("cache-dir"),
                            .size = parse_size("cache-size", settings.text("cache-size")),
                            .compression = settings.text("cache-compression"),
                            .remote = settings.text("cache-remote")},
                           store);
  // Every user of the machine can read a command line.
  const settings::Held* held = settings.find("cache-remote");
  if (held != nullptr && held->origin == "--cache-remote" &&
      fetch::without_credentials(options.remote) != options.remote)
    throw UsageError(
        "--cache-remote with a password can be read by everybody on this machine; put it into config.toml or into "
        "WHEELSMITH_CACHE_REMOTE");
  return options;
}

}  // namespace wheelsmith::cli
