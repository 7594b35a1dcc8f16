#include "wheel/read/size_tree.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::wheel {
namespace {

std::uint64_t sum_of(const SizeNode& node) {
  std::uint64_t sum = 0;
  for (const SizeNode& child : node.children) sum += child.bytes;
  return sum;
}

void expect_sums(const SizeNode& node) {
  if (!node.children.empty()) {
    EXPECT_EQ(sum_of(node), node.bytes) << node.name;
  }
  for (const SizeNode& child : node.children) expect_sums(child);
}

TEST(SizeTree, EveryLevelAddsUp) {
  const TextTree tree({{"a/b/c/one.py", std::string(10, 'x')},
                       {"a/b/c/two.txt", std::string(30, 'x')},
                       {"d.py", "12345"},
                       {"d/e.bin", std::string(7, 'x')}});
  const SizeNode root = size_tree("x/demo.whl", tree, 1);
  EXPECT_EQ(root.name, "demo.whl");
  EXPECT_EQ(root.bytes, 52U);
  ASSERT_EQ(root.children.size(), 3U);
  EXPECT_EQ(root.children[0].name, "a/b/c");
  EXPECT_EQ(root.children[0].children[0].name, "two.txt");
  EXPECT_EQ(root.children[0].children[1].type, "python");
  EXPECT_EQ(root.children[1].name, "d");
  expect_sums(root);
}

TEST(SizeTree, PutsSmallFilesTogether) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 1000; ++i) files["f/" + std::to_string(i)] = "x";
  files["f/large"] = std::string(5000, 'x');
  const SizeNode root = size_tree("x", TextTree(files), 1);
  const SizeNode& folder = root.children.at(0);
  ASSERT_EQ(folder.children.size(), 400U);
  EXPECT_EQ(folder.children.front().name, "large");
  EXPECT_EQ(folder.children.back().name, "602 smaller files");
  expect_sums(root);
}

TEST(SizeTree, RefusesOtherFiles) { EXPECT_THROW((void)size_tree("x", Bytes(std::string_view("text")), 1), Error); }

}  // namespace
}  // namespace wheelsmith::wheel
