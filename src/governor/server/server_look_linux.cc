#include <signal.h>

#include <algorithm>

#include "governor/record.h"
#include "governor/server/server.h"
#include "sys/clock.h"

// Sampling: the memory of compiles, what is available, and ungoverned compilers.

namespace wheelsmith::governor {

namespace {

constexpr double k_fresh = 0.02;  // how long a pool reading is valid
constexpr double k_limits_hold = 5;
constexpr double k_note_every = 1;  // memory to the record, status to the build's starter
constexpr double k_strangers_every = 1;
constexpr double k_tell_every = 5;  // keep-alive to waiting shims

}  // namespace

Server::Client* Server::client_of(std::uint64_t id) {
  const auto found =
      std::find_if(m_clients.begin(), m_clients.end(), [id](const Client& client) { return client.id == id; });
  return found == m_clients.end() ? nullptr : &*found;
}

// Limits change rarely, and finding them means examining a folder for each parent cgroup.
const std::vector<std::string>& Server::pools_for(pid_t pid) {
  KnownPools& known = m_pools_in[cgroups_of(pid)];
  if (known.names.empty() || now() - known.found_at > k_limits_hold) {
    known.names = pools_in(cgroups_of(pid));
    known.found_at = now();
  }
  return known.names;
}

void Server::look_at_trees() {
  std::map<Client*, std::uint64_t> used_by;  // units in parts
  for (Client& client : m_clients) {
    const auto running = m_admission.running().find(client.id);
    if (client.id == 0 || running == m_admission.running().end()) continue;
    const TreeUse use = tree_use(client.pid);
    client.pids = use.pids;
    const bool outgrown = use.bytes > running->second.reserved;
    m_admission.set_used(client.id, use.bytes);
    if (Client* unit = unit_of(client); unit != nullptr) used_by[unit] += use.bytes;
    client.curve.add(now(), use.bytes);
    if (const std::uint64_t rest = client.tail_watch.look(now(), use.bytes); rest != 0)
      m_admission.lower(client.id, with_slack(rest));
    // Processes started while the others were being stopped.
    if (running->second.paused) signal_tree(client.pid, SIGSTOP);
    if (outgrown) {
      client.tail_watch = {};
      client.build->journal->model().needs_more_than(client.facts, use.bytes);
      estimate_again(client.build);
    }
  }
  for (const auto& [unit, used] : used_by) unit->in_parts->peak = std::max(unit->in_parts->peak, used);
}

void Server::look() {
  m_looked_at = now();
  m_pools_read_at = 0;
  read_pools();
  tell_waiting();
  for (Client& client : m_clients) {
    if (client.is_shim || client.build == nullptr) continue;
    look_for_strangers(*client.build, client.pid);
    if (m_looked_at - client.told_at < k_note_every) continue;
    client.told_at = m_looked_at;
    client.connection.send(status_of(*client.build));
  }
  for (auto& [file, build] : m_builds) note_memory(*build);
}

void Server::read_pools() {
  const double time = now();
  if (time - m_pools_read_at < k_fresh) return;
  m_pools_read_at = time;
  // Both at the same moment: otherwise memory that a compile has just freed would count both as free and as still to be
  // grown into.
  look_at_trees();
  const bool pressed = m_pressure.look(time);
  m_tight = false;
  std::set<std::string> in_use{k_machine};
  for (const auto& [id, running] : m_admission.running())
    in_use.insert(running.ask.pools.begin(), running.ask.pools.end());
  for (const auto& [id, waiting] : m_admission.waiting())
    in_use.insert(waiting.ask.pools.begin(), waiting.ask.pools.end());
  for (const std::string& name : in_use) {
    PoolReading& reading = m_pools[name];
    if (name.starts_with("run:")) {
      const auto build = m_builds.find(name.substr(4));
      std::uint64_t used = 0;
      for (const auto& [id, running] : m_admission.running())
        used += running.ask.build == name.substr(4) ? running.used : 0;
      reading.pool.limit = build == m_builds.end() ? UINT64_MAX : build->second->run.memory;
      reading.pool.available = reading.pool.limit - std::min(reading.pool.limit, used);
    } else {
      reading = read_pool(name);
    }
    reading.pool.pressed = pressed;
    m_tight = m_tight || reading.pool.available < reading.pool.limit / 5;
    m_admission.set_pool(name, reading.pool);
  }
  for (auto pool = m_pools.begin(); pool != m_pools.end();) {
    if (in_use.contains(pool->first)) {
      ++pool;
      continue;
    }
    m_admission.remove_pool(pool->first);
    pool = m_pools.erase(pool);
  }
}

void Server::tell_waiting() {
  for (Client& client : m_clients) {
    const auto waiting = m_admission.waiting().find(client.id);
    if (client.id == 0 || waiting == m_admission.waiting().end() || m_looked_at - client.told_at < k_tell_every)
      continue;
    client.told_at = m_looked_at;
    client.connection.send({Word::wait, {{"why", std::string(to_string(waiting->second.why))}}});
  }
}

std::string Server::tightest(const std::vector<std::string>& pools) const {
  std::string result = k_machine;
  std::uint64_t least = UINT64_MAX;
  for (const std::string& name : pools) {
    const auto found = m_pools.find(name);
    if (found == m_pools.end() || found->second.pool.limit >= least) continue;
    least = found->second.pool.limit;
    result = name;
  }
  return result;
}

Message Server::status_of(const Build& build) const {
  std::uint64_t used = 0;
  std::uint64_t reserved = 0;
  unsigned running = 0;
  unsigned waiting = 0;
  unsigned paused = 0;
  Why why = Why::nothing;
  std::string unit;
  double oldest = 0;
  std::vector<std::string> pools{k_machine};
  for (const Client& client : m_clients) {
    if (client.id == 0 || client.build != &build) continue;
    if (const auto found = m_admission.running().find(client.id); found != m_admission.running().end()) {
      ++running;
      paused += found->second.paused ? 1 : 0;
      used += found->second.used;
      reserved += std::max(found->second.reserved, found->second.used);
      pools = found->second.ask.pools;
      // The longest-running one: the line then changes least, and the others may be waiting for it.
      if (unit.empty() || client.granted < oldest) {
        unit = client.name;
        oldest = client.granted;
      }
    } else if (const auto other = m_admission.waiting().find(client.id); other != m_admission.waiting().end()) {
      ++waiting;
      if (why == Why::nothing || other->second.why == Why::memory) why = other->second.why;
    } else if (client.elsewhere) {
      ++running;
      if (unit.empty() || client.granted < oldest) {
        unit = client.name;
        oldest = client.granted;
      }
    }
  }
  const auto pool = m_pools.find(tightest(pools));
  const Pool tight = pool == m_pools.end() ? Pool() : pool->second.pool;
  Message status{Word::status,
                 {{"running", std::to_string(running)},
                  {"waiting", std::to_string(waiting)},
                  {"paused", std::to_string(paused)},
                  {"why", std::string(to_string(why))},
                  {"used", std::to_string(used)},
                  {"reserved", std::to_string(reserved)},
                  {"available", std::to_string(tight.available)},
                  {"limit", std::to_string(tight.limit)},
                  {"done", std::to_string(build.done)},
                  {"hits", std::to_string(build.hits)},
                  {"misses", std::to_string(build.misses)}}};
  if (!unit.empty()) status.fields["unit"] = unit;
  if (waiting != 0) add_others(build, status);
  return status;
}

// Running compiles of other builds, which this one waits for.
void Server::add_others(const Build& build, Message& status) const {
  unsigned compiles = 0;
  std::set<const Build*> builds;
  for (const Client& client : m_clients) {
    if (client.id == 0 || client.build == nullptr || client.build == &build) continue;
    if (!m_admission.running().contains(client.id)) continue;
    ++compiles;
    builds.insert(client.build);
  }
  if (compiles == 0) return;
  status.fields["others"] = std::to_string(compiles);
  status.fields["other_builds"] = std::to_string(builds.size());
  // Only the program of a command: arguments may be secret, and a sandboxed build receives this.
  const std::string name = builds.size() == 1 ? (*builds.begin())->run.name : "";
  if (!name.empty()) status.fields["other"] = name.substr(0, name.find(' '));
}

void Server::note_memory(Build& build) {
  if (m_looked_at - build.memory_noted_at < k_note_every) return;
  const Message status = status_of(build);
  if (status.number("running") == 0 && status.number("waiting") == 0) return;
  build.memory_noted_at = m_looked_at;
  document::Table line;
  line["event"] = "memory";
  line["at"] = sys::unix_seconds();
  for (const char* name : {"running", "waiting", "paused", "used", "reserved", "available", "limit"})
    line[name] = status.number(name);
  append_record(build.run.record, line);
}

void Server::look_for_strangers(Build& build, pid_t root) {
  if (m_looked_at - build.looked_for_strangers_at < k_strangers_every) return;
  build.looked_for_strangers_at = m_looked_at;
  std::vector<pid_t> granted;
  for (const Client& client : m_clients) {
    if (client.is_shim) granted.push_back(client.pid);
  }
  for (const std::string& program : compilers_outside(root, granted)) {
    if (build.strangers.size() > 100 || !build.strangers.insert(program).second) continue;
    document::Table line;
    line["event"] = "unreached";
    line["at"] = sys::unix_seconds();
    line["program"] = program;
    append_record(build.run.record, line);
  }
}

}  // namespace wheelsmith::governor
