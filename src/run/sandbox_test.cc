#include "run/sandbox.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/socket.h"

// Which paths foreign code sees. sys/sandbox tests how the kernel applies a policy.

namespace wheelsmith::run {

namespace {

namespace fs = std::filesystem;

struct Policies {
  sys::TempDir folder;
  fs::path store = folder.path() / "store";
  fs::path data = folder.path() / "data";  // another user's data on this machine

  Policies() {
    for (const fs::path& path : {store / "envs/key/site", data / "shared"}) sys::make_folders(path);
  }

  [[nodiscard]] PolicyMaker maker() const { return {SandboxOptions{.mode = "off", .open = {}}, {store}}; }

  // The error for a path that a recipe opens; "" when allowed.
  [[nodiscard]] std::string refusal(const fs::path& path) const {
    PolicyMaker policy = maker();
    try {
      policy.opened_by_recipe({recipe::OpenPath{.path = path.string(), .write = false, .why = "a test"}});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

bool shows(const PolicyMaker& maker, const fs::path& path) {
  const auto& list = maker.policy().readable;
  return std::find(list.begin(), list.end(), path) != list.end();
}

}  // namespace

// A package writes its own .pth files, also while an environment is built from its wheel.
TEST(SandboxPolicy, IgnoresPthFilesInTheStore) {
  const Policies at;
  const fs::path site = at.store / "envs/key/site";
  sys::write_file(site / "evil.pth", (at.data / "shared").string() + "\n");
  PolicyMaker maker = at.maker();
  maker.site(site);
  EXPECT_TRUE(shows(maker, site));
  EXPECT_FALSE(shows(maker, at.data / "shared"));

  // Also when the folder is reached through a link.
  fs::create_directory_symlink(site, at.data / "alias");
  PolicyMaker by_link = at.maker();
  by_link.site(at.data / "alias");
  EXPECT_FALSE(shows(by_link, at.data / "shared"));
}

// In the user's own environment an editable install is a .pth file.
TEST(SandboxPolicy, FollowsPthFilesOfTheUsersEnvironment) {
  const Policies at;
  const fs::path site = at.folder.path() / "venv/site-packages";
  sys::make_folders(site);
  sys::write_file(site / "editable.pth", "import site\nrelative\n" + (at.data / "shared").string() + "\n/\n");
  PolicyMaker maker = at.maker();
  maker.site(site);
  EXPECT_TRUE(shows(maker, at.data / "shared"));
  EXPECT_FALSE(shows(maker, "/"));
}

TEST(SandboxPolicy, LetsARecipeOpenFoldersAndDevices) {
  const Policies at;
  EXPECT_EQ(at.refusal(at.data / "shared"), "");
  EXPECT_EQ(at.refusal("/dev/null"), "");
}

TEST(SandboxPolicy, RejectsSystemPathsOfARecipe) {
  const Policies at;
  fs::create_directory_symlink("/etc", at.data / "link");
  fs::create_directory_symlink(at.store, at.data / "link-to-store");
  for (const fs::path& path :
       {fs::path("/"), fs::path("/dev"), fs::path("/dev/shm"), fs::path("/dev/fd"), fs::path("/etc"),
        fs::path("/etc/ssh"), fs::path("/proc"), fs::path("/proc/1/root"), fs::path("/run"),
        fs::path("/run/docker.sock"), fs::path("/sys/kernel"), fs::path("/var"), fs::path("/var/run/docker.sock"),
        fs::path("/data/../etc"), at.data / "link", at.data / "link" / "ssh"})
    EXPECT_NE(at.refusal(path).find("a socket or a system folder"), std::string::npos) << path << at.refusal(path);
  for (const fs::path& path : {at.store, at.store / "blobs", at.folder.path(), fs::path("/home"), fs::path("/root"),
                               fs::path("/home/somebody/.ssh"), at.data / "link-to-store" / "steps"})
    EXPECT_NE(at.refusal(path).find("home folder or the store"), std::string::npos) << path << at.refusal(path);
}

// A folder only exposes its files; a socket is another program that acts on requests.
TEST(SandboxPolicy, RejectsSocketsOfARecipe) {
  const Policies at;
  const fs::path path = at.data / "service.sock";
  const sys::LocalListener server(path);
  EXPECT_NE(at.refusal(path).find("a socket or a system folder"), std::string::npos) << at.refusal(path);
  fs::create_symlink(path, at.data / "plain-name");
  EXPECT_NE(at.refusal(at.data / "plain-name").find("a socket or a system folder"), std::string::npos);
}

}  // namespace wheelsmith::run
