#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "governor/parts/graph.h"
#include "governor/shim/part_task.h"
#include "sys/process/forked.h"

// The parts of one compile, each in its process. Only src/governor includes this.

namespace wheelsmith::governor {

struct PartsOutcome {
  int code = 0;
  std::string output, errors;  // as the compiler itself would have printed
  unsigned parts = 0, hits = 0;
  std::uint64_t cpu_ms = 0, saved_ms = 0;  // CPU time of the parts that ran; that hits saved
  bool ungoverned = false;
  std::vector<std::string> headers{};  // that the code of GPUs needs, where it does not come from a preprocessor
  // A part ended in a way that only the compiler itself can report (a crash): it is to run as a whole.
  bool undecided = false;
};

// How the compiler lists dependencies: what its options say.
struct PartDependencies {
  std::string target;
  bool phony = false;
};

class PartsRun {
 public:
  PartsRun(const PartGraph& graph, PartSite site, PartDependencies dependencies);
  // Runs all of them; on success the result is at its place, on failure nothing is.
  PartsOutcome run();

 private:
  enum class State { waiting, running, done, failed, skipped };
  struct Step {
    State state = State::waiting;
    std::vector<std::size_t> after;  // the parts that write what it reads
    std::unique_ptr<sys::ForkedTask> task;
    PartResult result;
  };
  void start_ready();
  void start(std::size_t index);
  bool collect();  // false when nothing has ended
  void wait();
  void write_dependencies(std::size_t index);
  [[nodiscard]] std::size_t first_failed() const;
  PartsOutcome conclude();
  [[nodiscard]] std::string shown(std::string text) const;

  const PartGraph& m_graph;
  PartSite m_site;
  PartDependencies m_dependencies;
  std::vector<Step> m_steps;
};

}  // namespace wheelsmith::governor
