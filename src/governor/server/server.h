#pragma once

#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "governor/model/admission.h"
#include "governor/model/node_rooms.h"
#include "governor/model/tail.h"
#include "governor/model/unit_journal.h"
#include "governor/record.h"
#include "governor/server/connection.h"
#include "governor/server/nodes_file.h"
#include "governor/server/pools.h"
#include "governor/server/run_file.h"
#include "governor/server/sampler.h"
#include "sys/io/socket.h"
#include "sys/process/foreground.h"

// The governor itself. See the essay in server_linux.cc. Only src/governor includes this.

namespace wheelsmith::governor {

class Server {
 public:
  // Listens in the runtime folder, whose lock the caller holds. `cores` 0: the machine's. Throws Error.
  Server(std::filesystem::path runtime, unsigned cores);
  // Runs until it has been unused for a while.
  void run();

 private:
  // A governed build.
  struct Build {
    RunFile run;
    UnitJournal* journal = nullptr;
    double memory_noted_at = 0, looked_for_strangers_at = 0;
    std::set<std::string> strangers;
    std::uint64_t done = 0;              // successful compiles
    std::uint64_t hits = 0, misses = 0;  // in the compile cache
    std::unique_ptr<NodeRooms> rooms;    // null: the build has one node
  };
  // A compile on another node, from its grant to its end.
  struct Elsewhere {
    NodeRooms::Place place;
    Admission::Running running;
    std::unique_ptr<sys::ForegroundProcess> process;  // srun; null before and after
    std::filesystem::path output{};                   // what srun prints
    double took = 0;                                  // seconds that srun ran
  };
  // A connected client: a shim with one compile, or the process that started a build.
  // A compile that runs in parts, from its decision to its end.
  struct InParts {
    std::string token;                    // by which its parts name it: a process ID means nothing outside of a sandbox
    double since = 0, at = 0;             // monotonic, and seconds since 1970
    double seconds = 0, wait = 0;         // of all parts together; the longest
    std::uint64_t peak = 0, largest = 0;  // of all at once; of one
    unsigned parts = 0, hits = 0;
  };
  struct Client {
    Connection connection;
    pid_t pid = 0;
    Build* build = nullptr;
    bool is_shim = false;
    std::uint64_t id = 0;  // of its request or grant; 0: none
    UnitFacts facts;
    Estimate estimate;
    std::string name, output;
    bool looks = false;  // checks the compile cache first: it may not have to compile
    double looked_for = 0, waited_to_look = 0;
    CacheUse cache = CacheUse::none;
    bool remote = false, remote_failed = false;
    double cpu = 0, saved = 0;  // CPU time of the compile; that a hit saved
    unsigned tries = 0;
    double told_at = 0, started = 0, granted = 0;
    std::vector<pid_t> pids;  // its compiler's processes in the last sample
    MemoryCurve curve;
    bool adopted = false;  // started under another governor
    TailWatch tail_watch;
    std::map<std::string, std::uint64_t> kills;
    bool may_move = false;  // its command can run on another node
    std::unique_ptr<Elsewhere> elsewhere;
    std::unique_ptr<InParts> in_parts;
    std::string cache_why{};  // why it cannot be cached
    std::string parts_why{};  // why it did not run in parts
    std::string part;         // what this is of a compile in parts; "": it is whole
    std::string of{};         // whose part it is: the token
  };
  using Clients = std::list<Client>;

  // server_linux.cc: connections and messages.
  void accept_clients();
  void read_from(Client& client);
  void drop_closed();
  void count_cores();
  [[nodiscard]] int poll_timeout() const;
  void wait(int milliseconds);
  Build* find_build(const std::string& run_file);
  const std::vector<std::string>& pools_for(pid_t pid);

  // server_grants_linux.cc: compiles.
  static double seconds_in(const Message& message, std::string_view name);  // a field of milliseconds
  void ask(Client& client, const Message& message, bool runs_already);
  void done(Client& client, const Message& message);
  void leave(Client& client);
  void note(const Client& client, const Admission::Running& running, Outcome outcome, bool again, int exit,
            std::uint64_t peak);
  void note_pause(const Client& client, const Admission::Running& running);
  void estimate_again(const Build* build);
  void act(const std::vector<Action>& actions);
  void decide();

  // server_parts_linux.cc: compiles in parts.
  void begin_parts(Client& client, const Message& message);
  void end_parts(Client& client, const Message& message);
  void drop_parts(Client& client);
  void add_part(const Client& client, const Admission::Running& running, std::uint64_t peak);
  Client* unit_of(const Client& part);

  // server_nodes_linux.cc: compiles on other nodes.
  static void open_rooms(Build& build, const std::filesystem::path& run_file);
  void send_elsewhere();
  void start_elsewhere(Client& client, const Message& message);
  void collect_elsewhere();
  // Frees its place; a compile that still runs there is ended.
  void end_elsewhere(Client& client);
  [[nodiscard]] const Admission::Running* running_of(const Client& client) const;

  // server_look_linux.cc: sampling.
  void look();
  void look_at_trees();
  void read_pools();
  void tell_waiting();
  void note_memory(Build& build);
  void look_for_strangers(Build& build, pid_t root);
  [[nodiscard]] Message status_of(const Build& build) const;
  void add_others(const Build& build, Message& status) const;
  [[nodiscard]] std::string tightest(const std::vector<std::string>& pools) const;
  Client* client_of(std::uint64_t id);

  std::filesystem::path m_runtime;
  sys::LocalListener m_listening;
  unsigned m_cores;
  Admission m_admission;
  Pressure m_pressure;
  Clients m_clients;
  std::map<std::string, std::unique_ptr<Build>> m_builds;
  std::map<std::string, std::unique_ptr<UnitJournal>> m_journals;
  std::map<std::string, PoolReading> m_pools;
  struct KnownPools {
    std::vector<std::string> names;
    double found_at = 0;
  };
  std::map<std::string, KnownPools> m_pools_in;  // by cgroups_of()
  struct Ending {
    std::unique_ptr<sys::ForegroundProcess> process;
    std::filesystem::path output;
    double kill_at = 0;
  };
  std::list<Ending> m_ending;  // of clients that are gone
  std::uint64_t m_next_id = 1;
  double m_idle_since = 0, m_looked_at = 0, m_pools_read_at = 0;
  bool m_tight = false, m_changed = false;
};

// The process `wheelsmith governor`. Returns at once when another process holds the lock.
int run_governor(const std::filesystem::path& runtime);

}  // namespace wheelsmith::governor
