#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

// The other nodes of a build that has several, and which of them has room for a compile. A value without clock or
// processes: times are arguments. See the essay in node_rooms.cc.

namespace wheelsmith::governor {

struct NodeRoom {
  std::string name;
  unsigned cores = 1;
  std::uint64_t memory = 0;  // bytes
  bool operator==(const NodeRoom&) const = default;
};

class NodeRooms {
 public:
  explicit NodeRooms(const std::vector<NodeRoom>& nodes);

  struct Need {
    double seconds = 0;                   // predicted
    std::uint64_t memory = 0;             // predicted, with one thread
    std::uint64_t memory_per_thread = 0;  // for each additional one
    unsigned threads = 1;                 // maximum it can use
    bool sure = false;                    // this unit has been measured
  };
  struct Place {
    std::string node;
    unsigned threads = 1;
    unsigned cores = 1;        // of the node
    std::uint64_t memory = 0;  // that the node grants it; more ends it
  };
  // The node with the most free cores among those with room; nothing for compiles that are not worth the way.
  // `waiting`: how many compiles share the free cores, this one included.
  [[nodiscard]] std::optional<Place> find(const Need& need, std::size_t waiting, double now) const;
  // Whether it takes much longer than starting it on another node.
  [[nodiscard]] bool is_worth(double seconds) const;

  void take(const Place& place);
  void give_back(const Place& place);
  // The node ran a compile; `cost`: seconds that it took beside the compile itself.
  void worked(const std::string& node, double cost);
  // It did not. It gets no compiles for a while, longer each time.
  void failed(const std::string& node, double now);

  [[nodiscard]] unsigned cores() const;    // of all nodes
  [[nodiscard]] unsigned running() const;  // compiles

 private:
  struct State {
    NodeRoom room;
    unsigned cores_taken = 0, running = 0, failures = 0;
    std::uint64_t memory_taken = 0;
    double closed_until = 0;
  };
  std::map<std::string, State> m_nodes;
  double m_cost;
};

}  // namespace wheelsmith::governor
