#include <gtest/gtest.h>

#include "base/error.h"
#include "run/step/phases.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace fs = std::filesystem;

TEST(LinkedPackage, IsRejectedWhenItLeavesTheSource) {
  const sys::TempDir folder;
  SourceTree tree;
  tree.tree = folder.path() / "tree";
  tree.source = tree.tree / "source";
  sys::make_folders(tree.source / "python/deep");
  sys::make_folders(folder.path() / "home/python");
  fs::create_directory_symlink("python", tree.source / "inside");
  fs::create_directory_symlink(folder.path() / "home/python", tree.source / "absolute");
  fs::create_directory_symlink("../../home/python", tree.source / "relative");
  fs::create_directory_symlink("absolute", tree.source / "chain");
  fs::create_directory_symlink(folder.path() / "home", tree.source / "parent");
  fs::create_directory_symlink("..", tree.source / "tree");
  fs::create_directory_symlink("loop", tree.source / "loop");
  for (const char* good : {"", "python", "python/deep", "inside", "inside/deep", "python/../inside", "missing"}) {
    tree.package = *good == '\0' ? tree.source : tree.source / good;
    EXPECT_NO_THROW(refuse_linked_package(tree)) << good;
  }
  for (const char* bad : {"absolute", "relative", "chain", "parent/python", "tree", "tree/dist", "..", "loop"}) {
    tree.package = tree.source / bad;
    EXPECT_THROW(refuse_linked_package(tree), Error) << bad;
  }
  // The source's own folder is the step's, however it was reached.
  fs::create_directory_symlink(tree.tree, folder.path() / "alias");
  tree.source = folder.path() / "alias/source";
  tree.package = tree.source / "python";
  EXPECT_NO_THROW(refuse_linked_package(tree));
}

}  // namespace wheelsmith::run
