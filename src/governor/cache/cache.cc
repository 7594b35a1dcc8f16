#include "governor/cache/cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "governor/cache/cache_nvcc.h"

// The compile cache is ccache. It knows what an object depends on, and its format, its eviction and its storages are
// other people's work. What we add is that it stands where it belongs, and that it is right for nvcc:
//
// A shim runs `ccache COMPILER …` with a small grant, enough for a look. When ccache has to compile after all, it calls
// its "prefix command", which is us again (wheelsmith-grant): that asks the shim above, which asks the governor for
// what the compile needs, and only then the compiler runs. So a hit waits for no memory that it does not use, and a
// miss waits like any other compile.
//
// ccache finds a key from the preprocessor's output. nvcc has one output for each architecture and one for the host,
// and `nvcc -E` shows one of them: a change below `#if __CUDA_ARCH__ >= 900` would be a hit on the old object. So
// nvcc's units go by the dependencies that nvcc itself writes (ccache's depend mode: source, headers of all passes,
// flags), and nvcc's variables with more options, which ccache does not know, become part of the key. HIP is different:
// clang -E has all passes in it.
//
// Absolute paths below the base folder are made relative for the key. Steps are compiled with -ffile-prefix-map, so
// that folders do not show in objects at all; there the compiler is called exactly as the build said, and objects are
// the same bytes with the cache and without.

namespace wheelsmith::governor {

namespace {

bool maps_folders(const std::vector<std::string>& argv) {
  return std::any_of(argv.begin(), argv.end(), [](const std::string& word) {
    return word.starts_with("-ffile-prefix-map=") || word.find(",-ffile-prefix-map=") != word.npos;
  });
}

}  // namespace

void check_cache_remote(std::string_view url) {
  const std::size_t colon = url.find("://");
  const std::string_view scheme = colon == url.npos ? std::string_view() : url.substr(0, colon);
  if (scheme == "https") {
    throw Error(
        "cache-remote: ccache speaks HTTP without TLS; name a proxy on this machine that adds it "
        "(http://localhost:PORT/…), or a Redis server");
  }
  constexpr std::array<std::string_view, 4> k_schemes{"http", "redis", "redis+unix", "file"};
  if (!is_one_of(scheme, k_schemes) || url.size() <= colon + 3)
    throw Error("cache-remote is none of redis://HOST[:PORT], redis+unix:///SOCKET, http://HOST[:PORT]/PATH");
  // '|' begins ccache's attributes, '=' and line ends are its file's.
  for (const char c : url) {
    if (c <= ' ' || c == '|' || c == '#' || c == 127)
      throw Error("cache-remote holds a character that cannot be in such an address");
  }
}

void check_cache_compression(std::string_view text) {
  const auto level = to_number(text);
  if (text != "off" && (!level || *level < 1 || *level > 19))
    throw Error(fmt::format("cache-compression {}: it is a level from 1 to 19, or off", printable(text)));
}

std::string cache_config(const CacheOptions& options, std::string_view asker) {
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view value) {
    text += fmt::format("{} = ", name);
    for (const char c : value) text += c == '$' ? "$$" : std::string(1, c);  // $NAME would be a variable
    text += '\n';
  };
  add("cache_dir", options.folder.string());
  add("temporary_dir", (options.folder / "tmp").string());
  if (!options.base.empty()) add("base_dir", options.base.string());
  add("max_size", fmt::format("{}k", options.size / 1000));  // without a letter it would be gigabytes
  add("compression", options.compression == "off" ? "false" : "true");
  if (options.compression != "off") add("compression_level", options.compression);
  if (!options.remote.empty()) add("remote_storage", options.remote);
  // The time of a compiler's file says nothing on another machine.
  add("compiler_check", "content");
  add("prefix_command", asker);
  return text;
}

std::optional<CachedCommand> cached_command(const CompilerCommand& command, const std::vector<std::string>& argv,
                                            const std::vector<std::string>& environment,
                                            const std::filesystem::path& base, const ReadFile& read_file) {
  const bool kind =
      command.kind == Kind::c || command.kind == Kind::cxx || command.kind == Kind::cuda || command.kind == Kind::hip;
  if (!kind || !command.compile_only || command.sources.size() != 1 || argv.empty()) return std::nullopt;
  // clang can compile CUDA too; what holds for nvcc's preprocessor holds for nothing else.
  const bool nvcc = base_name(argv.front()).starts_with("nvcc");
  if (nvcc) return nvcc_command(command, argv, environment, base.string(), read_file);
  if (command.kind == Kind::cuda) return std::nullopt;
  CachedCommand result;
  result.argv.assign(argv.begin() + 1, argv.end());
  result.exact = maps_folders(argv);
  return result;
}

CacheOutcome read_cache_log(std::string_view text) {
  CacheOutcome outcome;
  for (const std::string_view line : lines(text)) {
    if (line == "cache_miss") outcome.miss = true;
    if (line == "remote_storage_hit") outcome.remote = true;
    if (line == "remote_storage_error" || line == "remote_storage_timeout") outcome.remote_failed = true;
  }
  return outcome;
}

}  // namespace wheelsmith::governor
