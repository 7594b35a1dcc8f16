#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "governor/server/server.h"
#include "slurm/node_step.h"
#include "sys/clock.h"
#include "sys/files.h"

// Compiles on other nodes. A compile that finds no room here and is long enough gets a grant that names a node. Its
// shim then leaves a request in the build's tree and reports it; this process starts srun, since the shim's sandbox has
// no network, and says when srun has ended. The request is read on the node inside a sandbox with the same policy. The
// result is a file beside the request: if there is none, the node failed, and the shim asks again.

namespace wheelsmith::governor {

namespace {

constexpr double k_end_grace = 3;
constexpr std::size_t k_most_said = 500;

std::string last_words(const std::filesystem::path& file) {
  const std::string text(trim(sys::read_file_if_possible(file, 1 << 20).value_or("")));
  return text.size() > k_most_said ? text.substr(text.size() - k_most_said) : text;
}

}  // namespace

void Server::open_rooms(Build& build, const std::filesystem::path& run_file) {
  if (build.rooms || build.run.exchange.empty()) return;
  if (const auto nodes = NodesFile::read(nodes_file_of(run_file)))
    build.rooms = std::make_unique<NodeRooms>(nodes->nodes);
}

const Admission::Running* Server::running_of(const Client& client) const {
  if (client.elsewhere) return &client.elsewhere->running;
  const auto found = m_admission.running().find(client.id);
  return found == m_admission.running().end() ? nullptr : &found->second;
}

void Server::send_elsewhere() {
  std::vector<Client*> candidates;
  for (Client& client : m_clients) {
    if (client.id == 0 || client.build == nullptr || !client.build->rooms || !client.may_move || client.looks) continue;
    const auto waiting = m_admission.waiting().find(client.id);
    if (waiting != m_admission.waiting().end() && !waiting->second.ask.alone) candidates.push_back(&client);
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Client* left, const Client* right) {
    return left->estimate.seconds > right->estimate.seconds;
  });
  std::size_t left = candidates.size();
  for (Client* client : candidates) {
    const Admission::Waiting waiting = m_admission.waiting().at(client->id);
    NodeRooms& rooms = *client->build->rooms;
    // The user's limit counts compiles on all nodes; the first one keeps at least one of them.
    const unsigned jobs = client->build->run.jobs;
    if (jobs != 0 && rooms.running() + 1 >= jobs) continue;
    const auto place = rooms.find({.seconds = client->estimate.seconds,
                                   .memory = waiting.ask.memory,
                                   .memory_per_thread = waiting.ask.memory_per_thread,
                                   .threads = waiting.ask.threads,
                                   .sure = client->estimate.from == Estimate::From::unit},
                                  left--, now());
    if (!place) continue;
    m_admission.finish(client->id);
    rooms.take(*place);
    if (jobs != 0) m_admission.set_jobs(waiting.ask.build, jobs - rooms.running());
    auto elsewhere = std::make_unique<Elsewhere>();
    elsewhere->place = *place;
    elsewhere->running.ask = waiting.ask;
    elsewhere->running.reserved = elsewhere->running.reserved_most = place->memory;
    elsewhere->running.threads = place->threads;
    elsewhere->running.started = now();
    elsewhere->running.waited = now() - waiting.since;
    elsewhere->running.why = waiting.why;
    client->elsewhere = std::move(elsewhere);
    client->granted = now();
    client->started = sys::unix_seconds();
    client->connection.send({Word::grant,
                             {{"id", std::to_string(client->id)},
                              {"memory", std::to_string(place->memory)},
                              {"threads", std::to_string(place->threads)},
                              {"node", place->node}}});
  }
}

void Server::start_elsewhere(Client& client, const Message& message) {
  if (!client.elsewhere || client.elsewhere->process || client.build == nullptr) return;
  const std::filesystem::path run_file = client.elsewhere->running.ask.build;
  // Read again each time: the sandbox's policy differs between commands of the build.
  const auto nodes = NodesFile::read(nodes_file_of(run_file));
  std::string why = "the build's nodes are not known";
  if (nodes) {
    slurm::NodeStep step;
    step.launcher = nodes->launcher;
    step.node = client.elsewhere->place.node;
    step.cpus = client.elsewhere->place.cores;
    step.memory = client.elsewhere->place.memory;
    step.argv = nodes->command;
    step.argv.push_back(message.text("request"));
    client.elsewhere->output = run_file.string() + ".step-" + std::to_string(client.id);
    sys::ForegroundCommand command{nodes->launcher, slurm::srun_words(step), nodes->environment};
    command.input_file = nodes->input.empty() ? "/dev/null" : nodes->input.string();
    command.output_file = client.elsewhere->output.string();
    command.default_signals = {SIGPIPE};
    command.death_signal = SIGTERM;
    try {
      client.elsewhere->process = std::make_unique<sys::ForegroundProcess>(command);
      return;
    } catch (const Error& error) {  // told to the shim, which asks again
      why = error.what();
    }
  }
  client.connection.send({Word::ran, {{"why", why}}});
}

void Server::collect_elsewhere() {
  for (Client& client : m_clients) {
    if (!client.elsewhere || !client.elsewhere->process) continue;
    const auto exit = client.elsewhere->process->poll();
    if (!exit) continue;
    client.elsewhere->took = now() - client.granted;
    const std::string said = last_words(client.elsewhere->output);
    ::unlink(client.elsewhere->output.c_str());
    client.elsewhere->process.reset();
    client.connection.send({Word::ran, {{"exit", std::to_string(exit->code)}, {"why", said}}});
  }
  for (auto ending = m_ending.begin(); ending != m_ending.end();) {
    if (!ending->process->poll()) {
      // Its tasks end with the job at the latest.
      if (now() > ending->kill_at) ending->process->signal(SIGKILL);
      ++ending;
      continue;
    }
    ::unlink(ending->output.c_str());
    ending = m_ending.erase(ending);
  }
}

void Server::end_elsewhere(Client& client) {
  if (!client.elsewhere) return;
  if (client.elsewhere->process) {
    client.elsewhere->process->signal(SIGTERM);
    m_ending.push_back(
        {std::move(client.elsewhere->process), std::move(client.elsewhere->output), now() + k_end_grace});
  }
  if (client.build != nullptr && client.build->rooms) {
    client.build->rooms->give_back(client.elsewhere->place);
    if (client.build->run.jobs != 0)
      m_admission.set_jobs(
          client.elsewhere->running.ask.build,
          client.build->run.jobs - std::min(client.build->run.jobs - 1, client.build->rooms->running()));
  }
  client.elsewhere.reset();
  m_changed = true;
}

}  // namespace wheelsmith::governor
