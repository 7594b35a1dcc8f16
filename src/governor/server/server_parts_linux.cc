#include <algorithm>

#include "base/text.h"
#include "governor/record.h"
#include "governor/server/server.h"
#include "sys/clock.h"

// Compiles in parts (governor/shim/shim_parts_linux.cc): the shim of the compile holds no grant; its parts ask for
// theirs and name it by a token. The record has a line for each part, and one for the compile as for any other.

namespace wheelsmith::governor {

Server::Client* Server::unit_of(const Client& part) {
  if (part.of.empty()) return nullptr;
  const auto found = std::find_if(m_clients.begin(), m_clients.end(), [&](const Client& client) {
    return client.in_parts && client.in_parts->token == part.of && client.build == part.build;
  });
  return found == m_clients.end() ? nullptr : &*found;
}

// The lookup in the cache before it ends here.
void Server::begin_parts(Client& client, const Message& message) {
  double looked_for = 0;
  double waited = 0;
  if (client.id != 0) {
    if (const auto found = m_admission.running().find(client.id); found != m_admission.running().end()) {
      looked_for = now() - client.granted;
      waited = found->second.waited;
    }
    m_admission.finish(client.id);
    client.id = 0;
  }
  end_elsewhere(client);
  client.build = find_build(message.text("run"));
  const auto kind = kind_from(message.text("kind"));
  if (client.build == nullptr || !kind) return;
  client.is_shim = true;
  client.looks = false;
  client.part.clear();
  client.id = m_next_id++;
  client.name = message.text("name").substr(0, 500);
  client.output = message.text("output").substr(0, 2000);
  client.facts = {message.text("unit"),
                  message.text("family"),
                  *kind,
                  message.number("size"),
                  static_cast<unsigned>(std::clamp<std::uint64_t>(message.number("archs"), 1, 1000)),
                  1};
  client.estimate = client.build->journal->model().estimate(client.facts);
  client.looked_for = looked_for;
  client.waited_to_look = waited;
  client.in_parts = std::make_unique<InParts>();
  client.in_parts->token = message.text("of").substr(0, 100);
  client.in_parts->since = now();
  client.in_parts->at = sys::unix_seconds();
  m_changed = true;
}

void Server::add_part(const Client& client, const Admission::Running& running, std::uint64_t peak) {
  Client* unit = unit_of(client);
  if (unit == nullptr) return;
  InParts& sums = *unit->in_parts;
  ++sums.parts;
  sums.seconds += now() - client.granted - running.paused_for;
  sums.wait = std::max(sums.wait, running.waited);
  sums.largest = std::max(sums.largest, peak);
  sums.peak = std::max(sums.peak, peak);
}

void Server::end_parts(Client& client, const Message& message) {
  const InParts& sums = *client.in_parts;
  const int exit = static_cast<int>(std::min<std::uint64_t>(message.number("exit"), 255));
  client.cache = enum_named<CacheUse>(message.text("cache")).value_or(CacheUse::none);
  client.build->done += exit == 0 ? 1 : 0;
  client.build->hits += client.cache == CacheUse::hit ? 1 : 0;
  client.build->misses += client.cache == CacheUse::miss ? 1 : 0;
  const std::uint64_t hits = message.number("part_hits");
  document::Table line;
  line["event"] = "compile";
  line["at"] = sums.at;
  line["wait"] = client.waited_to_look;
  line["why"] = "";
  line["seconds"] = now() - sums.since;
  line["paused"] = 0.0;
  line["peak"] = sums.peak;
  line["reserved"] = sums.peak;
  line["estimate"] = client.estimate.memory;
  line["from"] = std::string(to_string(client.estimate.from));
  line["unit"] = client.facts.unit;
  line["family"] = client.facts.family;
  line["kind"] = std::string(to_string(client.facts.kind));
  line["name"] = client.name;
  line["output"] = client.output;
  line["threads"] = 1;
  line["pid"] = client.pid;
  line["try"] = 0;
  line["outcome"] = enum_name(exit == 0 ? Outcome::done : Outcome::failed);
  line["of"] = sums.token;
  line["parts"] = std::max<std::uint64_t>(sums.parts, message.number("parts"));
  line["part_hits"] = hits;
  line["part_seconds"] = sums.seconds;
  if (client.cache != CacheUse::none) line["cache"] = enum_name(client.cache);
  if (client.cache == CacheUse::pass) line["cache_why"] = printable(message.text("cache_why").substr(0, 500));
  if (client.looked_for > 0) line["looked"] = client.looked_for;
  if (message.flag("remote_failed")) line["remote_failed"] = true;
  line["cpu"] = seconds_in(message, "cpu");
  if (const double saved = seconds_in(message, "saved"); saved > 0) line["saved"] = saved;
  if (exit == 0) line["origin"] = enum_name(origin_of(client.cache, false, hits));
  line["exit"] = exit;
  append_record(client.build->run.record, line);
  // As a whole the unit would need as much as its largest part, for as long as all of them.
  if (exit == 0 && hits == 0 && sums.parts == message.number("parts"))
    client.build->journal->add(
        {client.facts, sums.largest, sums.seconds, static_cast<std::int64_t>(sys::unix_seconds()), std::nullopt});
  drop_parts(client);
}

void Server::drop_parts(Client& client) {
  if (!client.in_parts) return;
  m_admission.end_group(client.id);
  client.in_parts.reset();
  client.id = 0;
  m_changed = true;
}

}  // namespace wheelsmith::governor
