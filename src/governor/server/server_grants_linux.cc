#include <signal.h>

#include <algorithm>

#include "base/text.h"
#include "governor/record.h"
#include "governor/server/server.h"
#include "sys/clock.h"

// Compiles: requested, granted, ended.

namespace wheelsmith::governor {

namespace {

// The maximum memory of a compile cache lookup.
constexpr std::uint64_t k_look_memory = 64 << 20;

// As a share of the reservation or use: the reservation of a retry.
constexpr double k_more = 1.5;

unsigned bounded(std::uint64_t value, unsigned most) {
  return static_cast<unsigned>(std::min<std::uint64_t>(std::max<std::uint64_t>(value, 1), most));
}

}  // namespace

double Server::seconds_in(const Message& message, std::string_view name) {
  return static_cast<double>(std::min<std::uint64_t>(message.number(name), std::uint64_t{1} << 40)) / 1000;
}

void Server::ask(Client& client, const Message& message, bool runs_already) {
  drop_parts(client);
  client.looked_for = client.waited_to_look = 0;
  if (client.id != 0) {
    if (const auto found = m_admission.running().find(client.id);
        client.looks && found != m_admission.running().end()) {
      client.looked_for = now() - client.granted;
      client.waited_to_look = found->second.waited;
    }
    m_admission.finish(client.id);
  }
  end_elsewhere(client);
  const std::string run_file = message.text("run");
  client.build = find_build(run_file);
  const auto kind = kind_from(message.text("kind"));
  if (client.build == nullptr || !kind) {
    client.connection.send({Word::refused, {}});
    return;
  }
  client.is_shim = true;
  client.part = message.text("part").substr(0, 100);
  client.of = message.text("of").substr(0, 100);
  client.looks = message.flag("look");
  client.cache = CacheUse::none;
  client.remote = client.remote_failed = false;
  client.cpu = client.saved = 0;
  client.parts_why.clear();
  client.id = m_next_id++;
  client.name = message.text("name").substr(0, 500);
  client.output = message.text("output").substr(0, 2000);
  client.tries = bounded(message.number("try") + 1, 1000) - 1;
  client.facts = {message.text("unit"),
                  message.text("family"),
                  *kind,
                  message.number("size"),
                  bounded(message.number("archs"), 1000),
                  1};
  client.estimate = client.build->journal->model().estimate(client.facts);
  client.told_at = now();
  client.kills.clear();
  client.curve = {};
  client.tail_watch = {};
  client.adopted = runs_already;
  client.may_move = message.flag("may_move");
  // An earlier request got no answer, and the shim continues without us unless it hears something now.
  if (message.flag("hurry")) client.connection.send({Word::wait, {{"why", "asked"}}});

  Ask ask;
  ask.id = client.id;
  ask.build = run_file;
  ask.pools = pools_for(client.pid);
  if (client.build->run.memory != 0) ask.pools.push_back("run:" + run_file);
  ask.memory = std::max(client.estimate.memory, message.number("need"));
  if (client.looks) ask.memory = std::min(ask.memory, k_look_memory);
  ask.seconds = client.estimate.seconds;  // of the compile: lookups of long ones go first
  ask.threads = bounded(message.number("threads"), client.facts.archs);
  ask.alone = message.flag("alone");
  if (Client* unit = unit_of(client); unit != nullptr) {
    // All parts of a long unit go before those of a short one.
    ask.group = unit->id;
    ask.seconds = std::max(ask.seconds, unit->estimate.seconds);
  }
  ask.sure = !runs_already && client.estimate.from != Estimate::From::prior;
  if (ask.threads > 1) {
    UnitFacts two = client.facts;
    two.threads = 2;
    const std::uint64_t memory = client.build->journal->model().estimate(two).memory;
    ask.memory_per_thread = memory - std::min(memory, client.estimate.memory);
  }
  for (const std::string& name : ask.pools) {
    if (m_pools.try_emplace(name).second) m_pools_read_at = 0;  // admit nothing to a pool before it was sampled
  }
  if (runs_already) {
    client.granted = now();
    client.started = sys::unix_seconds();
    m_admission.adopt(ask, now());
  } else {
    m_admission.ask(ask, now());
  }
  m_changed = true;
}

void Server::note(const Client& client, const Admission::Running& running, Outcome outcome, bool again, int exit,
                  std::uint64_t peak) {
  document::Table line;
  line["event"] = client.part.empty() ? "compile" : "part";
  line["at"] = client.started;
  line["wait"] = running.waited + client.waited_to_look;
  line["why"] = std::string(to_string(running.why));
  line["seconds"] = now() - client.granted;
  line["paused"] = running.paused_for;
  line["peak"] = peak;
  line["reserved"] = std::max(running.reserved, running.reserved_most);
  line["estimate"] = client.estimate.memory;
  line["from"] = std::string(to_string(client.estimate.from));
  line["unit"] = client.facts.unit;
  line["family"] = client.facts.family;
  line["kind"] = std::string(to_string(client.facts.kind));
  line["name"] = client.name;
  line["output"] = client.output;
  line["threads"] = running.threads;
  line["pid"] = client.pid;
  line["try"] = client.tries;
  line["outcome"] = enum_name(outcome);
  if (!client.part.empty()) {
    line["part"] = client.part;
    line["of"] = client.of;
  }
  if (again) line["again"] = true;
  if (running.started_early) line["early"] = true;
  if (client.cache != CacheUse::none) line["cache"] = enum_name(client.cache);
  if (client.cache == CacheUse::pass && !client.cache_why.empty()) line["cache_why"] = client.cache_why;
  if (!client.parts_why.empty()) line["parts_why"] = client.parts_why;
  if (client.looked_for > 0) line["looked"] = client.looked_for;
  if (client.elsewhere) line["node"] = client.elsewhere->place.node;
  if (client.remote) line["remote"] = true;
  if (client.cpu > 0) line["cpu"] = client.cpu;
  if (client.saved > 0) line["saved"] = client.saved;
  if (outcome == Outcome::done && client.part.empty())
    line["origin"] = enum_name(origin_of(client.cache, client.remote, 0));
  if (client.remote_failed) line["remote_failed"] = true;
  line["exit"] = exit;
  append_record(client.build->run.record, line);
}

void Server::note_pause(const Client& client, const Admission::Running& running) {
  document::Table line;
  line["event"] = "pause";
  line["at"] = sys::unix_seconds() - (now() - running.paused_at);
  line["seconds"] = now() - running.paused_at;
  line["name"] = client.name;
  line["why"] = "memory";
  append_record(client.build->run.record, line);
}

// done: exit, oom (the compiler or its output says so), set_back, last (there is no further attempt), maxrss.
void Server::done(Client& client, const Message& message) {
  if (client.in_parts) return end_parts(client, message);
  const Admission::Running* found = running_of(client);
  if (client.id == 0 || found == nullptr) return;
  const Admission::Running running = *found;
  const int exit = static_cast<int>(bounded(message.number("exit") + 1, 1000)) - 1;
  const bool set_back = message.flag("set_back");
  // A compile that started and ended between two samples was never measured; its largest process is a lower bound.
  const std::uint64_t peak = std::max(running.peak, message.number("maxrss"));
  bool out_of_memory = message.flag("oom");
  const bool node_failed = client.elsewhere && message.flag("node_failed");
  if (client.elsewhere && client.build->rooms) {
    if (node_failed) {
      client.build->rooms->failed(client.elsewhere->place.node, now());
      document::Table line;
      line["event"] = "node-failed";
      line["at"] = sys::unix_seconds();
      line["node"] = client.elsewhere->place.node;
      line["name"] = client.name;
      line["why"] = printable(message.text("why").substr(0, 1000));
      append_record(client.build->run.record, line);
    } else
      client.build->rooms->worked(client.elsewhere->place.node,
                                  client.elsewhere->took - static_cast<double>(message.number("milliseconds")) / 1000);
  }
  if (exit != 0 && !set_back && !out_of_memory) {
    for (const auto& [pool, kills] : client.kills) out_of_memory = out_of_memory || read_pool(pool).kills > kills;
  }
  const bool again = out_of_memory && !message.flag("last");
  client.cache = enum_named<CacheUse>(message.text("cache")).value_or(CacheUse::none);
  if (client.part.empty()) {
    client.build->done += exit == 0 && !set_back ? 1 : 0;
    client.build->hits += client.cache == CacheUse::hit ? 1 : 0;
    client.build->misses += client.cache == CacheUse::miss ? 1 : 0;
  } else if (exit == 0 && !set_back) {
    add_part(client, running, peak);
  }
  client.cache_why = printable(message.text("cache_why").substr(0, 500));
  client.parts_why = printable(message.text("parts_why").substr(0, 500));
  client.remote = message.flag("remote");
  client.remote_failed = message.flag("remote_failed");
  client.cpu = seconds_in(message, "cpu");
  client.saved = seconds_in(message, "saved");
  MemoryModel& model = client.build->journal->model();
  if (client.looks || node_failed) {
    // It did not compile: its use says nothing about the compile.
  } else if (exit == 0 && !set_back) {
    UnitFacts facts = client.facts;
    facts.threads = running.threads;
    const double seconds = client.elsewhere ? static_cast<double>(message.number("milliseconds")) / 1000
                                            : now() - client.granted - running.paused_for;
    client.build->journal->add({facts, peak, seconds, static_cast<std::int64_t>(sys::unix_seconds()),
                                client.adopted ? std::nullopt : std::optional(client.curve.tails())});
  } else if (set_back) {
    model.needs_more_than(client.facts, std::max(running.reserved, running.peak));
  } else if (out_of_memory) {
    model.needs_more_than(client.facts, static_cast<std::uint64_t>(static_cast<double>(peak) * k_more));
  }
  if (!node_failed)
    note(client, running,
         set_back    ? Outcome::set_back
         : again     ? Outcome::out_of_memory
         : exit == 0 ? Outcome::done
                     : Outcome::failed,
         again, exit, peak);
  if (exit != 0) {
    const std::string pool = tightest(running.ask.pools);
    const std::uint64_t limit = client.elsewhere ? client.elsewhere->place.memory : m_pools[pool].pool.limit;
    client.connection.send(
        {Word::verdict,
         {{"oom", out_of_memory ? "1" : "0"}, {"peak", std::to_string(peak)}, {"limit", std::to_string(limit)}}});
  }
  m_admission.finish(client.id);
  end_elsewhere(client);
  client.id = 0;
  client.pids.clear();
  m_changed = true;
  m_pools_read_at = 0;  // it has freed memory
  estimate_again(client.build);
}

// It disconnected without a report.
void Server::leave(Client& client) {
  drop_parts(client);
  if (client.id == 0) return;
  const auto found = m_admission.running().find(client.id);
  if (found != m_admission.running().end()) {
    // Its compiler may have outlived it and would stay paused forever.
    if (found->second.paused) {
      for (const pid_t pid : client.pids) ::kill(pid, SIGCONT);
    }
    note(client, found->second, Outcome::lost, false, -1, found->second.peak);
  } else if (client.elsewhere) {
    note(client, client.elsewhere->running, Outcome::lost, false, -1, 0);
  }
  m_admission.finish(client.id);
  end_elsewhere(client);
  client.id = 0;
  m_changed = true;
  m_pools_read_at = 0;
}

// New measurements change the predictions of waiting compiles.
void Server::estimate_again(const Build* build) {
  for (Client& client : m_clients) {
    const auto waiting = m_admission.waiting().find(client.id);
    if (client.id == 0 || client.build == nullptr || client.build->journal != build->journal) continue;
    if (waiting == m_admission.waiting().end() || waiting->second.ask.alone) continue;
    client.estimate = client.build->journal->model().estimate(client.facts);
    const std::uint64_t memory = client.estimate.memory;
    const Client* unit = unit_of(client);
    const double seconds = std::max(client.estimate.seconds, unit == nullptr ? 0 : unit->estimate.seconds);
    m_admission.expect(client.id, client.looks ? std::min(memory, k_look_memory) : memory, seconds,
                       client.estimate.from != Estimate::From::prior);
  }
}

void Server::decide() {
  m_changed = false;
  if (m_admission.running().empty() && m_admission.waiting().empty()) return;
  read_pools();
  act(m_admission.decide(now()));
  send_elsewhere();
}

void Server::act(const std::vector<Action>& actions) {
  for (const Action& action : actions) {
    Client* client = client_of(action.id);
    if (client == nullptr) continue;
    switch (action.kind) {
      case Action::Kind::start:
        client->granted = now();
        client->started = sys::unix_seconds();
        client->tail_watch = {};
        if (action.threads == 1 && !client->looks) {
          const bool roughly = client->estimate.from != Estimate::From::unit;
          client->tail_watch = TailWatch(client->estimate.peak, client->estimate.tails, roughly);
        }
        for (const std::string& pool : m_admission.running().at(action.id).ask.pools) {
          if (pool != k_machine && !pool.starts_with("run:")) client->kills[pool] = m_pools[pool].kills;
        }
        client->connection.send({Word::grant,
                                 {{"id", std::to_string(action.id)},
                                  {"memory", std::to_string(action.memory)},
                                  {"threads", std::to_string(action.threads)}}});
        break;
      case Action::Kind::pause: signal_tree(client->pid, SIGSTOP); break;
      case Action::Kind::resume:
        signal_tree(client->pid, SIGCONT);
        note_pause(*client, m_admission.running().at(action.id));
        break;
      case Action::Kind::set_back:
        // Notify first, then kill: otherwise the shim would blame the kernel. Stopped processes start no others.
        client->connection.send({Word::set_back, {}});
        signal_tree(client->pid, SIGSTOP);
        signal_tree(client->pid, SIGKILL);
        break;
    }
  }
}

}  // namespace wheelsmith::governor
