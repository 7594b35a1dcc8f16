#include "sys/root_view.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::sys {
namespace {

namespace fs = std::filesystem;

Fd root_at(const fs::path& folder) { return Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)); }

struct RootViews : ::testing::Test {
  void SetUp() override {
    fs::create_directories(root() / "a/b");
    std::ofstream(root() / "a/file") << "inside";
    std::ofstream(temp.path() / "file") << "outside";
  }
  [[nodiscard]] fs::path root() const { return temp.path() / "root"; }
  TempDir temp;
};

TEST_F(RootViews, StayBelowTheirRoot) {
  fs::create_symlink("/a/file", root() / "absolute");
  fs::create_symlink("../../../../a/b/../file", root() / "a/b/upwards");
  fs::create_symlink("../../file", root() / "a/leaves");
  fs::create_symlink("loop", root() / "loop");
  for (const RootView::Lookup lookup : {RootView::Lookup::by_kernel, RootView::Lookup::by_parts}) {
    const RootView view(root_at(root()), lookup);
    for (const char* path : {"/a/file", "//a/./file", "/../a/file", "/absolute", "/a/b/upwards", "/a/b/../../absolute"})
      EXPECT_TRUE(view.open_file(path)) << path;
    for (const char* path : {"/file", "/../file", "/a/leaves", "/loop", "/a/file/", "/a/file/.", "/a/file/..",
                             "/a/none", "/a/b", "", "a/file"})
      EXPECT_FALSE(view.open_file(path)) << path;
    EXPECT_EQ(view.names("/a/b/..", 10).value_or(std::vector<std::string>{}).size(), 3u);
    EXPECT_EQ(view.state("/").value().kind, PathState::Kind::folder);
  }
}

TEST(RootView, DoesNotFollowLinksOfProc) {
  if (!fs::exists("/proc/self/fd/0")) GTEST_SKIP() << "no /proc";
  const Fd held(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(held.raw());
  for (const RootView::Lookup lookup : {RootView::Lookup::by_kernel, RootView::Lookup::by_parts})
    EXPECT_FALSE(RootView(RootView::own_root(), lookup).state(path + "/usr"));
}

// The kernel judges the view's own lookup, on random links and paths.
TEST_F(RootViews, FindWhatTheKernelFinds) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::string> words = {"a", "b", "file", "x", "y", "z", "..", ".", ""};
  const auto path = [&] {
    std::string text;
    for (auto count = random() % 6; count-- > 0;) text += "/" + words[random() % words.size()];
    return text.empty() ? "/" : text;
  };
  for (const char* link : {"x", "a/y", "a/b/z", "a/b/x", "z"}) {
    const std::string target = path();
    fs::create_symlink(random() % 2 == 0 ? target : ".." + target, root() / link);
  }
  const RootView kernel(root_at(root())), parts(root_at(root()), RootView::Lookup::by_parts);
  for (int round = 0; round < 2000; ++round) {
    const std::string asked = path();
    EXPECT_EQ(kernel.state(asked), parts.state(asked)) << asked;
  }
}

}  // namespace
}  // namespace wheelsmith::sys
