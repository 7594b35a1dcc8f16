#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "store/store.h"
#include "store/test_store.h"

namespace wheelsmith::store {
namespace {

using Ids = std::vector<std::string>;

void overwrite(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  std::ofstream(file, std::ios::trunc) << text;
}

// Last used this many seconds ago.
void age(const std::filesystem::path& path, std::int64_t seconds) {
  const timespec then{::time(nullptr) - seconds, 0};
  const timespec times[2] = {then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
}

void make_env(Store& store, const std::string& key, bool whole, std::int64_t used) {
  const auto folder = store.folder("envs") / key;
  std::filesystem::create_directories(folder / "lib");
  std::ofstream(folder / "lib" / "file") << std::string(1000, 'x');
  if (!whole) return;
  store.seal(folder);
  EXPECT_TRUE(store.is_complete(folder));
  age(folder / k_complete_mark, used);
}

TEST(Verify, ReportsEachProblem) {
  TestStore at;
  const StepRecord corrupt = at.step("corrupt", "1", 1);
  const StepRecord without = at.step("without", "1", 1);
  const StepRecord unreadable = at.step("unreadable", "1", 1);
  overwrite(*at.store.blob(corrupt.wheel_sha256), "wheel of corrupt 2");
  std::filesystem::remove(*at.store.blob(without.wheel_sha256));
  overwrite(at.store.root() / "steps" / (unreadable.key + ".json"), "{");
  const auto download = at.store.folder("downloads") / std::string(64, 'a');
  std::filesystem::create_directories(download);
  std::ofstream(download / "torch.whl") << "not what was asked for";
  make_env(at.store, "whole", true, 0);
  make_env(at.store, "half", false, 0);
  make_env(at.store, "being-made", false, 0);
  const auto held = at.store.lock(env_lock("being-made"));

  const auto findings = at.store.verify(false);
  EXPECT_EQ(ids(findings), (Ids{"store-blob-corrupt", "store-blob-corrupt", "store-step-unreadable",
                                "store-step-without-blob", "store-env-unfinished"}));
  EXPECT_EQ(findings[0].subject, "blobs/" + corrupt.wheel_sha256);
  EXPECT_EQ(findings[1].subject, "downloads/" + std::string(64, 'a') + "/torch.whl");
  EXPECT_EQ(findings[4].subject, "envs/half");
}

TEST(Verify, ReportsForeignFilesAmongTheBlobs) {
  TestStore at;
  at.step("a", "1", 1);
  std::ofstream(at.store.root() / "blobs" / "stray") << "text";
  std::filesystem::create_directory(at.store.root() / "blobs" / "folder");
  std::filesystem::create_symlink("/nowhere", at.store.root() / "blobs" / "link");
  EXPECT_EQ(ids(at.store.verify(false)), (Ids{"store-blob-corrupt", "store-blob-corrupt", "store-blob-corrupt"}));
}

TEST(Index, IsRebuiltWhenMissingOrCorrupt) {
  const std::vector<std::function<void(const std::filesystem::path&)>> harms = {
      [](const auto& file) { std::filesystem::remove(file); },
      [](const auto& file) { overwrite(file, "garbage"); },
      [](const auto& file) { overwrite(file, std::string(100'000, 'g')); },
      [](const auto& file) { std::filesystem::resize_file(file, 5000); },
      [](const auto& file) {
        std::fstream(file, std::ios::in | std::ios::out).seekp(4096) << std::string(4096 * 3, '\xa5');
      },
      [](const auto& file) { std::filesystem::resize_file(file, 0); },
  };
  for (std::size_t harm = 0; harm < harms.size(); ++harm) {
    TestStore at;
    const auto index = at.store.root() / "index.sqlite";
    StepRecord newest;
    {
      Store store(at.store.root());
      at.step("a", "1", 100);
      newest = at.step("a", "2", 200);
      for (int i = 0; i < 200; ++i) store.remember("kind", std::to_string(i), "1", std::string(200, 'f'));
    }
    const auto copy = at.temp.path() / "copied";
    // Another store with the same files: no process has the index open.
    std::filesystem::copy(at.store.root(), copy, std::filesystem::copy_options::recursive);
    std::filesystem::remove_all(copy / "tmp");
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(copy / ("index.sqlite" + std::string(suffix)));
    if (!std::filesystem::exists(copy / "index.sqlite")) std::ofstream(copy / "index.sqlite");
    harms[harm](copy / "index.sqlite");
    Store store(copy);
    EXPECT_EQ(ids(store.verify(false)), Ids{"store-index-stale"}) << harm;
    ASSERT_TRUE(store.newest_step("a")) << harm;
    EXPECT_EQ(store.newest_step("a")->key, newest.key) << harm;
    store.remember("kind", "again", "1", "facts");
    EXPECT_EQ(Store(copy).remembered("kind", "again", "1"), "facts") << harm;
    EXPECT_TRUE(store.verify(true).empty()) << harm;
    EXPECT_TRUE(std::filesystem::exists(index));
  }
}

TEST(Index, FallsBackToMemoryWhenItsPathIsAFolder) {
  TestStore at;
  std::filesystem::create_directories(at.store.root() / "index.sqlite" / "mine");
  const StepRecord put = at.step("a", "1", 100);
  at.store.remember("kind", "subject", "1", "facts");
  EXPECT_EQ(at.store.remembered("kind", "subject", "1"), "facts");
  EXPECT_EQ(at.store.newest_step("a")->key, put.key);
  EXPECT_EQ(Store(at.store.root()).newest_step("a")->key, put.key);
  EXPECT_TRUE(std::filesystem::exists(at.store.root() / "index.sqlite" / "mine"));
}

TEST(Index, AnswersAPlanOfAThousandSteps) {
  TestStore at;
  StepRecord record = at.step("step 0", "1", 1);
  for (int i = 1; i < 1000; ++i) {
    record.identity = "step " + std::to_string(i);
    record.manifest.set("identity", record.identity);
    record.key = record.manifest.key();
    // As put_step writes it, but without the disk sync.
    std::ofstream(at.store.root() / "steps" / (record.key + ".json")) << document::to_json(record.to_value());
  }
  int found = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string subject = std::to_string(i);
    found += at.store.newest_step("step " + subject).has_value() ? 1 : 0;
    for (const char* kind : {"a", "b", "c"}) {
      at.store.remember(kind, subject, "1", "facts");
      found += at.store.remembered(kind, subject, "1").has_value() ? 1 : 0;
    }
  }
  EXPECT_EQ(found, 4000);
}

TEST(Collect, RemovesTheCheapestFirstUntilTheRestFits) {
  TestStore at;
  const StepRecord step = at.step("a", "1", 1);
  age(at.store.root() / "steps" / (step.key + ".json"), 9000);
  age(*at.store.blob(step.wheel_sha256), 9000);
  const std::string orphan = at.store.put_blob(at.file("orphan", std::string(1000, 'o')));
  age(*at.store.blob(orphan), 5000);
  make_env(at.store, "old", true, 8000);
  make_env(at.store, "older", true, 9000);
  const auto tree = at.store.tree("a;b");
  std::filesystem::create_directories(tree);
  std::ofstream(tree / "object.o") << std::string(1000, 'x');
  age(tree, 7000);

  const std::vector<std::string> order = {"blobs/" + orphan, "trees/" + slug("a;b"), "envs/older", "envs/old",
                                          "steps/" + step.key + ".json"};
  std::vector<Removed> removed;
  at.store.collect(0, 4000, true, removed);
  EXPECT_EQ(paths(removed), order);
  EXPECT_TRUE(std::filesystem::exists(tree));

  // Orphan and tree are enough.
  removed.clear();
  EXPECT_EQ(at.store.collect(3600, 4000, false, removed), 2000u);
  EXPECT_EQ(paths(removed), std::vector(order.begin(), order.begin() + 2));
  EXPECT_FALSE(std::filesystem::exists(tree));

  removed.clear();
  at.store.collect(0, 4000, false, removed);
  EXPECT_EQ(paths(removed), std::vector(order.begin() + 2, order.end()));
  EXPECT_FALSE(at.store.find_step(step.key));
  EXPECT_FALSE(at.store.blob(step.wheel_sha256));
  EXPECT_TRUE(at.store.verify(false).empty()) << "the index is up to date";
}

TEST(Collect, OrdersByValueAndNamesRemovedItems) {
  TestStore at;
  const std::filesystem::path root = at.store.root();
  const StepRecord step = at.step("a", "1", 1);
  const std::string sha256(64, 'a');
  for (const std::string& name :
       std::vector<std::string>{"trees/t/o", "shims/s/bin/gcc", "downloads/" + sha256 + "/torch-2.whl",
                                "envs/e/.wheelsmith-complete", "objects/a/b/one"}) {
    sys::make_folders((root / name).parent_path());
    sys::write_file(root / name, "x");
    age(root / name, 100'000);
  }
  for (const char* name : {"trees/t", "shims/s"}) age(root / name, 100'000);
  age(root / "downloads" / sha256, 100'000);
  age(root / "steps" / (step.key + ".json"), 200'000);
  age(*at.store.blob(step.wheel_sha256), 200'000);
  std::vector<Removed> removed;
  at.store.collect(0, 90'000, true, removed);
  std::string text;
  for (const Removed& item : removed) text += std::string(enum_name(item.kind)) + " " + item.name + "; ";
  EXPECT_EQ(text, "tree ; shim ; download torch-2.whl; environment ; object ; wheel texture-1-py3-none-any.whl; ");
  EXPECT_GT(removed.back().bytes, 0u);
  EXPECT_GE(::time(nullptr) - removed.back().used, 199'000);
}

TEST(Wheels, AreListedAndRemovedSelectively) {
  TestStore at;
  const StepRecord old = at.step("a", "1", 100);
  const StepRecord kept = at.step("b", "2", 200);
  StepRecord twin = old;  // another step that made the same wheel
  twin.manifest.set("env:X", "1");
  twin.key = twin.manifest.key();
  at.store.put_step(twin);
  std::filesystem::create_directories(at.store.tree("a"));
  std::vector<StoredWheel> wheels = at.store.wheels();
  ASSERT_EQ(wheels.size(), 3u);
  EXPECT_EQ(wheels[0].version, "2") << "the newest first";
  EXPECT_EQ(wheels[0].wheel_name, "texture-2-py3-none-any.whl");
  std::erase_if(wheels, [](const StoredWheel& wheel) { return wheel.version != "1"; });

  std::vector<Removed> removed;
  std::vector<std::string> held;
  {
    const auto lock = at.store.lock(step_lock(old.key));
    at.store.remove_wheels(wheels, true, removed, held);
    EXPECT_EQ(held, std::vector<std::string>{old.key}) << "a build holds it";
  }
  EXPECT_EQ(at.store.wheels().size(), 3u) << "a dry run";
  removed.clear();
  held.clear();
  EXPECT_GT(at.store.remove_wheels(wheels, false, removed, held), 0u);
  EXPECT_TRUE(held.empty());
  EXPECT_EQ(at.store.wheels().size(), 1u);
  EXPECT_FALSE(at.store.blob(old.wheel_sha256)) << "no step names it any more";
  EXPECT_FALSE(std::filesystem::exists(at.store.tree("a")));
  EXPECT_TRUE(at.store.find_step(kept.key));
  EXPECT_TRUE(at.store.verify(false).empty()) << "the index is up to date";
}

TEST(Collect, FreesASharedShimProgramWithItsLastLink) {
  TestStore at;
  const std::filesystem::path root = at.store.root();
  const std::filesystem::path program = root / "shims/programs/p/wheelsmith-shim";
  sys::make_folders(program.parent_path());
  sys::make_folders(root / "shims/s/bin");
  sys::write_file(program, "program");
  std::filesystem::create_hard_link(program, root / "shims/s/bin/wheelsmith-shim");
  age(program.parent_path(), 100'000);
  age(root / "shims/s", 200'000);
  std::vector<Removed> removed;
  at.store.collect(0, 90'000, false, removed);
  EXPECT_EQ(paths(removed), std::vector<std::string>{"shims/s"});
  removed.clear();
  at.store.collect(0, 90'000, false, removed);
  EXPECT_EQ(paths(removed), std::vector<std::string>{"shims/programs/p"});
}

TEST(Collect, KeepsItemsThatAreLockedNewOrInUse) {
  TestStore at;
  make_env(at.store, "locked", true, 9000);
  make_env(at.store, "unlocked", true, 9000);
  make_env(at.store, "new", true, 10);
  make_env(at.store, "used", true, 9000);
  make_env(at.store, "half", false, 0);
  make_env(at.store, "being-made", false, 0);
  EXPECT_TRUE(at.store.is_complete(at.store.env("used")));  // which is a use
  const auto held = at.store.lock(env_lock("locked"));
  const auto made = at.store.lock(env_lock("being-made"));
  const std::string orphan = at.store.put_blob(at.file("orphan", "a blob whose step is about to be written"));
  std::vector<Removed> removed;
  at.store.collect(0, 100, false, removed);
  EXPECT_EQ(paths(removed), (std::vector<std::string>{"envs/unlocked", "envs/half"}));
  EXPECT_TRUE(at.store.blob(orphan));
}

TEST(Collect, HandlesShimsObjectsAndTheJournal) {
  TestStore at;
  const std::filesystem::path root = at.store.root();
  for (const char* name : {"shims/old/bin/gcc", "shims/of-today/bin/gcc", "objects/a/b/old", "objects/a/b/new",
                           "objects/digests", "objects/used", "ccache/a", "units/journal.tsv"}) {
    sys::make_folders((root / name).parent_path());
    sys::write_file(root / name, "x");
    if (std::string_view(name) != "objects/a/b/new") age(root / name, 9000);
  }
  age(root / "shims/old", 100'000);
  age(root / "shims/of-today", 80'000);
  std::vector<Removed> removed;
  at.store.collect(0, 4000, false, removed);
  EXPECT_EQ(paths(removed), (std::vector<std::string>{"ccache/a", "shims/old", "objects/a/b/old"}));
  EXPECT_TRUE(std::filesystem::exists(root / "units/journal.tsv")) << "what was learned is never removed";
  EXPECT_TRUE(std::filesystem::exists(root / "objects/digests"));
}

TEST(Collect, KeepsAWheelWhileAStepRefersToIt) {
  TestStore at;
  const StepRecord one = at.step("a", "1", 1);
  StepRecord two = one;
  two.manifest.set("env:X", "1");
  two.key = two.manifest.key();
  at.store.put_step(two);
  age(at.store.root() / "steps" / (one.key + ".json"), 9000);
  age(*at.store.blob(one.wheel_sha256), 9000);
  std::vector<Removed> removed;
  at.store.collect(0, 4000, false, removed);
  EXPECT_EQ(paths(removed), std::vector<std::string>{"steps/" + one.key + ".json"});
  EXPECT_TRUE(at.store.find_step(two.key));
}

TEST(Collect, RemovesNothingFromAForeignFolder) {
  sys::TempDir temp;
  std::filesystem::create_directories(temp.path() / "envs" / "of-the-user");
  Store store(temp.path());
  std::vector<Removed> removed;
  EXPECT_THROW(store.collect(0, 0, false, removed), Error);
  EXPECT_TRUE(std::filesystem::exists(temp.path() / "envs" / "of-the-user"));
}

}  // namespace
}  // namespace wheelsmith::store
