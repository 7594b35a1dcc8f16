#include "governor/model/node_rooms.h"

#include <gtest/gtest.h>

namespace wheelsmith::governor {
namespace {

constexpr std::uint64_t k_gb = 1ull << 30;

NodeRooms two_nodes() { return NodeRooms({{"n2", 2, 4 * k_gb}, {"n3", 2, 4 * k_gb}}); }

TEST(NodeRooms, ShortCompilesStay) {
  NodeRooms rooms = two_nodes();
  EXPECT_FALSE(rooms.find({.seconds = 0.5, .memory = k_gb}, 1, 0));
  EXPECT_TRUE(rooms.find({.seconds = 20, .memory = k_gb}, 1, 0));
  // A slow file system: what was worth it is not any more.
  for (int i = 0; i < 50; ++i) rooms.worked("n2", 4);
  EXPECT_FALSE(rooms.find({.seconds = 20, .memory = k_gb}, 1, 0));
  EXPECT_TRUE(rooms.find({.seconds = 60, .memory = k_gb}, 1, 0));
}

TEST(NodeRooms, SpreadsAndFills) {
  NodeRooms rooms = two_nodes();
  std::string order;
  while (const auto place = rooms.find({.seconds = 20, .memory = k_gb / 4, .sure = true}, 8, 0)) {
    rooms.take(*place);
    order += place->node + " ";
  }
  EXPECT_EQ(order, "n2 n3 n2 n3 ");
  EXPECT_EQ(rooms.running(), 4u);
  rooms.give_back({.node = "n3", .threads = 1, .cores = 2, .memory = k_gb / 4});
  EXPECT_EQ(rooms.find({.seconds = 20, .memory = k_gb / 4, .sure = true}, 8, 0)->node, "n3");
}

TEST(NodeRooms, MemoryCounts) {
  NodeRooms rooms({{"n2", 8, 4 * k_gb}});
  const NodeRooms::Need need{.seconds = 20, .memory = 2 * k_gb, .sure = true};
  const auto first = rooms.find(need, 8, 0);
  ASSERT_TRUE(first);
  EXPECT_GT(first->memory, 2 * k_gb);
  rooms.take(*first);
  EXPECT_FALSE(rooms.find(need, 8, 0));
  EXPECT_FALSE(NodeRooms({{"n2", 8, k_gb}}).find(need, 1, 0));
}

TEST(NodeRooms, ThreadsWhereCoresAreIdle) {
  const NodeRooms rooms({{"n2", 8, 16 * k_gb}});
  const NodeRooms::Need need{.seconds = 90, .memory = k_gb, .memory_per_thread = k_gb / 2, .threads = 4, .sure = true};
  EXPECT_EQ(rooms.find(need, 8, 0)->threads, 1u);
  EXPECT_EQ(rooms.find(need, 2, 0)->threads, 4u);
  const NodeRooms small({{"n2", 8, 2 * k_gb}});
  EXPECT_EQ(small.find(need, 1, 0)->threads, 2u) << "as many as fit into memory";
}

TEST(NodeRooms, FailedNodesRest) {
  NodeRooms rooms({{"n2", 2, 4 * k_gb}});
  const NodeRooms::Need need{.seconds = 20, .memory = k_gb};
  rooms.failed("n2", 100);
  EXPECT_FALSE(rooms.find(need, 1, 110));
  EXPECT_TRUE(rooms.find(need, 1, 140));
  rooms.failed("n2", 140);
  EXPECT_FALSE(rooms.find(need, 1, 180)) << "longer the second time";
  EXPECT_TRUE(rooms.find(need, 1, 210));
}

}  // namespace
}  // namespace wheelsmith::governor
