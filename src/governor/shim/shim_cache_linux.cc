#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "governor/shim/compiler_facts.h"
#include "governor/shim/shim.h"
#include "governor/shim/shim_cache.h"
#include "sys/files.h"
#include "sys/io/new_file.h"
#include "sys/process/process.h"
#include "sys/terminal.h"

namespace wheelsmith::governor {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> k_other_caches{"ccache", "sccache", "buildcache", "distcc", "icecc"};
constexpr std::uint64_t k_largest_object = 1ULL << 30;
constexpr std::uint64_t k_largest_text = 64 << 20;

// The build uses its own cache, which has missed: ours beside it would only store everything twice.
bool is_called_by_cache() {
  std::array<char, 4096> text{};
  const ssize_t size = ::readlink(fmt::format("/proc/{}/exe", ::getppid()).c_str(), text.data(), text.size() - 1);
  if (size <= 0) return false;
  return is_one_of(base_name(std::string_view(text.data(), static_cast<std::size_t>(size))), k_other_caches);
}

// As nvcc finds it: a path, a folder that contains one, or a name in PATH; gcc by default.
std::string host_compiler(const std::string& given, const std::string& path) {
  std::error_code error;
  if (fs::is_directory(given, error)) return (fs::path(given) / "gcc").string();
  if (given.find('/') != given.npos) return given;
  return sys::find_program(given.empty() ? "gcc" : given, path).string();
}

// A regular file or nothing: a compiler would follow a link or write to a device.
bool is_plain(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

void write_output(const std::string& path, std::string_view bytes) {
  sys::NewFile file = sys::NewFile::replacing(path, 0666);
  file.write(Bytes(bytes));
  file.close();
}

bool has_colour_option(const std::vector<std::string>& argv) {
  return std::any_of(argv.begin(), argv.end(), [](const std::string& word) {
    return word.find("diagnostics-color") != word.npos || word.find("color-diagnostics") != word.npos;
  });
}

}  // namespace

std::unique_ptr<ShimCache> ShimCache::find(const std::string& shims, const std::string& real,
                                           const std::vector<std::string>& argv, const CompilerCommand& command,
                                           const RunFile& run) {
  const bool kind =
      command.kind == Kind::c || command.kind == Kind::cxx || command.kind == Kind::cuda || command.kind == Kind::hip;
  if (run.cache.empty() || !kind || !command.compile_only || command.sources.size() != 1) return nullptr;
  if (is_called_by_cache()) return nullptr;
  cache::CompileRequest request;
  request.program = real;
  request.argv = argv;
  const auto below = environment_below(own_environment(), shims, std::string(k_passed_variable) + "=1");
  std::string path;
  for (const std::string& entry : below) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (name == "PATH") path = entry.substr(5);
    if (cache::is_compiler_variable(name)) request.environment.push_back(entry);
  }
  std::error_code error;
  request.folder = fs::current_path(error).string();
  if (error) return nullptr;
  CompilerFacts facts = compiler_facts(shims, run, real, argv, command.sources.front());
  if (facts.identity.empty()) return nullptr;
  if (cache::is_nvcc(real)) {
    const cache::FileQuestions files{[](const std::string& name) { return read_response(name); }, {}};
    const std::string host = host_compiler(cache::nvcc_host_compiler(argv, request.environment, files), path);
    const CompilerFacts of_host = compiler_facts(shims, run, host, {host}, command.sources.front());
    if (of_host.identity.empty()) return nullptr;
    facts.identity += of_host.identity;
    facts.tools.insert(facts.tools.end(), of_host.tools.begin(), of_host.tools.end());
    facts.search.insert(facts.search.end(), of_host.search.begin(), of_host.search.end());
  } else if (sys::standard_error_is_terminal() && !has_colour_option(argv)) {
    request.argv.emplace_back("-fdiagnostics-color=always");  // its output passes through this process
  }
  request.identity = facts.identity;
  request.tools = facts.tools;
  request.search = facts.search;
  cache::Conversation conversation(run.cache);
  if (!conversation.is_open()) return nullptr;
  return std::unique_ptr<ShimCache>(new ShimCache(std::move(conversation), std::move(request)));
}

bool ShimCache::write_hit(const cache::Conversation::Hit& hit) const {
  if (!is_plain(hit.object) || !is_plain(hit.dependencies)) return false;
  try {
    write_output(hit.object, hit.result.object);
    if (!hit.dependencies.empty()) write_output(hit.dependencies, hit.dependency_text);
  } catch (const Error&) {  // the compiler reports the path's problem better
    return false;
  }
  sys::write_standard(sys::Stream::output, hit.result.output);
  sys::write_standard(sys::Stream::errors, hit.result.errors);
  return true;
}

CacheUse ShimCache::look() {
  cache::Conversation::Answer answer = m_conversation.find(m_request);
  if (answer.hit) {
    m_remote = answer.hit->remote;
    m_saved_ms = answer.hit->result.milliseconds;
    if (write_hit(*answer.hit)) return CacheUse::hit;
    m_why = "the object cannot be written";
    return CacheUse::pass;
  }
  if (answer.miss) {
    m_remote_failed = answer.miss->remote_failed;
    if (!is_plain(answer.miss->object)) {
      m_why = "the object is not a plain file";
      return CacheUse::pass;
    }
    m_miss = std::move(answer.miss);
    clean_up();  // left by a killed compile
    return CacheUse::miss;
  }
  m_why = answer.pass ? answer.pass->why : "no answer from the cache";
  return CacheUse::pass;
}

std::vector<std::string> ShimCache::argv(const std::vector<std::string>& granted) const {
  if (!m_miss || granted.empty()) return granted;
  // The governor may have changed nvcc's thread count; the cache's changes are at the end or replace one argument.
  if (cache::is_nvcc(m_request.program)) {
    std::vector<std::string> words = granted;
    if (std::find(m_miss->argv.begin(), m_miss->argv.end(), "-MMD") == m_miss->argv.end())
      std::replace(words.begin(), words.end(), std::string("-MMD"), std::string("-MD"));
    for (std::size_t i = m_request.argv.size(); i < m_miss->argv.size(); ++i) words.push_back(m_miss->argv[i]);
    return words;
  }
  return m_miss->argv;
}

std::vector<std::string> ShimCache::environment(std::vector<std::string> below) const {
  if (m_miss) below.insert(below.end(), m_miss->environment.begin(), m_miss->environment.end());
  return below;
}

CacheUse ShimCache::store(const std::string& output, const std::string& errors, std::uint64_t milliseconds) {
  if (!m_miss) return CacheUse::pass;
  const auto object = sys::read_file_if_possible(m_miss->object, k_largest_object);
  const auto dependencies = sys::read_file_if_possible(m_miss->dependencies, k_largest_text);
  cache::Conversation::Made made;
  if (!m_miss->headers.empty()) made.headers = sys::read_file_if_possible(m_miss->headers, k_largest_text).value_or("");
  if (!object || !dependencies || (!m_miss->headers.empty() && made.headers.empty())) {
    m_why = "the compiler did not write a requested output";
    return CacheUse::pass;
  }
  made.object = *object;
  made.dependencies = *dependencies;
  made.output = output;
  made.errors = errors;
  made.milliseconds = milliseconds;
  const cache::Conversation::Stored stored = m_conversation.store(made);
  m_why = stored.why;
  return stored.kept ? CacheUse::miss : CacheUse::pass;
}

void ShimCache::add_headers(const std::vector<std::string>& names) const {
  if (!m_miss || m_miss->headers.empty() || names.empty()) return;
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  // A failure leaves the list as it is, which is too short: then there is none.
  if (sys::append_text(m_miss->headers, text)) ::unlink(m_miss->headers.c_str());
}

void ShimCache::clean_up() const {
  if (!m_miss) return;
  if (!m_miss->keep_dependencies) ::unlink(m_miss->dependencies.c_str());
  if (!m_miss->headers.empty()) ::unlink(m_miss->headers.c_str());
}

}  // namespace wheelsmith::governor
