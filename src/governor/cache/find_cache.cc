#include "governor/cache/find_cache.h"

#include "base/request_error.h"
#include "sys/process/process.h"

namespace wheelsmith::governor {

CacheOptions find_cache(const CacheSettings& settings, const store::Store& store) {
  CacheOptions options;
  options.program = sys::find_program("ccache");
  options.folder = settings.folder.empty() ? store.root() / "ccache" : std::filesystem::absolute(settings.folder);
  options.size = settings.size;
  options.compression = settings.compression;
  options.remote = settings.remote;
  try {
    check_cache_compression(options.compression);
    if (!options.remote.empty()) check_cache_remote(options.remote);
  } catch (const Error& error) {
    throw RequestError(error.what());
  }
  return options;
}

}  // namespace wheelsmith::governor
