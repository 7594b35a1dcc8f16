#include "store/claim/claim.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "store/claim/generation.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

// Mutual exclusion between machines that share nothing but a folder. Network file systems guarantee little: creating a
// file that must not exist (O_EXCL) succeeds for one client, and opening a file shows what was written before the last
// close. Locks may be missing, clocks differ, and a machine may die at any moment.
//
// A claim is a folder of numbered files, the generations. The highest one decides: "held" while its counter advances,
// "free" after a release. Taking the claim means creating the next generation, which is a compare-and-swap: of several
// processes that saw generation 7 end, one creates generation 8. Nothing is ever taken away from a holder by removing
// its file, so two processes that judge the same holder dead cannot both win.
//
// A holder is judged dead by the observer's own clock: the bytes of its file did not change for `silence`. Clocks are
// not compared. A holder on the same machine is known to be dead at once, by its process number and start time.
//
// The last generation stays when it is released. If it were removed, a process that had listed the folder before would
// create the next generation while another begins with the first.
//
// Readers create files of their own and then check for an exclusive holder; an exclusive holder takes its generation
// and then checks for readers. The one that comes second sees the other.

namespace wheelsmith::store {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds k_first_pause{20}, k_longest_pause{1000};
constexpr std::int64_t k_certainly_dead_seconds = 86'400;
constexpr std::uint64_t k_claim_limit = 1 << 16;

std::optional<std::string> read_claim(const std::filesystem::path& file) {
  return sys::read_file_if_possible(file, k_claim_limit);
}

bool is_day_old(const std::filesystem::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return false;
  try {
    return sys::file_system_seconds(file.parent_path()) - status.st_mtim.tv_sec > k_certainly_dead_seconds;
  } catch (const Error&) {
    return false;  // no claims in a folder that is not writable
  }
}

// Judges files by whether their bytes change between two reads.
class Observer {
 public:
  explicit Observer(const ClaimTiming& timing) : m_timing(timing) {}

  enum class State { free, held, dead };
  State look(const std::filesystem::path& file) {
    // The clock is read first: an observer that was stopped for an hour then reads a counter that advanced.
    const Clock::time_point now = Clock::now();
    const auto text = read_claim(file);
    if (!text) {
      m_seen.erase(file);
      return State::free;
    }
    const auto claim = parse_claim(*text);
    if (claim && !claim->held) return State::free;
    if (claim) m_holder = fmt::format("{} (process {})", printable(claim->holder.host), claim->holder.pid);
    if (claim && sys::has_ended(claim->holder)) return State::dead;
    auto& seen = m_seen[file];
    if (seen.text != *text || seen.since == Clock::time_point()) {
      seen = {*text, now};
      return State::held;
    }
    // A holder may be configured to advance its counter more slowly.
    const std::chrono::milliseconds slow(claim ? claim->interval * 6 : 0);
    return now - seen.since >= std::max(m_timing.silence, slow) ? State::dead : State::held;
  }

  [[nodiscard]] const std::string& holder() const { return m_holder; }

 private:
  struct Seen {
    std::string text;
    Clock::time_point since;
  };
  ClaimTiming m_timing;
  std::map<std::filesystem::path, Seen> m_seen;
  std::string m_holder = "another process";
};

ClaimText new_text(const ClaimTiming& timing) {
  ClaimText text;
  text.token = sys::random_hex(16);
  text.interval = static_cast<std::uint64_t>(timing.interval().count());
  text.holder = sys::own_identity();
  return text;
}

void make_claim_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) sys::throw_sys_error(error.value(), "create", folder);
}

// False if the file exists.
bool create_claim(const std::filesystem::path& file, const ClaimText& text) {
  std::error_code error = sys::create_exclusively(file, to_text(text));
  if (error == std::errc::no_such_file_or_directory) {  // another process has just removed it as unused
    make_claim_folder(file.parent_path());
    error = sys::create_exclusively(file, to_text(text));
  }
  if (error == std::errc::file_exists) return false;
  if (error) sys::throw_sys_error(error.value(), "create", file);
  return true;
}

void pause_for(std::chrono::milliseconds& pause, const std::filesystem::path& folder) {
  if (sys::interrupted()) throw Error("interrupted while waiting for the claim " + printable(folder.string()));
  std::this_thread::sleep_for(pause);
  pause = std::min(pause * 2, k_longest_pause);
}

}  // namespace

struct Claim::Taker {
  std::filesystem::path folder;
  std::shared_ptr<Heart> heart;
  bool once = false;  // do not wait
  Observer observer{heart->timing()};

  [[nodiscard]] bool is_free(const std::filesystem::path& file) {
    const Observer::State state = observer.look(file);
    return state != Observer::State::held || (once && is_day_old(file));
  }

  // Creates the next generation if no process holds the last one.
  std::optional<Claim> try_generation() {
    make_claim_folder(folder);
    const ClaimNames names = claim_names(folder);
    const std::uint64_t last = names.generations.empty() ? 0 : names.generations.back();
    if (last != 0 && !is_free(folder / generation_name(last))) return std::nullopt;
    const std::filesystem::path file = folder / generation_name(last + 1);
    const ClaimText text = new_text(heart->timing());
    if (!create_claim(file, text)) return std::nullopt;
    // The listing may be outdated: other processes may have taken and released the claim since.
    const ClaimNames after = claim_names(folder);
    if (!after.generations.empty() && after.generations.back() != last + 1) {
      ::unlink(file.c_str());
      return std::nullopt;
    }
    for (const std::uint64_t old : after.generations) {
      if (old < last) ::unlink((folder / generation_name(old)).c_str());
    }
    return Claim(heart, heart->start(file, text), file, true);
  }

  // Whether no reader is left. Removes files of dead readers.
  bool no_readers() {
    bool none = true;
    for (const std::string& name : claim_names(folder).readers) {
      if (is_free(folder / name))
        ::unlink((folder / name).c_str());
      else
        none = false;
    }
    return none;
  }
};

Claim::Claim(std::shared_ptr<Heart> heart, std::shared_ptr<Heart::Beating> beating, std::filesystem::path file,
             bool alone)
    : m_heart(std::move(heart)), m_beating(std::move(beating)), m_file(std::move(file)), m_alone(alone) {}

std::optional<Claim> Claim::try_take(const std::filesystem::path& folder, const std::shared_ptr<Heart>& heart) {
  Taker taker{folder, heart, true};
  std::optional<Claim> claim = taker.try_generation();
  if (claim && !taker.no_readers()) return std::nullopt;
  return claim;
}

Claim Claim::take(const std::filesystem::path& folder, const std::shared_ptr<Heart>& heart, const OnWait& on_wait) {
  Taker taker{folder, heart};
  std::chrono::milliseconds pause = k_first_pause;
  bool told = false;
  const auto wait = [&] {
    if (on_wait && !std::exchange(told, true)) on_wait(taker.observer.holder());
    pause_for(pause, folder);
  };
  std::optional<Claim> claim;
  while (!(claim = taker.try_generation())) wait();
  while (!taker.no_readers()) wait();
  return std::move(*claim);
}

Claim Claim::shared(const std::filesystem::path& folder, const std::shared_ptr<Heart>& heart) {
  Taker taker{folder, heart};
  std::chrono::milliseconds pause = k_first_pause;
  for (;;) {
    make_claim_folder(folder);
    const ClaimText text = new_text(heart->timing());
    const std::filesystem::path file = folder / ("r-" + text.token);
    if (!create_claim(file, text)) continue;
    Claim reader(heart, heart->start(file, text), file, false);
    const ClaimNames names = claim_names(folder);
    if (names.generations.empty()) return reader;
    const std::filesystem::path last = folder / generation_name(names.generations.back());
    switch (taker.observer.look(last)) {
      case Observer::State::free: return reader;
      // The next generation closes the dead one, so that its holder cannot resume beside a reader.
      case Observer::State::dead:
        if (taker.try_generation()) return reader;
        break;
      case Observer::State::held: break;
    }
    reader.release();
    pause_for(pause, folder);
  }
}

void Claim::release() noexcept {
  const std::shared_ptr<Heart::Beating> beating = std::exchange(m_beating, nullptr);
  if (!beating) return;
  ClaimText text = Heart::stop(*beating);
  if (!m_alone) {
    ::unlink(m_file.c_str());
    return;
  }
  if (Heart::is_lost(*beating)) return;
  text.held = false;
  // A failure leaves a claim whose counter does not advance; another process takes it over.
  (void)sys::overwrite_start(m_file, to_text(text));
}

Claim::~Claim() { release(); }
Claim::Claim(Claim&& other) noexcept = default;

Claim& Claim::operator=(Claim&& other) noexcept {
  if (this == &other) return *this;
  release();
  m_heart = std::move(other.m_heart);
  m_beating = std::move(other.m_beating);
  m_file = std::move(other.m_file);
  m_alone = other.m_alone;
  return *this;
}

bool Claim::is_held() const { return m_beating && !Heart::is_lost(*m_beating); }

void remove_old_claims(const std::filesystem::path& parent, std::int64_t seconds) {
  std::error_code error;
  if (!std::filesystem::is_directory(parent, error)) return;
  const std::int64_t now = sys::file_system_seconds(parent);
  for (std::filesystem::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    const std::filesystem::path folder = at->path();
    const ClaimNames names = claim_names(folder);
    const auto is_old = [&](const std::filesystem::path& file) {
      struct stat status{};
      return ::lstat(file.c_str(), &status) != 0 || now - status.st_mtim.tv_sec > seconds;
    };
    std::error_code ignored;
    bool old = is_old(folder);
    for (const std::uint64_t number : names.generations) old = old && is_old(folder / generation_name(number));
    if (!old || !names.readers.empty()) continue;
    for (const std::uint64_t number : names.generations) ::unlink((folder / generation_name(number)).c_str());
    std::filesystem::remove(folder, ignored);  // stays if something was created in it meanwhile
  }
}

}  // namespace wheelsmith::store
