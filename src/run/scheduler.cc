#include "run/scheduler.h"

#include <utility>

namespace wheelsmith::run {

Scheduler::Scheduler(std::vector<Node> nodes, Options options)
    : m_options(options),
      m_nodes(std::move(nodes)),
      m_states(m_nodes.size(), State::waiting),
      m_unmet(m_nodes.size()),
      m_needers(m_nodes.size()),
      m_losses(m_nodes.size()),
      m_left(m_nodes.size()) {
  for (std::size_t i = 0; i < m_nodes.size(); ++i) {
    m_unmet[i] = m_nodes[i].needs.size();
    for (const Need& need : m_nodes[i].needs) m_needers[need.step].push_back(i);
    if (!m_nodes[i].cached && !m_nodes[i].skipped) ++m_builds_left;
  }
  for (std::size_t i = 0; i < m_nodes.size(); ++i) {
    if (m_nodes[i].skipped)
      m_skips.push_back({Decision::Kind::skip, i, Cause::planned, 0});
    else if (m_unmet[i] == 0)
      make_ready(i);
  }
}

void Scheduler::make_ready(std::size_t step) {
  m_states[step] = State::ready;
  if (m_nodes[step].cached)
    m_ready_cached.push(step);
  else
    m_ready.push({m_nodes[step].urgency, step});
}

// Ends a step and updates its dependents. Steps that can no longer be built are queued instead of visited recursively,
// so that a chain of many thousand steps does not overflow the stack.
void Scheduler::end(std::size_t step, State state) {
  m_states[step] = state;
  --m_left;
  for (const std::size_t needer : m_needers[step]) {
    --m_unmet[needer];
    if (m_states[needer] != State::waiting || m_nodes[needer].skipped) continue;
    bool hopeless = false;
    for (const Need& need : m_nodes[needer].needs) hopeless = hopeless || (need.step == step && !need.optional);
    if (state == State::bad && hopeless)
      m_skips.push_back({Decision::Kind::skip, needer, Cause::need_failed, step});
    else if (m_unmet[needer] == 0)
      make_ready(needer);
  }
}

Scheduler::Decision Scheduler::skip(std::size_t step, Cause cause, std::size_t culprit) {
  if (!m_nodes[step].cached && !m_nodes[step].skipped) --m_builds_left;
  end(step, State::bad);
  return {Decision::Kind::skip, step, cause, culprit};
}

std::optional<Scheduler::Decision> Scheduler::next(std::size_t room) {
  const auto is_open = [&](std::size_t step) {
    return m_states[step] == State::waiting || m_states[step] == State::ready;
  };
  while (!m_skips.empty()) {
    const Decision found = m_skips.front();
    m_skips.pop_front();
    if (is_open(found.step)) return skip(found.step, found.cause, found.culprit);
  }
  if (stopping()) {
    for (; m_first_waiting < m_nodes.size(); ++m_first_waiting) {
      if (is_open(m_first_waiting))
        return skip(m_first_waiting, m_cancelled ? Cause::cancelled : Cause::another_failed, 0);
    }
    return std::nullopt;
  }
  while (!m_ready_cached.empty()) {
    const std::size_t step = m_ready_cached.top();
    m_ready_cached.pop();
    if (m_states[step] != State::ready) continue;
    m_states[step] = State::running;
    return Decision{.kind = Decision::Kind::take_cached, .step = step};
  }
  while (room > 0 && !m_ready.empty()) {
    const std::size_t step = m_ready.top().step;
    m_ready.pop();
    if (m_states[step] != State::ready) continue;
    m_states[step] = State::running;
    ++m_running;
    return Decision{.kind = Decision::Kind::start, .step = step};
  }
  return std::nullopt;
}

void Scheduler::succeeded(std::size_t step) {
  if (!m_nodes[step].cached) {
    --m_running;
    --m_builds_left;
  }
  end(step, State::good);
}

void Scheduler::failed(std::size_t step) {
  if (!m_nodes[step].cached) {
    --m_running;
    --m_builds_left;
  }
  m_failed = m_failed || !m_nodes[step].optional;
  end(step, State::bad);
}

void Scheduler::not_cached(std::size_t step) {
  m_nodes[step].cached = false;
  ++m_builds_left;
  make_ready(step);
}

bool Scheduler::lost(std::size_t step) {
  if (stopping() || ++m_losses[step] > m_options.most_losses) {
    failed(step);
    return false;
  }
  --m_running;
  make_ready(step);
  return true;
}

}  // namespace wheelsmith::run
