#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"

// Decides which compiles run. A state machine without clock, files or processes: it receives facts and events and
// returns actions. See the essay in admission.cc.

namespace wheelsmith::governor {

// A limited amount of memory that several processes share: the machine's, a cgroup's, a user's limit for a build.
struct Pool {
  std::uint64_t limit = 0;
  std::uint64_t available = 0;  // free, or reclaimable (page cache)
  bool pressed = false;         // some processes are stalled on memory now
};

enum class Why { nothing, cores, jobs, memory, pressure, alone };
inline constexpr std::size_t k_reasons = 6;
std::string_view to_string(Why why);

struct Ask {
  std::uint64_t id = 0;
  std::string build;
  std::vector<std::string> pools;
  std::uint64_t memory = 0;             // predicted need
  std::uint64_t memory_per_thread = 0;  // for each additional thread
  double seconds = 0;                   // predicted time
  unsigned threads = 1;                 // maximum it can use
  bool alone = false;                   // nothing else may run in its pools
  bool sure = false;                    // the prediction is based on measurements of it or similar units
  std::uint64_t group = 0;              // of the parts of one compile; 0: it is whole
};

struct Action {
  enum class Kind { start, pause, resume, set_back };
  Kind kind = Kind::start;
  std::uint64_t id = 0;
  std::uint64_t memory = 0;  // start: the reservation
  unsigned threads = 1;
  friend bool operator==(const Action&, const Action&) = default;
};

class Admission {
 public:
  explicit Admission(unsigned cores) : m_cores(cores) {}

  void set_cores(unsigned cores) { m_cores = cores; }
  void set_pool(const std::string& name, const Pool& pool) { m_pools[name] = pool; }
  void remove_pool(const std::string& name) { m_pools.erase(name); }
  // Maximum concurrent compiles of a build; 0: one per core.
  void set_jobs(const std::string& build, unsigned jobs) { m_jobs[build] = jobs; }

  void ask(const Ask& ask, double now);
  // A compile granted by a previous governor: it runs, whatever the numbers say.
  void adopt(const Ask& ask, double now);
  // Updates the prediction of a waiting compile.
  void expect(std::uint64_t id, std::uint64_t memory, double seconds, bool sure);
  // It has finished, disappeared, or withdrawn.
  void finish(std::uint64_t id);
  // A compile in parts has ended.
  void end_group(std::uint64_t group) { m_begun.erase(group); }
  // A running compile needs no more than this from now on.
  void lower(std::uint64_t id, std::uint64_t bytes);
  // The current memory use of a running compile.
  void set_used(std::uint64_t id, std::uint64_t bytes);

  // The actions to take now. All of them count as done.
  std::vector<Action> decide(double now);

  struct Waiting {
    Ask ask;
    double since = 0, looked_at = 0;
    Why why = Why::nothing;
    std::array<double, k_reasons> waited{};  // seconds per reason
    bool small_turn = false;                 // goes before longer units of its build after waiting too long
  };
  struct Running {
    Ask ask;
    std::uint64_t reserved = 0, used = 0, peak = 0;
    std::uint64_t reserved_most = 0;  // before it was lowered
    double started = 0, waited = 0, paused_at = 0, paused_for = 0;
    Why why = Why::nothing;  // the reason it waited longest
    unsigned threads = 1;
    bool paused = false, set_back = false;
    bool started_early = false;  // before there was room for its peak
    bool early = false;          // and there still is none
  };
  [[nodiscard]] const std::map<std::uint64_t, Running>& running() const { return m_running; }
  [[nodiscard]] const std::map<std::uint64_t, Waiting>& waiting() const { return m_waiting; }

 private:
  using Group = std::vector<Running*>;

  [[nodiscard]] Group in_pool(const std::string& pool);  // oldest first, an early start last
  void hold_down(const std::string& name, double now, std::vector<Action>& actions);
  void resume(double now, std::vector<Action>& actions);
  void start(double now, std::vector<Action>& actions);
  [[nodiscard]] Why obstacle(const Ask& ask, unsigned threads, unsigned free_cores) const;
  [[nodiscard]] bool fits(const Ask& ask, unsigned threads) const;
  // Whether the remaining growth of everything in its pools fits, with `more` to spare in each.
  [[nodiscard]] bool has_room(const Running& candidate, std::uint64_t (*more)(const Pool&)) const;
  [[nodiscard]] bool may_start_early(const Ask& ask) const;
  void start_one(Waiting& waiting, unsigned threads, bool early, double now, std::vector<Action>& actions);

  // fair_share.cc: builds take turns. The waiting units of one build, next to start first.
  struct Queue {
    std::string build;
    double share = 0, service = 0;
    std::uint64_t first_id = 0;  // of its first request
    std::vector<Waiting*> units{};
    std::size_t next = 0;
  };
  [[nodiscard]] std::vector<Queue> queues(double now);
  void sort_units(std::vector<Waiting*>& units, bool small_may, double now) const;
  // The next unit to consider, from the build with the least running; nullptr when all were considered.
  static Waiting* next_turn(std::vector<Queue>& queues);
  // After a start.
  void update_share(std::vector<Queue>& queues, const std::string& build) const;
  void note_start(const Waiting& waiting, double now);
  void open_account(const std::string& build, double now);
  void charge(double now);
  [[nodiscard]] std::vector<std::string> contended_pools() const;
  // A build's share of the cores, or of the memory in these pools, from 0 to 1.
  [[nodiscard]] double share_of(const std::string& build, const std::vector<std::string>& pools) const;

  unsigned m_cores;
  std::map<std::string, Pool> m_pools;
  std::map<std::string, unsigned> m_jobs;
  std::map<std::uint64_t, Waiting> m_waiting;
  std::map<std::uint64_t, Running> m_running;
  std::set<std::uint64_t> m_begun;  // groups of which a part was started
  // A build's past use: its share times seconds.
  struct Account {
    double service = 0;
    double next_small = 0;  // when a small unit may next go before long ones
  };
  std::map<std::string, Account> m_accounts;
  double m_charged_at = 0;
};

// Kept free for unexpected growth.
std::uint64_t margin(const Pool& pool);
// How long, in seconds, a unit may be passed by others of its build or by better-fitting ones.
double patience(const Ask& ask);

}  // namespace wheelsmith::governor

template <>
struct wheelsmith::EnumNames<wheelsmith::governor::Why> {
  static constexpr std::array list = {"", "cores", "jobs", "memory", "pressure", "alone"};
};
