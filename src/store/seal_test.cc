#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "store/test_store.h"

namespace wheelsmith::store {
namespace {

// A small environment: files, a program, links, an empty folder.
struct SealedFolder {
  TestStore at;
  std::filesystem::path folder = at.store.env(std::string(64, 'e'));
  int made = 0;

  void use(Store& store) {
    store.use_folder(folder, env_lock(std::string(64, 'e')), [&] {
      ++made;
      sys::remove_tree(folder);
      sys::make_folders(folder / "lib" / "site");
      sys::make_folders(folder / "include");
      sys::write_file(folder / "lib" / "site" / "module.py", "answer = 42\n");
      sys::write_file(folder / "lib" / "site" / "name with\nline.py", "answer = 43\n");
      sys::write_file(folder / "run", "#!/bin/sh\n");
      std::filesystem::permissions(folder / "run", std::filesystem::perms(0755));
      std::filesystem::create_symlink("lib", folder / "lib64");
    });
  }
  // In a separate process, like each build.
  int use() {
    made = 0;
    Store store(at.store.root());
    use(store);
    return made;
  }
};

void change(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::permissions(file.parent_path(), std::filesystem::perms(0755));
  if (std::filesystem::exists(file)) std::filesystem::permissions(file, std::filesystem::perms(0644));
  std::ofstream(file, std::ios::trunc) << text;
}

// Like a faulty disk: size and modification time stay the same.
void change_silently(const std::filesystem::path& file, const std::string& text) {
  struct stat before{};
  ASSERT_EQ(::stat(file.c_str(), &before), 0);
  change(file, text);
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

TEST(Seal, CreatesOnceAndReadOnly) {
  SealedFolder sealed;
  EXPECT_EQ(sealed.use(), 1);
  EXPECT_EQ(sealed.use(), 0);
  for (const char* name : {"lib/site/module.py", "run"}) {
    struct stat status{};
    ASSERT_EQ(::stat((sealed.folder / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0222, 0u) << name;
  }
  struct stat program{};
  ASSERT_EQ(::stat((sealed.folder / "run").c_str(), &program), 0);
  EXPECT_EQ(program.st_mode & 0777, 0555u);
  EXPECT_TRUE(sealed.at.store.verify(false).empty());
}

TEST(Seal, RecreatesDamagedFolders) {
  using Harm = std::function<void(const std::filesystem::path&)>;
  const std::vector<Harm> harms = {
      [](const auto& root) { change(root / "lib/site/module.py", "answer = 41\n"); },
      [](const auto& root) { change_silently(root / "lib/site/module.py", "answer = 41\n"); },
      [](const auto& root) { change(root / "lib/site/module.py", ""); },
      [](const auto& root) { change(root / "lib/site/sitecustomize.py", "import evil\n"); },
      [](const auto& root) { change(root / "evil.pth", "import evil\n"); },
      [](const auto& root) { std::filesystem::permissions(root / "run", std::filesystem::perms(0444)); },
      [](const auto& root) { sys::remove_tree(root / "lib/site/module.py"); },
      [](const auto& root) { sys::remove_tree(root / "include"); },
      [](const auto& root) {
        std::filesystem::remove(root / "lib64");
        std::filesystem::create_symlink("include", root / "lib64");
      },
      [](const auto& root) {
        std::filesystem::permissions(root / "lib/site", std::filesystem::perms(0755));
        std::filesystem::remove(root / "lib/site/module.py");
        std::filesystem::create_symlink("/etc/passwd", root / "lib/site/module.py");
      },
      [](const auto& root) { std::filesystem::resize_file(root / k_complete_mark, 100); },
      [](const auto& root) {
        std::fstream(root / k_complete_mark, std::ios::in | std::ios::out).seekp(80).put('\xa5');
      },
  };
  for (std::size_t harm = 0; harm < harms.size(); ++harm) {
    SealedFolder sealed;
    sealed.use();
    harms[harm](sealed.folder);
    EXPECT_EQ(ids(sealed.at.store.verify(false)), std::vector<std::string>{"store-env-damaged"}) << harm;
    EXPECT_EQ(sealed.use(), 1) << harm;
    EXPECT_EQ(sys::read_file(sealed.folder / "lib/site/module.py"), "answer = 42\n");
    EXPECT_EQ(sealed.use(), 0) << harm;
    EXPECT_TRUE(sealed.at.store.verify(false).empty()) << harm;
  }
}

TEST(Seal, RecreatesIncompleteFolders) {
  SealedFolder sealed;
  const std::string lock = env_lock(std::string(64, 'e'));
  EXPECT_THROW(sealed.at.store.use_folder(sealed.folder, lock,
                                          [&] {
                                            sys::make_folders(sealed.folder);
                                            throw Error("no space left");
                                          }),
               Error);
  EXPECT_EQ(ids(sealed.at.store.verify(false)), std::vector<std::string>{"store-env-unfinished"});
  EXPECT_EQ(sealed.use(), 1);
}

TEST(Seal, RereadsTouchedFilesAndAcceptsThem) {
  SealedFolder sealed;
  sealed.use();
  sys::touch(sealed.folder / "lib/site/module.py");
  std::filesystem::create_hard_link(sealed.folder / "run", sealed.at.temp.path() / "run");
  EXPECT_EQ(sealed.use(), 0);
  EXPECT_TRUE(sealed.at.store.verify(false).empty());
}

TEST(Seal, RemovesByteCodeBeforeUse) {
  SealedFolder sealed;
  sealed.use();
  const auto site = sealed.folder / "lib" / "site";
  std::filesystem::permissions(site, std::filesystem::perms(0755));
  sys::make_folders(site / "__pycache__");
  std::ofstream(site / "__pycache__" / "module.cpython-311.pyc") << "half";
  EXPECT_EQ(ids(sealed.at.store.verify(false)), std::vector<std::string>{"store-env-bytecode"});
  EXPECT_EQ(sealed.use(), 0);
  EXPECT_FALSE(std::filesystem::exists(site / "__pycache__"));
  EXPECT_TRUE(sealed.at.store.verify(false).empty());
}

TEST(Seal, ReportsAChangeDuringUse) {
  SealedFolder sealed;
  Store store(sealed.at.store.root());
  sealed.use(store);
  EXPECT_EQ(store.changed_in_use(), "");
  change(sealed.folder / "lib/site/module.py", "answer = 41\n");
  EXPECT_EQ(store.changed_in_use(), "envs/" + std::string(64, 'e') + ": lib/site/module.py was changed");
}

TEST(Seal, CollectKeepsFoldersInUse) {
  SealedFolder sealed;
  sealed.use();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = start_child([&] {
    Store store(sealed.at.store.root());
    sealed.use(store);
    (void)!::write(ready[1], "x", 1);
    ::pause();
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  std::vector<Removed> removed;
  sealed.at.store.collect(0, 0, false, removed);
  EXPECT_TRUE(removed.empty()) << removed[0].path;
  EXPECT_TRUE(std::filesystem::exists(sealed.folder / "run"));
  ::kill(child, SIGKILL);
  end_of(child);
  sealed.at.store.collect(0, 0, false, removed);
  EXPECT_FALSE(std::filesystem::exists(sealed.folder));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(Verify, RewritesADamagedTag) {
  TestStore at;
  at.step("a", "1", 1);
  change(at.store.root() / "CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc56\n");
  EXPECT_EQ(ids(at.store.verify(false)), std::vector<std::string>{"store-tag-damaged"});
  EXPECT_TRUE(at.store.verify(true).empty());
  EXPECT_TRUE(at.store.verify(false).empty());
}

TEST(Seal, ToleratesAClockSetBack) {
  SealedFolder sealed;
  sealed.use();
  const timespec next_year{::time(nullptr) + 365 * 86'400, 0};
  const timespec times[2] = {next_year, next_year};
  ASSERT_EQ(::utimensat(AT_FDCWD, (sealed.folder / k_complete_mark).c_str(), times, 0), 0);
  std::vector<Removed> removed;
  sealed.at.store.collect(0, 86'400, false, removed);
  EXPECT_TRUE(removed.empty());
  // It ages from now on.
  struct stat status{};
  ASSERT_EQ(::stat((sealed.folder / k_complete_mark).c_str(), &status), 0);
  EXPECT_LE(status.st_mtime, ::time(nullptr) + 1);
  EXPECT_EQ(sealed.use(), 0);
}

}  // namespace
}  // namespace wheelsmith::store
