#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <tuple>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "governor/shim/shim.h"
#include "governor/shim/shim_cache.h"
#include "governor/shim/shim_folder.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::governor {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> k_caches{"ccache", "sccache", "buildcache", "distcc", "icecc"};
constexpr auto k_version_time = std::chrono::seconds(20);

bool is_cache_name(std::string_view name) {
  return std::find(k_caches.begin(), k_caches.end(), name) != k_caches.end();
}

// Somebody else's cache called us: theirs has missed, and ours beside it would only keep everything twice.
bool called_by_cache() {
  std::array<char, 4096> text{};
  const ssize_t size = ::readlink(fmt::format("/proc/{}/exe", ::getppid()).c_str(), text.data(), text.size() - 1);
  return size > 0 && is_cache_name(base_name(std::string_view(text.data(), static_cast<std::size_t>(size))));
}

// A name in PATH may be a cache itself: a link to it, or a script that calls it.
bool is_cache(const std::string& program) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  if (error || is_cache_name(real.filename().string())) return true;
  std::array<char, 4096> head{};
  const auto size = sys::read_start(real.c_str(), head);
  if (!size) return true;
  const std::string_view text(head.data(), *size);
  return text.starts_with("#!") && (text.find("ccache ") != text.npos || text.find("sccache ") != text.npos);
}

// What a compiler says of itself: its file alone does not tell (a script, a driver whose libraries do the work). Asked
// once for each state of the file. Empty for one that cannot be cached.
std::string version_of(const std::string& shims, const RunFile& run, const std::string& program) {
  const auto fingerprint = sys::stat_fingerprint(program);
  if (!fingerprint) return {};
  const fs::path file = (run.versions.empty() ? fs::path(shims) / "versions" : run.versions) /
                        to_hex(sha256(Bytes(program + "\n" + *fingerprint))).substr(0, 16);
  if (const auto known = read_response(file.string())) return *known;
  std::string version;
  if (!is_cache(program)) {
    try {
      sys::Environment environment;
      for (const std::string& entry :
           environment_below(own_environment(), shims, std::string(k_passed_variable) + "=1")) {
        const std::size_t equals = entry.find('=');
        if (equals != entry.npos) environment[entry.substr(0, equals)] = entry.substr(equals + 1);
      }
      const sys::Captured said = sys::capture(
          {.argv = {program, "--version"}, .environment = environment, .timeout = k_version_time}, 1 << 20);
      for (const std::string_view line : lines(said.output)) {
        if (said.exit.good() && !line.starts_with("InstalledDir")) version += std::string(line) + "\n";
      }
    } catch (const Error&) {  // it cannot be started to be asked: not known, so not cached
    }
  }
  try {
    sys::make_folders(file.parent_path());
    sys::write_file(file, version);
  } catch (const Error&) {  // best effort: it is asked again the next time
  }
  return version;
}

// As nvcc finds it: a path, a folder with one in it, or a name in PATH.
std::string host_compiler(const std::string& given) {
  std::error_code error;
  if (fs::is_directory(given, error)) return (fs::path(given) / "g++").string();
  if (given.find('/') != given.npos) return given;
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  return sys::find_program(given, path == nullptr ? "" : path).string();
}

}  // namespace

std::unique_ptr<ShimCache> ShimCache::find(const std::string& shims, const std::string& real,
                                           const std::vector<std::string>& argv, const CompilerCommand& command,
                                           const RunFile& run) {
  if (run.cache_program.empty() || run.cache_config.empty() || called_by_cache()) return nullptr;
  auto cached = cached_command(command, argv, own_environment(), run.cache_base, read_response);
  if (!cached) return nullptr;
  std::string identity = version_of(shims, run, real);
  if (identity.empty()) return nullptr;
  if (!cached->host_compiler.empty()) {
    const std::string host = version_of(shims, run, host_compiler(cached->host_compiler));
    if (host.empty()) return nullptr;
    identity += host;
  }
  std::unique_ptr<ShimCache> cache(new ShimCache());
  cache->m_shims = shims;
  cache->m_real = real;
  cache->m_program = run.cache_program;
  cache->m_config = run.cache_config;
  cache->m_identity = to_hex(sha256(Bytes(identity + cached->more))).substr(0, 32);
  // hipcc is clang by another name, which ccache does not know.
  if (base_name(real).starts_with("hipcc")) cache->m_type = "clang";
  cache->m_command = std::move(*cached);
  return cache;
}

void ShimCache::open() {
  std::tie(m_near, m_far) = sys::socket_pair();
  m_log = sys::MemoryFile::make("cache");
  m_is_asked = false;
  m_signal = 0;
}

std::vector<std::string> ShimCache::argv() const {
  std::vector<std::string> words{m_program, m_real};
  words.insert(words.end(), m_command.argv.begin(), m_command.argv.end());
  return words;
}

std::vector<std::string> ShimCache::environment(const std::vector<std::string>& below) const {
  std::vector<std::string> result;
  bool path = false;
  const std::string folder = m_shims + "/" + k_asker_folder;
  for (const std::string& entry : below) {
    if (entry.starts_with("CCACHE_")) continue;
    const bool is_path = entry.starts_with("PATH=");
    path = path || is_path;
    result.push_back(is_path ? "PATH=" + folder + ":" + entry.substr(5) : entry);
  }
  if (!path) result.push_back("PATH=" + folder);
  result.push_back("CCACHE_CONFIGPATH=" + m_config);
  result.push_back("CCACHE_NAMESPACE=" + m_identity);
  result.push_back("CCACHE_STATSLOG=" + m_log.path());
  if (m_command.by_dependencies) result.emplace_back("CCACHE_DEPEND=1");
  if (!m_type.empty()) result.push_back("CCACHE_COMPILERTYPE=" + m_type);
  result.push_back(fmt::format("{}={}", k_cache_variable, m_far.share_with_children()));
  return result;
}

bool ShimCache::hear() {
  std::array<char, 16> said{};
  const sys::Moved got = m_near.receive_now(said);
  for (std::size_t i = 0; i < got.size; ++i) {
    if (said[i] == k_question[0]) m_is_asked = true;
    if (said[i] == k_ended && i + 1 < got.size) m_signal = said[++i];
  }
  return got.state != sys::Moved::State::ended;
}

void ShimCache::answer(std::vector<std::string> argv) const {
  std::string text;
  if (m_command.exact) {
    if (!m_command.dependencies.empty()) argv.insert(argv.end(), {"-MD", "-MF", m_command.dependencies});
    for (const std::string& word : argv) text.append(word.c_str(), word.size() + 1);
  }
  m_near.send_all(text);
  m_near.end_sending();
}

CacheOutcome ShimCache::outcome() const { return read_cache_log(m_log.content(1 << 20)); }

void ShimCache::remove_dependencies() const {
  if (!m_command.dependencies.empty()) ::unlink(m_command.dependencies.c_str());
}

}  // namespace wheelsmith::governor
