#include <sys/mman.h>

#include <chrono>

#include "sys/page_trimmer.h"

namespace wheelsmith::sys {

namespace {

// Two threads read well under a gigabyte per second: some ten megabytes between two rounds.
constexpr std::chrono::milliseconds k_interval(15);
constexpr std::uint64_t k_worth_it = 64'000'000;

}  // namespace

PageTrimmer::PageTrimmer(Bytes mapping) : m_mapping(mapping) {
  if (mapping.size() >= k_worth_it) m_thread = std::thread([this] { work(); });
}

PageTrimmer::~PageTrimmer() {
  {
    const std::lock_guard lock(m_mutex);
    m_done = true;
  }
  m_wake.notify_all();
  if (m_thread.joinable()) m_thread.join();
}

void PageTrimmer::work() {
  std::unique_lock lock(m_mutex);
  while (!m_wake.wait_for(lock, k_interval, [this] { return m_done; })) {
    // Only advice: if it fails, memory use is the same as without it.
    (void)::madvise(const_cast<std::uint8_t*>(m_mapping.data()), m_mapping.size(), MADV_DONTNEED);
  }
}

}  // namespace wheelsmith::sys
