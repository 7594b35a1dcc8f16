#include "cache/lookup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/text.h"
#include "cache/broker.h"
#include "cache/dependencies.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::cache {
namespace {

namespace fs = std::filesystem;

// A folder with sources, and a fake compiler: the test says what it read and produced.
class Tree {
 public:
  explicit Tree(std::string name = "tree") : m_root(m_folder.path() / name) {
    write("bin/cc", "a compiler");
    write("a.c", "#include \"a.h\"\n#include <b.h>\n");
    write("a.h", "one");
    write("first/keep", "");
    write("second/b.h", "two");
  }
  void write(const std::string& name, const std::string& text) {
    sys::make_folders((m_root / name).parent_path());
    sys::write_file(m_root / name, text);
    // Its time must differ from the next compile's.
    std::this_thread::sleep_for(std::chrono::milliseconds(12));
  }
  [[nodiscard]] fs::path path(const std::string& name) const { return m_root / name; }

  CompileRequest request(const std::string& words = "-Ifirst -Isecond") const {
    CompileRequest request;
    request.program = path("bin/cc").string();
    request.identity = "gcc version 12";
    request.folder = m_root.string();
    request.argv = {"cc"};
    for (const std::string_view word : split(words, ' ')) request.argv.emplace_back(word);
    request.argv.insert(request.argv.end(), {"-c", "a.c", "-o", "a.o"});
    return request;
  }

 private:
  sys::TempDir m_folder;
  fs::path m_root;
};

struct Cache {
  sys::TempDir folder;
  sys::RootView view{sys::RootView::own_root()};
  std::unique_ptr<Lookup> lookup;
  explicit Cache(const std::string& scope = "p", const fs::path& place = {}, const std::string& remote = "") {
    CacheOptions options;
    options.enabled = true;
    options.folder = place.empty() ? folder.path() : place;
    options.scope = scope;
    options.remote = remote;
    lookup = std::make_unique<Lookup>(options);
  }
  // "hit OBJECT", "kept", or why not.
  std::string compile(const CompileRequest& request, const std::string& object,
                      const std::string& dependencies = "a.o: a.c a.h second/b.h\n") {
    Lookup::Answer answer = lookup->find(view, request);
    if (answer.found) return "hit " + answer.found->result.object;
    if (!answer.pending) return answer.why;
    const Lookup::Made made{object, dependencies, "", "out", "err"};
    auto described = lookup->describe(view, *answer.pending, made);
    if (const auto* why = std::get_if<Uncacheable>(&described)) return why->why;
    lookup->store(*answer.pending, std::get<Variant>(described), made);
    return "kept";
  }
};

TEST(CacheLookup, FindsUnchangedUnits) {
  const Tree tree;
  Cache cache;
  EXPECT_EQ(cache.compile(tree.request(), "1"), "kept");
  EXPECT_EQ(cache.compile(tree.request(), "2"), "hit 1");
  EXPECT_EQ(cache.compile(tree.request("-Ifirst -Isecond -DX"), "3"), "kept");
  const Lookup::Answer again = cache.lookup->find(cache.view, tree.request());
  ASSERT_TRUE(again.found);
  EXPECT_EQ(again.found->result.output + again.found->result.errors, "outerr");
  EXPECT_EQ(again.found->files, (std::vector<std::string>{"a.c", "a.h", "second/b.h"}));
}

TEST(CacheLookup, MissesAfterAnyChange) {
  struct {
    const char* what;
    void (*change)(Tree&);
  } const rows[] = {
      {"source", [](Tree& tree) { tree.write("a.c", "#include \"a.h\"\n#include <b.h>\n\n"); }},
      {"header beside it", [](Tree& tree) { tree.write("a.h", "three"); }},
      {"header in a folder", [](Tree& tree) { tree.write("second/b.h", "three"); }},
      {"header earlier in the search", [](Tree& tree) { tree.write("first/b.h", "three"); }},
      {"compiler", [](Tree& tree) { tree.write("bin/cc", "another compiler"); }},
      {"header is gone", [](Tree& tree) { fs::remove(tree.path("a.h")); }},
  };
  for (const auto& row : rows) {
    Tree tree;
    Cache cache;
    ASSERT_EQ(cache.compile(tree.request(), "1"), "kept") << row.what;
    row.change(tree);
    EXPECT_EQ(cache.compile(tree.request(), "2").substr(0, 3) == "hit", false) << row.what;
  }
}

TEST(CacheLookup, CountsNamesInHasInclude) {
  Tree tree;
  tree.write("a.c", "#if __has_include(<maybe.h>) || __has_include(\"near.h\")\n#endif\n");
  for (const char* appears : {"first/maybe.h", "second/maybe.h", "near.h"}) {
    Cache cache;
    ASSERT_EQ(cache.compile(tree.request(), "1", "a.o: a.c\n"), "kept");
    ASSERT_EQ(cache.compile(tree.request(), "2", "a.o: a.c\n"), "hit 1");
    tree.write(appears, "");
    EXPECT_EQ(cache.compile(tree.request(), "3", "a.o: a.c\n"), "kept") << appears;
    fs::remove(tree.path(appears));
    EXPECT_EQ(cache.compile(tree.request(), "4", "a.o: a.c\n"), "hit 1") << appears;
  }
}

TEST(CacheLookup, IgnoresFoldersWithoutTheNames) {
  Tree tree;
  tree.write("python3.11/Python.h", "");
  tree.write("python3.12/Python.h", "");
  Cache cache;
  ASSERT_EQ(cache.compile(tree.request("-Ipython3.11 -Isecond"), "1"), "kept");
  EXPECT_EQ(cache.compile(tree.request("-Ipython3.12 -Isecond"), "2"), "hit 1");
  // The order of relevant folders counts.
  tree.write("first/b.h", "two");
  ASSERT_EQ(cache.compile(tree.request("-Isecond -Ifirst"), "3"), "kept");
  EXPECT_EQ(cache.compile(tree.request("-Ifirst -Isecond"), "4", "a.o: a.c a.h first/b.h\n"), "kept");
}

TEST(CacheLookup, DoesNotStoreWhenInputsChangeDuringTheCompile) {
  for (const char* name : {"a.c", "a.h", "second/b.h", "first/b.h"}) {
    Tree tree;
    Cache cache;
    Lookup::Answer answer = cache.lookup->find(cache.view, tree.request());
    ASSERT_TRUE(answer.pending);
    tree.write(name, "changed");
    const Lookup::Made made{"1", "a.o: a.c a.h second/b.h\n", "", "", ""};
    EXPECT_TRUE(std::holds_alternative<Uncacheable>(cache.lookup->describe(cache.view, *answer.pending, made))) << name;
  }
}

TEST(CacheLookup, RequiresAFixedTimeForTimeMacros) {
  Tree tree;
  tree.write("a.c", "const char* when = __DATE__;");
  Cache cache;
  CompileRequest request = tree.request();
  EXPECT_EQ(cache.compile(request, "1", "a.o: a.c\n"), "a.c uses __DATE__ or __TIME__");
  request.environment = {"SOURCE_DATE_EPOCH=1"};
  EXPECT_EQ(cache.compile(request, "1", "a.o: a.c\n"), "kept");
  request.environment = {"SOURCE_DATE_EPOCH=2"};
  EXPECT_EQ(cache.compile(request, "2", "a.o: a.c\n"), "kept");
  EXPECT_EQ(cache.compile(request, "", "a.o: a.c\n"), "hit 2");
  request.environment = {"SOURCE_DATE_EPOCH=1"};
  EXPECT_EQ(cache.compile(request, "", "a.o: a.c\n"), "hit 1");
  tree.write("a.c", "const char* when = __TIMESTAMP__;");
  EXPECT_EQ(cache.compile(request, "1", "a.o: a.c\n"), "a.c uses __TIMESTAMP__");
}

// A release often has another date, and few files use it.
TEST(CacheLookup, TheDateCountsOnlyWhereItIsUsed) {
  Tree tree;
  Cache cache;
  CompileRequest request = tree.request();
  EXPECT_EQ(cache.compile(request, "1"), "kept");
  request.environment = {"SOURCE_DATE_EPOCH=1"};
  EXPECT_EQ(cache.compile(request, "2"), "hit 1");
  tree.write("a.h", "const char* when = __TIME__;");
  EXPECT_EQ(cache.compile(request, "3"), "kept");
  request.environment = {"SOURCE_DATE_EPOCH=2"};
  EXPECT_EQ(cache.compile(request, "4"), "kept") << "a header uses it";
  request.environment = {};
  EXPECT_EQ(cache.compile(request, "5"), "a.h uses __DATE__ or __TIME__");
}

TEST(CacheLookup, TheDateCountsIfAnOptionUsesIt) {
  const Tree tree;
  Cache cache;
  CompileRequest request = tree.request();
  request.argv.insert(request.argv.begin() + 1, {"-D", "BUILT=__DATE__"});
  EXPECT_EQ(cache.compile(request, "1"), "an option uses __DATE__ or __TIME__");
  request.environment = {"SOURCE_DATE_EPOCH=1"};
  EXPECT_EQ(cache.compile(request, "1"), "kept");
  request.environment = {"SOURCE_DATE_EPOCH=2"};
  EXPECT_EQ(cache.compile(request, "2"), "kept");
  EXPECT_EQ(cache.compile(request, ""), "hit 2");
  request.argv[2] = "BUILT=__TIMESTAMP__";
  EXPECT_EQ(cache.compile(request, "3"), "an option uses __TIMESTAMP__");
}

TEST(CacheLookup, AHitKnowsTheTimeOfTheCompile) {
  const Tree tree;
  Cache cache;
  const Lookup::Answer first = cache.lookup->find(cache.view, tree.request());
  ASSERT_TRUE(first.pending);
  const Lookup::Made made{"1", "a.o: a.c a.h second/b.h\n", "", "", "", 1234};
  cache.lookup->store(*first.pending, std::get<Variant>(cache.lookup->describe(cache.view, *first.pending, made)),
                      made);
  const Lookup::Answer second = cache.lookup->find(cache.view, tree.request());
  ASSERT_TRUE(second.found);
  EXPECT_EQ(second.found->result.milliseconds, 1234u);
  // An entry of an earlier version ends after the texts.
  Result old{"object", "out", "err", 7};
  const std::string bytes = old.to_bytes();
  EXPECT_EQ(Result::from_bytes(bytes).milliseconds, 7u);
  EXPECT_EQ(Result::from_bytes(std::string_view(bytes).substr(0, bytes.size() - 8)).milliseconds, 0u);
  EXPECT_EQ(Result::from_bytes(std::string_view(bytes).substr(0, bytes.size() - 8)).errors, "err");
}

TEST(CacheLookup, NeverFindsEntriesOfAnotherPackage) {
  const Tree tree;
  const sys::TempDir folder;
  Cache mine("mine", folder.path());
  Cache other("other", folder.path());
  EXPECT_EQ(mine.compile(tree.request(), "evil"), "kept");
  EXPECT_EQ(other.compile(tree.request(), "good"), "kept");
  EXPECT_EQ(other.compile(tree.request(), ""), "hit good");
  // Not even when its files are moved to the other's folder: an entry contains its key.
  fs::remove_all(folder.path() / "other");
  fs::copy(folder.path() / "mine", folder.path() / "other", fs::copy_options::recursive);
  EXPECT_EQ(Cache("other", folder.path()).compile(tree.request(), "good"), "kept");
}

TEST(CacheLookup, WorksAcrossFoldersAndMachines) {
  const Tree here("here");
  const Tree there("there");
  const sys::TempDir shared;
  const std::string remote = "file://" + shared.path().string();
  const auto request = [](const Tree& tree) {
    CompileRequest asked = tree.request("-I" + tree.path("second").string());
    asked.argv.push_back("-ffile-prefix-map=" + tree.path("").parent_path().string() + "=.");
    return asked;
  };
  const auto dependencies = [](const Tree& tree) { return "a.o: a.c a.h " + tree.path("second/b.h").string() + "\n"; };
  Cache first("p", {}, remote);
  Cache second("p", {}, remote);
  // Both have the same compiler by content.
  EXPECT_EQ(first.compile(request(here), "1", dependencies(here)), "kept");
  Lookup::Answer answer = second.lookup->find(second.view, request(there));
  ASSERT_TRUE(answer.found);
  EXPECT_TRUE(answer.found->remote);
  EXPECT_EQ(answer.found->files.back(), there.path("second/b.h").string());
  answer = second.lookup->find(second.view, request(there));
  ASSERT_TRUE(answer.found);
  EXPECT_FALSE(answer.found->remote) << "it was not kept here";
}

TEST(CacheLookup, RecompilesAfterDamage) {
  const Tree tree;
  Cache cache;
  ASSERT_EQ(cache.compile(tree.request(), "1"), "kept");
  for (const auto& entry : fs::recursive_directory_iterator(cache.folder.path() / "p")) {
    if (!entry.is_regular_file()) continue;
    std::string bytes = sys::read_file(entry.path());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
    sys::write_file(entry.path(), bytes);
  }
  EXPECT_EQ(cache.compile(tree.request(), "2"), "kept");
  EXPECT_EQ(cache.compile(tree.request(), "3"), "hit 2");
}

TEST(CacheStorage, EvictsTheLeastRecentlyUsed) {
  const sys::TempDir folder;
  const FolderStorage storage(folder.path() / "p");
  for (const char* key : {"aa1", "bb2", "cc3"}) storage.put(key, std::string(100'000, 'x'));
  const auto age = [&](const char* name, int hours) {
    fs::last_write_time(folder.path() / "p" / name, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  age("aa/1", 1);
  age("bb/2", 9);
  age("cc/3", 5);
  (void)storage.get("cc3");  // used now
  EXPECT_LE(trim_folder(folder.path(), 230'000), 230'000U);
  EXPECT_FALSE(storage.get("bb2"));
  EXPECT_TRUE(storage.get("aa1"));
  EXPECT_TRUE(storage.get("cc3"));
}

TEST(CacheBroker, AnswersOverItsSocket) {
  const Tree tree;
  const sys::TempDir folder;
  CacheOptions options;
  options.folder = folder.path() / "objects";
  options.scope = "p";
  const fs::path socket = folder.path() / "socket";
  const CompileRequest request = tree.request();
  {
    const Broker broker(options, socket);
    Conversation first(socket);
    ASSERT_TRUE(first.is_open());
    const Conversation::Answer miss = first.find(request);
    ASSERT_TRUE(miss.miss);
    EXPECT_EQ(miss.miss->object, "a.o");
    const Conversation::Stored stored = first.store({"1", "a.o: a.c a.h second/b.h\n", "", "", "a warning"});
    EXPECT_TRUE(stored.kept) << stored.why;
    Conversation idle(socket);  // sends nothing, and blocks no one
    EXPECT_TRUE(idle.is_open());
  }
  EXPECT_FALSE(Conversation(socket).is_open());
  const Broker broker(options, socket);
  Conversation second(socket);
  const Conversation::Answer hit = second.find(request);
  ASSERT_TRUE(hit.hit);
  EXPECT_EQ(hit.hit->result.object + hit.hit->result.errors, "1a warning");
  Conversation third(socket);
  CompileRequest link = request;
  link.argv = {"cc", "a.o"};
  const Conversation::Answer pass = third.find(link);
  ASSERT_TRUE(pass.pass);
  EXPECT_EQ(pass.pass->why, "a.o is not a source");
}

}  // namespace
}  // namespace wheelsmith::cache
