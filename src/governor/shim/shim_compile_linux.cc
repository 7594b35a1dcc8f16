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
#include "governor/server/sampler.h"
#include "governor/shim/shim.h"
#include "governor/shim/shim_child.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/foreground.h"
#include "sys/terminal.h"

// One compile. The build system sees only its last attempt.

namespace wheelsmith::governor {

namespace {

constexpr double k_patience = 20;     // for a reachable governor
constexpr int k_silence_ms = 30'000;  // a governor silent for this long counts as absent; it sends every 5 s
constexpr int k_probe_ms = 500;       // for one that was silent: it answers an urgent request at once
constexpr double k_probe_every = 10;
constexpr useconds_t k_adoption_us = 700'000;  // tick() looks for a new governor every 0.5 s
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
  std::vector<std::string> digests;
  for (const std::string& source : m_command.sources) digests.push_back(content_digest(source, m_size));
  for (const std::string& object : m_command.objects) m_size += file_size(object);
  m_unit = unit_id(m_command, digests);
  m_family = family_of(m_command);
}

Message Shim::question(Word word) const {
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
           {"hurry", m_hurry ? "1" : "0"},
           {"alone", m_alone ? "1" : "0"}}};
}

void Shim::note_silence() const {
  try {
    sys::write_file(silence_note(), fmt::format("{:.3f}\n", now()));
  } catch (const Error&) {  // full or read-only disk: the next shim waits, too
  }
}

int Shim::patience_ms() {
  const auto text = sys::read_file_if_possible(silence_note(), 100);
  if (!text) return k_silence_ms;
  const double noted = std::strtod(text->c_str(), nullptr);
  const double age = now() - noted;
  if (age >= 0 && age < k_probe_every) return 0;
  note_silence();  // others need not ask meanwhile
  m_hurry = true;
  return k_probe_ms;
}

// False when no governor is available.
bool Shim::get_grant() {
  int patience = patience_ms();
  if (patience == 0) return false;
  const double until = now() + k_patience;
  double give_up = until;
  bool lost = false;
  while (now() < give_up) {
    if (!m_connection.is_open()) {
      m_connection = connect_or_start(m_run, k_patience);
      // Running compiles report to a new governor first: otherwise it would admit us beside them.
      if (lost) ::usleep(k_adoption_us);
    }
    if (!m_connection.send(question(Word::ask))) continue;
    for (;;) {
      Message answer;
      const Connection::Got got = m_connection.receive(answer, patience);
      if (got == Connection::Got::nothing) {
        note_silence();
        return false;
      }
      if (got == Connection::Got::end) break;
      if (std::exchange(m_hurry, false)) ::unlink(silence_note().c_str());
      patience = k_silence_ms;
      give_up = now() + k_patience;  // any message shows that it is alive
      if (answer.word == Word::refused) return false;
      if (answer.word != Word::grant) continue;
      m_threads = static_cast<unsigned>(std::clamp<std::uint64_t>(answer.number("threads"), 1, 1024));
      m_node = answer.text("node");
      return true;
    }
    m_connection.close();
    lost = true;
    ::usleep(20'000);
  }
  return false;
}

// While the compiler runs: a preemption notice, or the end of the governor. In the latter case paused processes are
// resumed, and the next governor is told about this compile.
const sys::Fd* Shim::watch() {
  Message message;
  for (;;) {
    const Connection::Got got = m_connection.receive(message, 0);
    if (got == Connection::Got::nothing) return &m_connection.fd();
    if (got == Connection::Got::message) {
      m_set_back = m_set_back || message.word == Word::set_back;
      continue;
    }
    if (!m_set_back) signal_tree(::getpid(), SIGCONT);
    m_connection.close();
    return nullptr;
  }
}

// While there is no connection. A second or two after its predecessor a new governor appears: some waiting shim has
// started it.
const sys::Fd* Shim::tick() {
  if (!m_connection.is_open() && ++m_lost % 5 == 0) {
    m_connection = connect_to(m_run.runtime);
    if (m_connection.is_open()) m_connection.send(question(Word::adopt));
  }
  return &m_connection.fd();
}

std::vector<std::string> Shim::granted_argv() const {
  std::vector<std::string> argv = m_argv;
  argv.front() = m_real;
  if (m_command.kind != Kind::cuda || m_real.empty() || base_name(m_real) != "nvcc") return argv;
  const bool said = m_command.threads != 0;
  return said || m_threads > 1 ? with_threads(argv, m_threads) : argv;
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
  m_connection.close();
  std::vector<std::string> argv = m_argv;
  argv.front() = m_real;
  const auto environment = environment_below(own_environment(), m_shims, std::string(k_passed_variable) + "=1");
  const int error = sys::become_program(m_real, argv, environment);
  std::fprintf(stderr, "wheelsmith: %s: %s\n", printable(m_real).c_str(), std::strerror(error));
  return 127;
}

void Shim::report_hit() {
  m_connection.send({Word::done,
                     {{"exit", "0"},
                      {"cache", std::string(enum_name(CacheUse::hit))},
                      {"remote", m_cache->was_remote() ? "1" : "0"}}});
}

int Shim::run() {
  identify();
  m_cache = ShimCache::find(m_shims, m_real, m_argv, m_command, m_run);
  unsigned set_backs = 0;
  CacheUse use = CacheUse::none;
  for (;;) {
    m_set_back = false;
    // A unit already looked up, or one that must run alone, will certainly compile.
    if (m_cache && use == CacheUse::none && !m_alone) {
      m_phase = Phase::looking;
      if (!get_grant()) return run_ungoverned();
      use = m_cache->look();
      if (use == CacheUse::hit) {
        report_hit();
        return 0;
      }
    }
    m_phase = Phase::compiling;
    if (!get_grant()) return run_ungoverned();
    auto environment =
        environment_below(own_environment(), m_shims, fmt::format("{}={}", k_grant_variable, ::getpid()));
    const bool may_keep = use == CacheUse::miss;
    if (may_keep) environment = m_cache->environment(std::move(environment));
    const std::vector<std::string> argv = may_keep ? m_cache->argv(granted_argv()) : granted_argv();
    std::optional<ShimChild> child;
    std::optional<NodeResult> there;
    sys::ForegroundExit end;
    if (!m_node.empty()) {
      there = run_elsewhere(argv, environment);
      if (!there) {
        remove_output();
        if (may_keep) m_cache->clean_up();
        continue;
      }
      end = there->exit;
    } else {
      child.emplace(m_real, argv, environment, may_keep);
      end = child->wait(&m_connection.fd(), [this] { return watch(); }, [this] { return tick(); });
      if (m_connection.is_open()) watch();
    }
    const std::string printed = there ? there->output : child->output();
    const std::string complaints = there ? there->errors : child->errors();
    if (may_keep && end.code == 0) use = m_cache->store(printed, complaints);
    if (may_keep) m_cache->clean_up();
    const std::string output = end.code != 0 ? printed + complaints : std::string();
    const bool out_of_memory = !m_set_back && ended_for_memory(end.code, end.signal, output);
    // A compile that finished before our kill counts as done.
    const bool again = m_set_back && end.code != 0;
    const bool last = m_try + 1 >= k_most_tries;
    Message verdict;
    m_connection.send(
        {Word::done,
         {{"exit", std::to_string(end.code)},
          {"oom", out_of_memory ? "1" : "0"},
          {"set_back", again ? "1" : "0"},
          {"last", last ? "1" : "0"},
          {"cache", std::string(enum_name(end.code == 0 ? use : CacheUse::none))},
          {"cache_why", m_cache ? m_cache->why().substr(0, 500) : ""},
          {"remote_failed", m_cache && m_cache->remote_failed() ? "1" : "0"},
          {"maxrss", std::to_string(end.largest_process)},
          {"milliseconds", std::to_string(there ? static_cast<std::uint64_t>(there->seconds * 1000) : 0)}}});
    while (end.code != 0 && m_connection.is_open() && m_connection.receive(verdict, 5000) == Connection::Got::message &&
           verdict.word != Word::verdict) {}
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
