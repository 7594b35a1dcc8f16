// Deflates members in parallel and writes them in order (in_order.h). A member counts twice its size while in progress
// (contents and stream), then the size of its stream.

#include <limits>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "zip/in_order.h"
#include "zip/writer.h"

namespace wheelsmith::zip {

class Writer::Line {
 public:
  Line(Writer& writer, const std::vector<NewMember>& members)
      : m_writer(writer), m_members(members), m_order(members.size(), writer.m_options.memory) {}

  void work(std::size_t i) {
    if (!m_order.enter(i, cost(i))) return;
    try {
      Packed packed = fetch(i);
      const std::uint64_t held = packed.data.bytes.size();
      m_order.hand_over(i, std::move(packed), cost(i), held, [this](std::size_t next, const Packed& ready) {
        m_writer.write(m_members[next].name, m_members[next].mode, ready);
      });
    } catch (...) {
      m_order.fail(i);
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

  Writer& m_writer;
  const std::vector<NewMember>& m_members;
  InOrder<Packed> m_order;
};

void Writer::add_all(const std::vector<NewMember>& members) {
  for (const NewMember& member : members) claim(member.name);
  Line line(*this, members);
  parallel_for(members.size(), m_options.threads, [&](std::size_t i) { line.work(i); });
}

}  // namespace wheelsmith::zip
