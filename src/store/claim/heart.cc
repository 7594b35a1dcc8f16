#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "store/claim/claim.h"
#include "store/claim/generation.h"

namespace wheelsmith::store {

struct Heart::Beating {
  std::filesystem::path file;
  ClaimText text;
  bool stopped = false, lost = false;
  mutable std::mutex mutex;

  // A process that was stopped, or whose file server did not respond, may have lost its claim. A higher generation
  // shows this.
  void beat() {
    const std::lock_guard guard(mutex);
    if (stopped || lost) return;
    std::error_code ignored;
    if (const auto next = next_generation(file); !next.empty() && std::filesystem::exists(next, ignored)) {
      lost = true;
      return;
    }
    ++text.beat;
    const std::error_code error = sys::overwrite_start(file, to_text(text));
    // Other failures may be temporary; if not, another machine takes over the claim.
    if (error == std::errc::no_such_file_or_directory) lost = true;
  }
};

struct Heart::State {
  std::vector<std::weak_ptr<Beating>> all;
  std::mutex mutex;
  std::condition_variable wake;
  bool ending = false;
  std::thread thread;
};

std::chrono::milliseconds ClaimTiming::interval() const {
  return std::clamp(silence / 12, std::chrono::milliseconds(20), std::chrono::milliseconds(10'000));
}

Heart::Heart(ClaimTiming timing) : m_timing(timing), m_state(std::make_unique<State>()) {}

Heart::~Heart() {
  {
    const std::lock_guard guard(m_state->mutex);
    m_state->ending = true;
  }
  m_state->wake.notify_all();
  if (m_state->thread.joinable()) m_state->thread.join();
}

std::shared_ptr<Heart::Beating> Heart::start(std::filesystem::path file, ClaimText text) {
  auto beating = std::make_shared<Beating>();
  beating->file = std::move(file);
  beating->text = std::move(text);
  const std::lock_guard guard(m_state->mutex);
  std::erase_if(m_state->all, [](const auto& one) { return one.expired(); });
  m_state->all.push_back(beating);
  if (!m_state->thread.joinable()) m_state->thread = std::thread([this] { run(); });
  return beating;
}

ClaimText Heart::stop(Beating& beating) {
  const std::lock_guard guard(beating.mutex);
  beating.stopped = true;
  return beating.text;
}

bool Heart::is_lost(const Beating& beating) {
  const std::lock_guard guard(beating.mutex);
  return beating.lost;
}

void Heart::run() {
  std::unique_lock guard(m_state->mutex);
  while (!m_state->wake.wait_for(guard, m_timing.interval(), [this] { return m_state->ending; })) {
    const std::vector<std::weak_ptr<Beating>> all = m_state->all;
    guard.unlock();
    for (const auto& one : all) {
      if (const auto beating = one.lock()) beating->beat();
    }
    guard.lock();
  }
}

}  // namespace wheelsmith::store
