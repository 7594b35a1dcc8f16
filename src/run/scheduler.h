#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

// Picks the next step. A value type without clock, processes or files: it receives the graph and then events, and
// returns decisions. How the steps run (on one machine, a cluster, in a test) is up to the caller.
//
// A step is ready when every dependency has ended: successfully or, for optional edges, in any way. Among ready steps,
// stored ones come first, then the most urgent. A step that can no longer be built is skipped at once, together with
// its dependents.

namespace wheelsmith::run {

class Scheduler {
 public:
  struct Need {
    std::size_t step = 0;
    bool optional = false;
  };
  struct Node {
    std::vector<Need> needs{};
    double urgency = 0;     // higher runs earlier
    bool cached = false;    // its wheel is in the store
    bool skipped = false;   // the plan skips it
    bool optional = false;  // its failure does not fail the build
  };
  struct Options {
    bool keep_going = false;   // after a failure, build the steps that do not depend on it
    unsigned most_losses = 2;  // how often to retry a lost step
  };

  enum class Cause : std::uint8_t { planned, need_failed, another_failed, cancelled };
  struct Decision {
    enum class Kind : std::uint8_t { start, take_cached, skip } kind = Kind::start;
    std::size_t step = 0;
    Cause cause = Cause::planned;  // skip
    std::size_t culprit = 0;       // skip: the dependency that was not built
  };

  // Dependencies must precede their dependents.
  Scheduler(std::vector<Node> nodes, Options options);

  // The next decision; nothing until another event arrives. `room`: how many more steps can be started now. Every
  // decision counts as done except `start`, which ends with one of the events below.
  std::optional<Decision> next(std::size_t room);

  // Events.
  void succeeded(std::size_t step);
  void failed(std::size_t step);
  // A step expected in the store is missing: build it instead.
  void not_cached(std::size_t step);
  // The outcome of a started step is unknown (its machine died). Returns whether to retry it; otherwise the step has
  // failed.
  bool lost(std::size_t step);
  // Starts nothing more; the caller ends running steps.
  void cancel() { m_cancelled = true; }

  [[nodiscard]] bool done() const { return m_left == 0; }
  [[nodiscard]] std::size_t running() const { return m_running; }
  // Steps that still have to be built, including running ones.
  [[nodiscard]] std::size_t builds_left() const { return m_builds_left; }

 private:
  enum class State : std::uint8_t { waiting, ready, running, good, bad };
  struct Ready {
    double urgency;
    std::size_t step;
    bool operator<(const Ready& other) const {
      return urgency != other.urgency ? urgency < other.urgency : step > other.step;
    }
  };

  // Starts nothing new.
  [[nodiscard]] bool stopping() const { return m_cancelled || (m_failed && !m_options.keep_going); }
  void end(std::size_t step, State state);
  void make_ready(std::size_t step);
  Decision skip(std::size_t step, Cause cause, std::size_t culprit);

  Options m_options;
  std::vector<Node> m_nodes;
  std::vector<State> m_states;
  std::vector<std::size_t> m_unmet;                 // dependencies that have not ended
  std::vector<std::vector<std::size_t>> m_needers;  // dependents
  std::vector<unsigned> m_losses;
  std::priority_queue<Ready> m_ready;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> m_ready_cached;
  std::deque<Decision> m_skips;  // not yet returned
  std::size_t m_first_waiting = 0;
  std::size_t m_left = 0, m_running = 0, m_builds_left = 0;
  bool m_failed = false, m_cancelled = false;
};

}  // namespace wheelsmith::run
