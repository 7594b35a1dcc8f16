#include "store/store.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "store/test_store.h"
#include "sys/file.h"
#include "sys/file_state.h"

namespace wheelsmith::store {
namespace {

TEST(Slug, IsASafeNameThatDistinguishesTexts) {
  const std::vector<std::string> table = {
      "", ".", "..", "/", "a/b", "a-b", "a;b", "a+b", "../../etc", "torch;cuda;8.0+PTX", "\xff", "A", "a"};
  std::set<std::string> names;
  for (const std::string& text : table) {
    const std::string name = slug(text);
    EXPECT_TRUE(names.insert(name).second) << text;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"),
              std::string::npos);
    EXPECT_NE(name.front(), '.');
    EXPECT_NE(name.front(), '-');
  }
  EXPECT_TRUE(slug("torch;cuda;8.0+PTX").starts_with("torch-cuda-8.0-PTX-"));
  EXPECT_LE(slug(std::string(100'000, 'x')).size(), 80u);
  EXPECT_NE(slug(std::string(1000, 'x')), slug(std::string(1001, 'x')));
}

TEST(Store, StoresABlobUnderItsHash) {
  TestStore at;
  const auto file = at.file("demo.whl", "wheel bytes");
  const std::string name = at.store.put_blob(file);
  EXPECT_EQ(name, to_hex(sha256(Bytes("wheel bytes"))));
  const auto blob = at.store.blob(name);
  ASSERT_TRUE(blob);
  EXPECT_EQ(sys::read_file(*blob), "wheel bytes");

  // Later changes to the user's file do not reach the store.
  std::ofstream(file) << "changed";
  EXPECT_EQ(sys::read_file(*blob), "wheel bytes");
  struct stat status{};
  ASSERT_EQ(::stat(blob->c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0444u);
  EXPECT_EQ(status.st_nlink, 1u);

  // The same name: left as it is.
  EXPECT_EQ(at.store.put_blob(at.file("other.whl", "wheel bytes")), name);
  struct stat again{};
  ASSERT_EQ(::stat(blob->c_str(), &again), 0);
  EXPECT_EQ(again.st_ino, status.st_ino);
  EXPECT_TRUE(at.store.verify(false).empty());
}

TEST(Store, AcceptsAnEmptyBlobAndRejectsNonFiles) {
  TestStore at;
  EXPECT_TRUE(at.store.blob(at.store.put_blob(at.file("empty", ""))));
  EXPECT_THROW(at.store.put_blob(at.temp.path() / "absent"), Error);
  EXPECT_THROW(at.store.put_blob(at.temp.path()), Error);
  for (const char* name : {"", "..", "../steps", "abc", "/etc/passwd"}) EXPECT_FALSE(at.store.blob(name)) << name;
  EXPECT_TRUE(at.store.verify(false).empty());
}

TEST(Store, RepairsATruncatedBlob) {
  TestStore at;
  const auto file = at.file("demo.whl", "wheel bytes");
  const auto blob = at.store.root() / "blobs" / at.store.put_blob(file);
  std::filesystem::permissions(blob, std::filesystem::perms::owner_all);
  std::filesystem::resize_file(blob, 3);
  at.store.put_blob(file);
  EXPECT_EQ(sys::read_file(blob), "wheel bytes");
}

// The size is the same, and the time may have been set back.
void change_byte(const std::filesystem::path& file, std::size_t at, char mask) {
  const auto time = std::filesystem::last_write_time(file);
  const auto mode = std::filesystem::status(file).permissions();
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  std::string bytes = sys::read_file(file);
  bytes.at(at) = static_cast<char>(bytes.at(at) ^ mask);
  {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::filesystem::last_write_time(file, time);
  std::filesystem::permissions(file, mode);
}

TEST(Store, ReplacesADamagedWheelInsteadOfDeliveringIt) {
  TestStore at;
  const StepRecord step = at.step("texture", "1.0", 1);
  ASSERT_TRUE(at.store.find_step(step.key));  // verified, and remembered
  const auto blob = *at.store.blob(step.wheel_sha256);
  change_byte(blob, 3, 1);
  EXPECT_FALSE(at.store.find_step(step.key));
  EXPECT_FALSE(at.store.newest_step("texture"));
  at.step("texture", "1.0", 2);
  ASSERT_TRUE(at.store.find_step(step.key));
  EXPECT_EQ(to_hex(sha256(Bytes(sys::read_file(blob)))), step.wheel_sha256);
  EXPECT_TRUE(at.store.verify(false).empty());
}

// Another write within the same tick of the file system's clock would not change its stat.
TEST(Store, DoesNotRememberTheHashOfAFileThatWasJustWritten) {
  TestStore at;
  const StepRecord step = at.step("texture", "1.0", 1);
  ASSERT_TRUE(at.store.find_step(step.key));
  const auto is_remembered = [&](const std::filesystem::path& path) {
    return at.store.remembered("sha256", path.string(), *sys::stat_fingerprint(path)).has_value();
  };
  EXPECT_FALSE(is_remembered(*at.store.blob(step.wheel_sha256)));
  const std::filesystem::path old = "/bin/sh";
  EXPECT_TRUE(at.store.has_sha256(old, to_hex(sha256(Bytes(sys::read_file(old))))));
  EXPECT_TRUE(is_remembered(old));
}

// Silent disk corruption changes no time: the remembered stat is not enough then.
TEST(Store, DiscardsABlobKnownToBeDamaged) {
  TestStore at;
  const StepRecord step = at.step("texture", "1.0", 1);
  at.store.discard_damaged_blob("../index.sqlite");
  at.store.discard_damaged_blob(step.wheel_sha256);
  EXPECT_FALSE(at.store.find_step(step.key));
  EXPECT_EQ(at.step("texture", "1.0", 2).wheel_sha256, step.wheel_sha256);
  EXPECT_TRUE(at.store.find_step(step.key));
}

TEST(Store, DetectsAChangedByteInAStep) {
  TestStore at;
  const StepRecord step = at.step("texture", "1.0", 1);
  const auto file = at.store.root() / "steps" / (step.key + ".json");
  ASSERT_TRUE(std::filesystem::exists(file));
  const std::size_t size = sys::read_file(file).size();
  for (std::size_t place = 0; place < size; ++place) {
    const auto mask = static_cast<char>(1 << (place % 7));
    change_byte(file, place, mask);
    const auto found = at.store.find_step(step.key);
    // White space may differ, values may not.
    if (found) {
      EXPECT_EQ(found->to_value(), step.to_value()) << place;
    }
    change_byte(file, place, mask);
  }
  EXPECT_TRUE(at.store.find_step(step.key));
}

TEST(Store, DropsAnUnreferencedBlob) {
  TestStore at;
  const StepRecord step = at.step("texture", "1.0", 1);
  const std::string lone = at.store.put_blob(at.file("lone", "unused"));
  at.store.drop_blob(lone);
  at.store.drop_blob(step.wheel_sha256);
  at.store.drop_blob("../index.sqlite");
  EXPECT_FALSE(at.store.blob(lone));
  EXPECT_TRUE(at.store.blob(step.wheel_sha256));
}

TEST(Store, FindsAStoredStep) {
  TestStore at;
  const StepRecord put = at.step("texture;cuda;9.0a+PTX", "1", 100);
  const auto found = at.store.find_step(put.key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->to_value(), put.to_value());
  EXPECT_FALSE(at.store.find_step(std::string(64, '0')));
  EXPECT_FALSE(at.store.find_step("../../etc/passwd"));
}

TEST(Store, IgnoresAStepWithoutItsWheel) {
  TestStore at;
  const StepRecord gone = at.step("a", "1", 100);
  const StepRecord cut = at.step("b", "1", 100);
  std::filesystem::remove(*at.store.blob(gone.wheel_sha256));
  std::filesystem::permissions(*at.store.blob(cut.wheel_sha256), std::filesystem::perms::owner_all);
  std::filesystem::resize_file(*at.store.blob(cut.wheel_sha256), 1);
  EXPECT_FALSE(at.store.find_step(gone.key));
  EXPECT_FALSE(at.store.find_step(cut.key));
  EXPECT_FALSE(at.store.newest_step("a"));
}

TEST(Store, IgnoresInvalidSteps) {
  const char* table[] = {
      "", "{", "null", "[]", R"({"schema":3})", R"({"schema":1,"key":7})", R"({"schema":2,"key":7})"};
  for (const char* text : table) {
    TestStore at;
    const StepRecord put = at.step("a", "1", 100);
    std::ofstream(at.store.root() / "steps" / (put.key + ".json")) << text;
    EXPECT_FALSE(at.store.find_step(put.key)) << text;
    EXPECT_EQ(ids(at.store.verify(false)), std::vector<std::string>{"store-step-unreadable"}) << text;
    at.store.put_step(put);
    EXPECT_TRUE(at.store.find_step(put.key));
  }
}

// Even root cannot read a link to itself. "Not built" would cost an hours-long build, and gc would treat the wheel as
// unreferenced.
TEST(Store, ThrowsForAStepTheDiskCannotRead) {
  TestStore at;
  const StepRecord put = at.step("a", "1", 100);
  const std::filesystem::path file = at.store.root() / "steps" / (put.key + ".json");
  std::filesystem::remove(file);
  std::filesystem::create_symlink(file, file);
  EXPECT_THROW((void)at.store.find_step(put.key), Error);
  std::vector<Removed> removed;
  EXPECT_THROW(at.store.collect(0, -1, false, removed), Error);
  EXPECT_TRUE(at.store.blob(put.wheel_sha256));
}

TEST(Store, RejectsAStepThatNamesAFileOutsideTheWheelhouse) {
  TestStore at;
  StepRecord record = at.step("a", "1", 100);
  for (const char* name : {"../x.whl", "/x.whl", "..", "a/b.whl"}) {
    record.wheel_name = name;
    EXPECT_THROW(StepRecord::from_value(record.to_value()), Error) << name;
  }
}

TEST(Store, FindsTheNewestStepOfAnIdentity) {
  TestStore at;
  EXPECT_FALSE(at.store.newest_step("a"));
  const StepRecord newer = at.step("a", "2", 200);
  at.step("a", "1", 100);
  at.step("b", "3", 300);
  ASSERT_TRUE(at.store.newest_step("a"));
  EXPECT_EQ(at.store.newest_step("a")->key, newer.key);

  // Changes by another process are visible at once.
  std::filesystem::remove(at.store.root() / "steps" / (newer.key + ".json"));
  ASSERT_TRUE(at.store.newest_step("a"));
  EXPECT_EQ(at.store.newest_step("a")->version, "1");
  Store other(at.store.root());
  other.put_step(newer);
  EXPECT_EQ(at.store.newest_step("a")->key, newer.key);
}

TEST(Store, RemembersAttemptsAndCosts) {
  TestStore at;
  EXPECT_FALSE(at.store.last_try("a;b"));
  EXPECT_FALSE(at.store.last_cost("a;b"));
  Manifest manifest;
  manifest.set("source", "1");
  at.store.note_try("a;b", manifest);
  manifest.set("source", "2");
  at.store.note_try("a;b", manifest);
  at.store.note_cost("a;b", {10, 20, 30});
  at.store.note_cost("a;b", {1.5, 2, 3});
  // A full disk truncated the end of the file.
  std::ofstream(at.store.root() / "history" / (slug("a;b") + ".json"), std::ios::app) << R"({"identity":"a;b","sec)";

  EXPECT_EQ(at.store.last_try("a;b"), manifest);
  ASSERT_TRUE(at.store.last_cost("a;b"));
  EXPECT_EQ(at.store.last_cost("a;b")->seconds, 1.5);
  EXPECT_EQ(at.store.last_cost("a;b")->wheel_size, 2u);
  EXPECT_EQ(at.store.last_cost("a;b")->disk, 3u);
  EXPECT_FALSE(at.store.last_cost("a-b"));
}

TEST(Store, RemembersFactsWhileTheFingerprintMatches) {
  TestStore at;
  const std::string facts("a\0b", 3);
  at.store.remember("python", "/usr/bin/python3", "1", facts);
  at.store.remember("digest", "/usr/bin/python3", "1", "other");
  at.store.remember("", "", "", "");
  EXPECT_EQ(at.store.remembered("python", "/usr/bin/python3", "1"), facts);
  EXPECT_EQ(at.store.remembered("", "", ""), "");
  EXPECT_FALSE(at.store.remembered("python", "/usr/bin/python3", "2"));
  at.store.remember("python", "/usr/bin/python3", "2", "new");
  EXPECT_FALSE(at.store.remembered("python", "/usr/bin/python3", "1"));
  EXPECT_EQ(Store(at.store.root()).remembered("python", "/usr/bin/python3", "2"), "new");
}

TEST(Store, KeepsNotesUntilTheyAreReplaced) {
  TestStore at;
  EXPECT_FALSE(at.store.note("lock", "torch>=2; python"));
  at.store.put_note("lock", "torch>=2; python", "one");
  at.store.put_note("lock", "torch>=2; python", "two");
  at.store.put_note("../x", "../../y", "three");
  EXPECT_EQ(at.store.note("lock", "torch>=2; python"), "two");
  EXPECT_EQ(at.store.note("../x", "../../y"), "three");
  EXPECT_FALSE(std::filesystem::exists(at.store.root().parent_path() / "y"));
}

TEST(Store, DetectsAChangedByteInADocument) {
  TestStore at;
  at.store.put_note("lock", "torch>=2", R"({"wheels": ["torch-2.8.0"]})");
  Manifest manifest;
  manifest.set("source", "1.0");
  at.store.note_try("a;b", manifest);
  at.store.note_cost("a;b", {1.5, 2, 3});
  const std::map<std::string, std::function<bool()>> documents = {
      {"notes", [&] { return at.store.note("lock", "torch>=2").has_value(); }},
      {"tries", [&] { return at.store.last_try("a;b").has_value(); }},
      {"history", [&] { return at.store.last_cost("a;b").has_value(); }},
  };
  for (const auto& [part, is_there] : documents) {
    std::filesystem::path file;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(at.store.root() / part))
      if (entry.is_regular_file()) file = entry.path();
    ASSERT_TRUE(is_there()) << part;
    const std::size_t size = sys::read_file(file).size();
    for (std::size_t place = 0; place < size; ++place) {
      const auto mask = static_cast<char>(1 << (place % 7));
      change_byte(file, place, mask);
      EXPECT_FALSE(is_there()) << part << " " << place;
      EXPECT_EQ(at.store.verify(false).size(), 1u) << part << " " << place;
      change_byte(file, place, mask);
    }
    EXPECT_TRUE(is_there()) << part;
  }
  EXPECT_TRUE(at.store.verify(false).empty());
}

TEST(Store, ForgetsAChangedFact) {
  TestStore at;
  const auto index = at.store.root() / "index.sqlite";
  { Store(at.store.root()).remember("python", "/usr/bin/python3", "1", "linux_x86_64"); }
  const std::string bytes = sys::read_file(index);
  const std::size_t place = bytes.find("linux_x86_64");
  ASSERT_NE(place, bytes.npos);
  change_byte(index, place + 11, 1);
  EXPECT_FALSE(Store(at.store.root()).remembered("python", "/usr/bin/python3", "1"));
  EXPECT_EQ(ids(Store(at.store.root()).verify(false)), std::vector<std::string>{"store-index-stale"});
  EXPECT_TRUE(Store(at.store.root()).verify(true).empty());
}

TEST(Store, LocksOutOtherProcesses) {
  TestStore at;
  const auto held = at.store.lock(tree_lock("a;b"));
  EXPECT_FALSE(at.store.try_lock(tree_lock("a;b")));
  EXPECT_TRUE(at.store.try_lock(tree_lock("a-b")));
  EXPECT_TRUE(at.store.try_lock(env_lock("a;b")));
}

TEST(Store, NamesThePathWhenItCannotBeCreated) {
  sys::TempDir temp;
  const auto root = temp.path() / "file" / "store";
  std::ofstream(temp.path() / "file") << "no folder";
  try {
    Store store(root);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "the store " + root.string() +
                                             " is not writable: Not a directory; choose another with --store or "
                                             "WHEELSMITH_STORE");
  }
}

TEST(Store, LooksUpButDoesNotWriteWhenAFolderIsAFile) {
  TestStore at;
  for (const char* name : {"blobs", "steps", "tmp", "locks", "tries", "history", "notes", "index.sqlite-wal"})
    std::ofstream(at.store.root() / name) << "no folder";
  Store store(at.store.root());
  EXPECT_THROW(store.put_blob(at.file("demo.whl", "x")), Error);
  EXPECT_THROW(store.put_step({}), Error);
  EXPECT_THROW((void)store.temporary(), Error);
  EXPECT_THROW((void)store.lock("x"), Error);
  EXPECT_THROW(store.note_try("a", {}), Error);
  EXPECT_THROW(store.note_cost("a", {}), Error);
  EXPECT_THROW(store.put_note("a", "b", "c"), Error);
  EXPECT_FALSE(store.find_step(std::string(64, 'a')));
  EXPECT_FALSE(store.newest_step("a"));
  EXPECT_FALSE(store.last_try("a"));
  EXPECT_FALSE(store.last_cost("a"));
  EXPECT_FALSE(store.note("a", "b"));
  EXPECT_FALSE(store.remembered("a", "b", "c"));
}

// In a mount namespace of a child of its own, where that is allowed.
TEST(Store, ReadsFromAReadOnlyDisk) {
  TestStore at;
  const StepRecord put = at.step("a", "1", 100);
  at.store.remember("python", "/python", "1", "facts");
  at.store.note_cost("a", {1, 2, 3});
  const std::string root = at.store.root();
  const int status = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(77);
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(77);
    if (::mount(root.c_str(), root.c_str(), nullptr, MS_BIND, nullptr) != 0) ::_exit(77);
    if (::mount(nullptr, root.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) ::_exit(77);
    Store store(root);
    const auto newest = store.newest_step("a");
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->key, put.key);
    EXPECT_TRUE(store.last_cost("a"));
    store.remember("python", "/other", "1", "for this process");
    EXPECT_EQ(store.remembered("python", "/other", "1"), "for this process");
    EXPECT_EQ(store.folder("downloads"), std::filesystem::path(root) / "downloads");
    EXPECT_TRUE(store.verify(false).empty());
    const std::string words = "the store " + root +
                              " is not writable: Read-only file system; choose another with --store or "
                              "WHEELSMITH_STORE";
    const std::vector<std::function<void()>> writes = {
        [&] { store.put_blob(at.file("x", "x")); }, [&] { store.put_step(put); },
        [&] { (void)store.temporary(); },           [&] { store.note_try("a", {}); },
        [&] { store.note_cost("a", {}); },          [&] { store.put_note("a", "b", "c"); },
    };
    for (const auto& write : writes) {
      try {
        write();
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.what(), words);
      }
    }
  });
  if (status == 77) GTEST_SKIP() << "no mount namespace";
  EXPECT_EQ(status, 0);
}

TEST(Store, CountsItsEntries) {
  TestStore at;
  at.step("a", "1", 100);
  at.step("b", "1", 100);
  const Store::Stats stats = at.store.stats();
  EXPECT_EQ(stats.steps, 2u);
  const auto blobs =
      std::find_if(stats.parts.begin(), stats.parts.end(), [](const auto& p) { return p.name == "blobs"; });
  ASSERT_NE(blobs, stats.parts.end());
  EXPECT_EQ(blobs->files, 2u);
  EXPECT_EQ(blobs->bytes, std::string("wheel of a 1").size() * 2);
}

TEST(Store, KeepsWhatAStepSawAsLongAsTheStep) {
  const auto names = [](const TestStore& at) {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(at.store.root() / "seen"))
      found.insert(entry.path().stem());
    return found;
  };
  TestStore at;
  const StepRecord a = at.step("a", "1", 100), b = at.step("b", "1", 100);
  for (const StepRecord& record : {a, b}) at.store.put_seen(record.key, "seen by " + record.identity);
  EXPECT_EQ(at.store.seen(a.key), "seen by a");
  EXPECT_EQ(at.store.seen("other"), std::nullopt);
  EXPECT_TRUE(at.store.verify(false).empty());
  at.store.put_seen(std::string(64, 'c'), "a build between this and its step");

  std::vector<Removed> removed;
  std::vector<std::string> held;
  const std::vector<StoredWheel> wheels = at.store.wheels();
  at.store.remove_wheels({wheels.front()}, true, removed, held);
  EXPECT_EQ(names(at).size(), 3u) << "a dry run";
  at.store.remove_wheels({wheels.front()}, false, removed, held);
  const std::string left = wheels.front().key == a.key ? b.key : a.key;
  EXPECT_EQ(names(at), (std::set<std::string>{left, std::string(64, 'c')}));
  at.store.collect(0, 0, false, removed);
  EXPECT_EQ(names(at), (std::set<std::string>{std::string(64, 'c')})) << "it may be of a step that is being published";

  std::ofstream(at.store.root() / "seen" / (std::string(64, 'c') + ".json"), std::ios::app) << "more";
  EXPECT_EQ(at.store.seen(std::string(64, 'c')), std::nullopt);
  EXPECT_EQ(ids(at.store.verify(false)), std::vector<std::string>{"store-document-damaged"});
}

TEST(Store, FindsTheNewestStepThatMatches) {
  TestStore at;
  at.step("a", "1", 100);
  at.step("a", "2", 200);
  at.step("a", "3", 300);
  at.step("b", "4", 400);
  std::vector<std::string> asked;
  const auto found = at.store.newest_step("a", [&](const StepRecord& record) {
    asked.push_back(record.version);
    return record.version != "3";
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, "2");
  EXPECT_EQ(asked, (std::vector<std::string>{"3", "2"}));
  at.store.discard_damaged_blob(found->wheel_sha256);
  EXPECT_FALSE(at.store.newest_step("a", [](const StepRecord& record) { return record.version == "2"; }));
}

}  // namespace
}  // namespace wheelsmith::store
