#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "governor/model/oom_signs.h"
#include "governor/record.h"
#include "governor/shim/shim.h"
#include "governor/shim/shim_child.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/foreground.h"
#include "sys/terminal.h"

// One compile. The build system sees only its last attempt.

namespace wheelsmith::governor {

namespace {

constexpr unsigned k_most_tries = 3;
constexpr unsigned k_most_set_backs = 3;
constexpr std::size_t k_hash_whole = 8 << 20;

// Only the beginning and the end of a very large source (a table of numbers).
std::string content_digest(const std::string& path, std::uint64_t& size) {
  const auto blob = sys::map_file_if_possible(path);
  if (!blob || blob->bytes.empty()) return {};
  const std::string_view text = blob->bytes.text();
  size += text.size();
  Sha256 hash;
  hash.update(text.substr(0, k_hash_whole));
  if (text.size() > k_hash_whole) {
    hash.update(text.substr(std::max(k_hash_whole, text.size() - k_hash_whole)));
    hash.update(std::to_string(text.size()));
  }
  return to_hex(hash.finish());
}

std::uint64_t file_size(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

void Shim::identify() {
  for (const std::string& source : m_command.sources) m_digests.push_back(content_digest(source, m_size));
  for (const std::string& object : m_command.objects) m_size += file_size(object);
  m_unit = unit_id(m_command, m_digests);
  m_family = family_of(m_command);
}

Message Shim::question(Word word, bool hurry) const {
  // nvcc uses as many threads as it is allowed; a lower user setting is the maximum.
  unsigned threads = m_command.kind == Kind::cuda ? m_command.archs : 1;
  if (m_command.threads != 0) threads = std::min(threads, m_command.threads);
  if (m_phase == Phase::looking) threads = 1;
  return {word,
          {{"run", m_run_file},
           {"unit", m_unit},
           {"family", m_family},
           {"kind", std::string(to_string(m_command.kind))},
           {"size", std::to_string(m_size)},
           {"archs", std::to_string(m_command.archs)},
           {"threads", std::to_string(threads)},
           {"name", m_command.name()},
           {"output", m_command.output},
           {"try", std::to_string(m_try)},
           {"need", std::to_string(m_need)},
           {"may_move", can_move() ? "1" : "0"},
           {"look", m_phase == Phase::looking ? "1" : "0"},
           {"hurry", hurry ? "1" : "0"},
           {"alone", m_alone ? "1" : "0"}}};
}

std::vector<std::string> Shim::granted_argv() const {
  std::vector<std::string> argv = m_argv;
  argv.front() = m_real;
  if (m_command.kind != Kind::cuda || m_real.empty() || base_name(m_real) != "nvcc") return argv;
  const bool said = m_command.threads != 0;
  return said || m_grant.threads() > 1 ? with_threads(argv, m_grant.threads()) : argv;
}

// A partial object is worse than none: make would treat it as done.
void Shim::remove_output() const {
  struct stat status{};
  if (!m_command.output.empty() && ::lstat(m_command.output.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    ::unlink(m_command.output.c_str());
  }
}

void Shim::note_ungoverned() const {
  document::Table line;
  timeval time{};
  ::gettimeofday(&time, nullptr);
  line["event"] = "ungoverned";
  line["at"] = static_cast<double>(time.tv_sec);
  line["name"] = m_command.name();
  line["why"] = "no governor answered";
  append_record(m_run.record, line);
}

int Shim::run_ungoverned() {
  note_ungoverned();
  m_grant.connection().close();
  std::vector<std::string> argv = m_argv;
  argv.front() = m_real;
  const auto environment = environment_below(own_environment(), m_shims, std::string(k_passed_variable) + "=1");
  const int error = sys::become_program(m_real, argv, environment);
  std::fprintf(stderr, "wheelsmith: %s: %s\n", printable(m_real).c_str(), std::strerror(error));
  return 127;
}

void Shim::report_hit() {
  m_grant.done({Word::done,
                {{"exit", "0"},
                 {"cache", std::string(enum_name(CacheUse::hit))},
                 {"remote", m_cache->was_remote() ? "1" : "0"},
                 {"saved", std::to_string(m_cache->saved_ms())}}},
               false);
}

int Shim::run() {
  identify();
  m_cache = ShimCache::find(m_shims, m_real, m_argv, m_command, m_run);
  unsigned set_backs = 0;
  CacheUse use = CacheUse::none;
  bool try_parts = m_run.parts;
  for (;;) {
    m_grant.forget_set_back();
    // A unit already looked up, or one that must run alone, will certainly compile.
    if (m_cache && use == CacheUse::none && !m_alone) {
      m_phase = Phase::looking;
      if (!m_grant.get()) return run_ungoverned();
      use = m_cache->look();
      if (use == CacheUse::hit) {
        report_hit();
        return 0;
      }
    }
    m_phase = Phase::compiling;
    if (std::exchange(try_parts, false) && !m_alone) {
      if (const auto code = run_in_parts(use)) return *code;
    }
    if (!m_grant.get()) return run_ungoverned();
    auto environment =
        environment_below(own_environment(), m_shims, fmt::format("{}={}", k_grant_variable, ::getpid()));
    const bool may_keep = use == CacheUse::miss;
    if (may_keep) environment = m_cache->environment(std::move(environment));
    const std::vector<std::string> argv = may_keep ? m_cache->argv(granted_argv()) : granted_argv();
    std::optional<ShimChild> child;
    std::optional<NodeResult> there;
    sys::ForegroundExit end;
    if (!m_grant.node().empty()) {
      there = run_elsewhere(argv, environment);
      if (!there) {
        remove_output();
        if (may_keep) m_cache->clean_up();
        continue;
      }
      end = there->exit;
    } else {
      child.emplace(m_real, argv, environment, may_keep);
      end = m_grant.wait(*child);
    }
    const std::string printed = there ? there->output : child->output();
    const std::string complaints = there ? there->errors : child->errors();
    const auto cpu = static_cast<std::uint64_t>(end.cpu_seconds * 1000);
    if (may_keep && end.code == 0) use = m_cache->store(printed, complaints, cpu);
    if (may_keep) m_cache->clean_up();
    const std::string output = end.code != 0 ? printed + complaints : std::string();
    const bool out_of_memory = !m_grant.set_back() && ended_for_memory(end.code, end.signal, output);
    // A compile that finished before our kill counts as done.
    const bool again = m_grant.set_back() && end.code != 0;
    const bool last = m_try + 1 >= k_most_tries;
    const Message verdict = m_grant.done(
        {Word::done,
         {{"exit", std::to_string(end.code)},
          {"oom", out_of_memory ? "1" : "0"},
          {"set_back", again ? "1" : "0"},
          {"last", last ? "1" : "0"},
          {"cache", std::string(enum_name(end.code == 0 ? use : CacheUse::none))},
          {"cache_why", m_cache ? m_cache->why().substr(0, 500) : ""},
          {"parts_why", m_parts_why.substr(0, 500)},
          {"remote_failed", m_cache && m_cache->remote_failed() ? "1" : "0"},
          {"maxrss", std::to_string(end.largest_process)},
          {"cpu", std::to_string(cpu)},
          {"milliseconds", std::to_string(there ? static_cast<std::uint64_t>(there->seconds * 1000) : 0)}}},
        end.code != 0);
    if (again) {
      remove_output();
      m_alone = m_alone || ++set_backs >= k_most_set_backs;
      continue;
    }
    const bool lacked_memory = out_of_memory || verdict.flag("oom");
    if (end.code != 0 && lacked_memory && !last) {
      remove_output();
      ++m_try;
      m_alone = true;
      m_need = std::max(m_need, verdict.number("peak") / 2 * 3);
      continue;
    }
    if (child) {
      child->show_output();
    } else {
      sys::write_standard(sys::Stream::output, printed);
      sys::write_standard(sys::Stream::errors, complaints);
    }
    if (end.code != 0 && lacked_memory) {
      remove_output();
      std::fprintf(stderr,
                   "wheelsmith: %s does not fit into memory: running alone, it was killed at %s; the limit is %s\n",
                   printable(m_command.name()).c_str(), human_bytes(verdict.number("peak")).c_str(),
                   human_bytes(verdict.number("limit")).c_str());
    }
    // The caller must see how the compiler ended, a crash as a crash; but not that we killed an earlier attempt.
    if (end.signal != 0 && end.signal != SIGKILL) {
      const rlimit no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      ::signal(end.signal, SIG_DFL);
      ::raise(end.signal);
    }
    return end.code;
  }
}

}  // namespace wheelsmith::governor
