#include "governor/model/node_rooms.h"

#include <algorithm>

// A step with several nodes compiles on all of them. The build system, its scripts and its links run on the first one,
// where the governor measures every process and can pause or preempt it. Another node gets single compiles, and the
// kernel there ends one that takes more memory than it was granted. The grant is therefore generous: a killed compile
// costs its whole time, unused memory on another node costs little.
//
// Starting a compile there costs a tenth of a second and more (a job step, a sandbox, the outputs over the network), so
// only compiles that take many times as long are sent. The cost is measured.

namespace wheelsmith::governor {

namespace {

constexpr double k_first_cost = 0.2, k_least_cost = 0.05, k_most_cost = 5;
constexpr double k_worth = 10;  // times the cost
constexpr double k_closed_seconds = 30, k_longest_closed = 1800;
constexpr std::uint64_t k_process_memory = 64ull << 20;  // of our own process and the sandbox
constexpr std::uint64_t k_unsure_memory = 256ull << 20;

}  // namespace

NodeRooms::NodeRooms(const std::vector<NodeRoom>& nodes) : m_cost(k_first_cost) {
  for (const NodeRoom& node : nodes) m_nodes[node.name].room = node;
}

bool NodeRooms::is_worth(double seconds) const { return seconds >= k_worth * m_cost; }

std::optional<NodeRooms::Place> NodeRooms::find(const Need& need, std::size_t waiting, double now) const {
  if (!is_worth(need.seconds)) return std::nullopt;
  std::optional<Place> best;
  unsigned most_free = 0;
  for (const auto& [name, state] : m_nodes) {
    if (now < state.closed_until || state.cores_taken >= state.room.cores) continue;
    const unsigned free_cores = state.room.cores - state.cores_taken;
    const std::uint64_t free_memory = state.room.memory - std::min(state.room.memory, state.memory_taken);
    if (free_cores <= most_free) continue;
    const auto share = static_cast<unsigned>(free_cores / std::max<std::size_t>(1, waiting));
    for (unsigned threads = std::clamp(share, 1u, std::max(1u, need.threads)); threads >= 1; --threads) {
      const double memory =
          static_cast<double>(need.memory) + static_cast<double>(need.memory_per_thread) * (threads - 1);
      const std::uint64_t granted = static_cast<std::uint64_t>(memory * (need.sure ? 1.15 : 1.5)) + k_process_memory +
                                    (need.sure ? 0 : k_unsure_memory);
      if (granted > free_memory) continue;
      best = Place{name, threads, state.room.cores, granted};
      most_free = free_cores;
      break;
    }
  }
  return best;
}

void NodeRooms::take(const Place& place) {
  State& state = m_nodes[place.node];
  state.cores_taken += place.threads;
  state.memory_taken += place.memory;
  ++state.running;
}

void NodeRooms::give_back(const Place& place) {
  const auto found = m_nodes.find(place.node);
  if (found == m_nodes.end()) return;
  State& state = found->second;
  state.cores_taken -= std::min(state.cores_taken, place.threads);
  state.memory_taken -= std::min(state.memory_taken, place.memory);
  state.running -= std::min(state.running, 1u);
}

void NodeRooms::worked(const std::string& node, double cost) {
  m_cost = std::clamp(0.8 * m_cost + 0.2 * std::max(0.0, cost), k_least_cost, k_most_cost);
  m_nodes[node].failures = 0;
}

void NodeRooms::failed(const std::string& node, double now) {
  State& state = m_nodes[node];
  state.closed_until = now + std::min(k_longest_closed, k_closed_seconds * (1u << std::min(state.failures, 10u)));
  ++state.failures;
}

unsigned NodeRooms::cores() const {
  unsigned sum = 0;
  for (const auto& [name, state] : m_nodes) sum += state.room.cores;
  return sum;
}

unsigned NodeRooms::running() const {
  unsigned sum = 0;
  for (const auto& [name, state] : m_nodes) sum += state.running;
  return sum;
}

}  // namespace wheelsmith::governor
