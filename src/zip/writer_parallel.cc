// Members deflated side by side and written in order.
//
// Each thread takes the next member, fetches and packs it, and lays the result down at its place; whoever lays down the
// one that the archive waits for writes it and all that are ready behind it. What is fetched, being packed or waiting
// to be written counts against a budget. The member that is next in order may always start, whatever is held: it is the
// only one whose end frees the others, so nothing can wait in a circle, and a member larger than the budget still goes.
// A member counts twice its size while it is worked on (contents and stream), then as much as its stream has.

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "zip/writer.h"

namespace wheelsmith::zip {

class Writer::Line {
 public:
  Line(Writer& writer, const std::vector<NewMember>& members)
      : m_writer(writer), m_members(members), m_done(members.size()) {}

  void work(std::size_t i) {
    if (!enter(i)) return;
    try {
      hand_over(i, fetch(i));
    } catch (...) {
      fail(i);
      throw;
    }
  }

 private:
  [[nodiscard]] std::uint64_t cost(std::size_t i) const {
    const std::uint64_t size = m_members[i].size;
    return size > std::numeric_limits<std::uint64_t>::max() / 4 ? size : 2 * size;
  }

  [[nodiscard]] Packed fetch(std::size_t i) const {
    try {
      return pack(m_members[i].open(), m_writer.m_options.level, Packing::smaller);
    } catch (const Error& error) {
      throw error.in(printable(m_members[i].name));
    }
  }

  // False when a member before it failed: then it will never be written.
  bool enter(std::size_t i) {
    std::unique_lock lock(m_mutex);
    const std::uint64_t budget = m_writer.m_options.memory;
    m_changed.wait(lock,
                   [&] { return m_failed_at < i || m_next == i || (m_held <= budget && cost(i) <= budget - m_held); });
    if (m_failed_at < i) return false;
    m_held += cost(i);
    return true;
  }

  void hand_over(std::size_t i, Packed packed) {
    const std::lock_guard lock(m_mutex);
    m_held = m_held - cost(i) + packed.data.bytes.size();
    m_done[i] = std::move(packed);
    for (; m_next < m_done.size() && m_done[m_next]; ++m_next) {
      m_writer.write(m_members[m_next].name, m_members[m_next].mode, *m_done[m_next]);
      m_held -= m_done[m_next]->data.bytes.size();
      m_done[m_next].reset();
    }
    m_changed.notify_all();
  }

  void fail(std::size_t i) {
    const std::lock_guard lock(m_mutex);
    m_failed_at = std::min(m_failed_at, i);
    m_changed.notify_all();
  }

  Writer& m_writer;
  const std::vector<NewMember>& m_members;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::optional<Packed>> m_done;
  std::size_t m_next = 0;  // the first that is not written yet
  std::size_t m_failed_at = std::numeric_limits<std::size_t>::max();
  std::uint64_t m_held = 0;
};

void Writer::add_all(const std::vector<NewMember>& members) {
  for (const NewMember& member : members) claim(member.name);
  Line line(*this, members);
  parallel_for(members.size(), m_options.threads, [&](std::size_t i) { line.work(i); });
}

}  // namespace wheelsmith::zip
