#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

// Which step is next. A value type without clock, process or file: it is told the graph, then what happened, and
// answers what to do. Whoever runs the steps (one machine, a cluster, a test) is the caller's business.
//
// A step is ready when every step it needs has ended, well or, where the edge is optional, badly. Of the ready ones
// those that are in the store come first, then the most urgent. A step that can no longer be built is skipped at once,
// and so is what needs it.

namespace wheelsmith::run {

class Scheduler {
 public:
  struct Need {
    std::size_t step = 0;
    bool optional = false;
  };
  struct Node {
    std::vector<Need> needs{};
    double urgency = 0;     // the more, the earlier
    bool cached = false;    // its wheel is in the store
    bool skipped = false;   // the plan leaves it out
    bool optional = false;  // its failure is no failure of the whole
  };
  struct Options {
    bool keep_going = false;   // after a failure, go on with what does not need the failed step
    unsigned most_losses = 2;  // how often a step that got lost is started again
  };

  enum class Cause : std::uint8_t { planned, need_failed, another_failed, cancelled };
  struct Decision {
    enum class Kind : std::uint8_t { start, take_cached, skip } kind = Kind::start;
    std::size_t step = 0;
    Cause cause = Cause::planned;  // skip
    std::size_t culprit = 0;       // skip: the step that it needs and that was not built
  };

  // Needs must lie before the steps that have them.
  Scheduler(std::vector<Node> nodes, Options options);

  // The next thing to do; nothing until something else happens. `room`: how many more steps could be started now.
  // Whatever it answers counts as done, but for `start`, which ends by one of the events below.
  std::optional<Decision> next(std::size_t room);

  // Events.
  void succeeded(std::size_t step);
  void failed(std::size_t step);
  // A step that was to be taken from the store is not there any more: it is built instead.
  void not_cached(std::size_t step);
  // Nobody knows what became of a started step (its machine died). Whether it will be started again; if not, it has
  // failed.
  bool lost(std::size_t step);
  // Nothing is started any more; what runs is the caller's to end.
  void cancel() { m_cancelled = true; }

  [[nodiscard]] bool done() const { return m_left == 0; }
  [[nodiscard]] std::size_t running() const { return m_running; }
  // Steps that are still to be compiled, running ones included.
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

  // Nothing new is started.
  [[nodiscard]] bool stopping() const { return m_cancelled || (m_failed && !m_options.keep_going); }
  void end(std::size_t step, State state);
  void make_ready(std::size_t step);
  Decision skip(std::size_t step, Cause cause, std::size_t culprit);

  Options m_options;
  std::vector<Node> m_nodes;
  std::vector<State> m_states;
  std::vector<std::size_t> m_unmet;                 // needs that have not ended
  std::vector<std::vector<std::size_t>> m_needers;  // steps that need it
  std::vector<unsigned> m_losses;
  std::priority_queue<Ready> m_ready;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> m_ready_cached;
  std::deque<Decision> m_skips;  // found, not told yet
  std::size_t m_first_waiting = 0;
  std::size_t m_left = 0, m_running = 0, m_builds_left = 0;
  bool m_failed = false, m_cancelled = false;
};

}  // namespace wheelsmith::run
