#include "plan/cutoff.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"
#include "testing/wheel_builder.h"

namespace wheelsmith::plan {
namespace {

using Files = wheel::Interface::Files;

const wheel::Interface k_before{.headers = {{"p/a.h", "1"}, {"p/b.h", "2"}}, .others = {{"p/__init__.py", "3"}}};

TEST(SeenDifference, ComparesTheHeadersThatWereRead) {
  struct Row {
    std::optional<std::set<std::string>> read;
    wheel::Interface now;
    std::string difference;
  };
  const std::set<std::string> only_a{"1", "of another file"};
  const Files changed_a{{"p/a.h", "9"}, {"p/b.h", "2"}}, changed_b{{"p/a.h", "1"}, {"p/b.h", "9"}};
  const std::vector<Row> table = {
      {{}, k_before, ""},
      {only_a, k_before, ""},
      {only_a, {changed_a, k_before.others}, "p/a.h changed"},
      {only_a, {changed_b, k_before.others}, ""},
      {std::set<std::string>(), {changed_b, k_before.others}, ""},
      {{}, {changed_b, k_before.others}, "p/b.h changed"},
      {{}, {{{"p/a.h", "1"}}, k_before.others}, "p/b.h was removed"},
      // A header that is new can hide another one, and one that is gone can uncover one.
      {only_a, {{{"p/a.h", "1"}, {"p/b.h", "2"}, {"p/c.h", "4"}}, k_before.others}, "a header was added or removed"},
      {only_a, {{{"p/a.h", "1"}}, k_before.others}, "a header was added or removed"},
      {only_a, {k_before.headers, {{"p/__init__.py", "9"}}}, "p/__init__.py changed"},
      {only_a, {k_before.headers, {}}, "p/__init__.py was removed"},
      {only_a, {k_before.headers, {{"p/__init__.py", "3"}, {"p/x.cmake", "4"}}}, "p/x.cmake is new"},
  };
  for (const Row& row : table) {
    const SeenWheel seen = seen_wheel({"p", "p-1.whl", "s"}, k_before, row.read);
    EXPECT_EQ(seen_difference(seen, "p-1.whl", row.now), row.difference);
    // The same from its document.
    const std::vector<SeenWheel> again = read_seen(seen_value({seen}));
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(seen_difference(again.front(), "p-1.whl", row.now), row.difference);
  }
  EXPECT_EQ(seen_difference(seen_wheel({"p", "p-1.whl", "s"}, k_before, {}), "p-2.whl", k_before),
            "its wheel is now p-2.whl");
}

TEST(ReadSeen, RefusesOtherDocuments) {
  for (const char* text :
       {"{}", "[]", R"({"schema": 2, "wheels": []})", R"({"schema": 1})", R"({"schema": 1, "wheels": [{}]})",
        R"({"schema": 1, "wheels": [{"project": "p", "file_name": "f", "sha256": "s", "header_names": "n",
            "headers": {"a.h": 1}, "others": {}}]})",
        R"({"schema": 1, "wheels": [{"project": "p", "file_name": "f", "sha256": "s", "header_names": "n",
            "headers": {}}]})"})
    EXPECT_THROW((void)read_seen(document::parse_json(text, "seen")), Error) << text;
}

TEST(ShareALibrary, ComparesFileNames) {
  const auto with = [](const char* name) { return wheel::Interface{.headers = {}, .others = {{name, "1"}}}; };
  EXPECT_TRUE(share_a_library(with("torch/lib/libc10.so"), with("app/libs/libc10.so")));
  EXPECT_TRUE(share_a_library(with("torch/lib/libgomp.so.1"), with("app/libgomp.so.1")));
  EXPECT_TRUE(share_a_library(with("torch/lib/libgomp.so.1"), with("app.libs/libgomp-1a2b3c4d.so.1.0.0")));
  EXPECT_FALSE(share_a_library(with("torch/lib/libgomp.so.1"), with("app.libs/libgomp-extra.so.1")));
  EXPECT_FALSE(share_a_library(with("torch/lib/libc10.so"), with("app/_C.so")));
  EXPECT_FALSE(share_a_library(with("torch/_C.cpython-311-x86_64-linux-gnu.so"),
                               with("app/_C.cpython-311-x86_64-linux-gnu.so")));
  EXPECT_FALSE(share_a_library(with("torch/__init__.py"), with("app/__init__.py")));
}

// A store in which `app` was built with a wheel of `lib`.
struct CutOffStore {
  sys::TempDir temp;
  store::Store store{temp.path() / "store"};
  BuildSpec app;

  std::string put(const std::string& text) {
    const std::filesystem::path file = temp.path() / "file";
    sys::write_file(file, text);
    return store.put_blob(file);
  }
  EnvironmentWheel lib(const std::string& header, const std::string& code) {
    const testing::WheelBuilder wheel = testing::WheelBuilder("lib", "1.0", "py3-none-any")
                                            .add("lib/a.h", header)
                                            .add("lib-1.0.dist-info/wheelsmith/provenance.json", code);
    return {"lib", wheel.file_name(), put(wheel.build())};
  }
  static BuildSpec spec(const std::string& lib_key, const std::string& source) {
    BuildSpec spec;
    spec.identity = "app-cpu-cp311";
    spec.package = "app";
    spec.manifest.set("source", source);
    spec.manifest.set("step:lib-cpu-cp311", lib_key);
    spec.key = spec.manifest.key();
    return spec;
  }
  std::string build(const BuildSpec& spec, const EnvironmentWheel& wheel) {
    store::StepRecord record;
    record.key = spec.key;
    record.identity = spec.identity;
    record.package = spec.package;
    record.manifest = spec.manifest;
    record.wheel_name = "app-1.0-py3-none-any.whl";
    record.wheel_sha256 = put("app " + spec.key);
    record.wheel_size = std::filesystem::file_size(*store.blob(record.wheel_sha256));
    store.put_seen(spec.key,
                   document::to_json(seen_value({seen_wheel(wheel, *stored_interface(wheel.sha256, store), {})})));
    store.put_step(record);
    return spec.key;
  }
};

TEST(FindKept, FindsTheStepThatSawTheSame) {
  CutOffStore at;
  const EnvironmentWheel first = at.lib("int a;", "first"), rebuilt = at.lib("int a;", "rebuilt"),
                         other = at.lib("long a;", "other");
  ASSERT_NE(first.sha256, rebuilt.sha256);
  const std::string key = at.build(CutOffStore::spec("1", "s"), first);

  const CutOff kept = find_kept(CutOffStore::spec("2", "s"), {rebuilt}, at.store);
  ASSERT_TRUE(kept.kept);
  EXPECT_EQ(kept.kept->record.key, key);
  EXPECT_EQ(kept.kept->rebuilt, std::vector<std::string>{"lib"});
  EXPECT_TRUE(may_be_kept(CutOffStore::spec("2", "s"), at.store));
  // The need has another key and the same wheel: it was kept, too.
  const CutOff same = find_kept(CutOffStore::spec("2", "s"), {first}, at.store);
  ASSERT_TRUE(same.kept);
  EXPECT_TRUE(same.kept->rebuilt.empty());

  const CutOff changed = find_kept(CutOffStore::spec("3", "s"), {other}, at.store);
  EXPECT_FALSE(changed.kept);
  EXPECT_EQ(changed.why_not, "lib: lib/a.h changed");
  // Another input changed, too; another package is in the environment; no package is.
  EXPECT_FALSE(find_kept(CutOffStore::spec("2", "another source"), {rebuilt}, at.store).kept);
  EXPECT_FALSE(may_be_kept(CutOffStore::spec("2", "another source"), at.store));
  EXPECT_FALSE(find_kept(CutOffStore::spec("2", "s"), {rebuilt, {"more", "more.whl", other.sha256}}, at.store).kept);
  EXPECT_FALSE(find_kept(CutOffStore::spec("2", "s"), {}, at.store).kept);
  EnvironmentWheel renamed = rebuilt;
  renamed.project = "lib2";
  EXPECT_FALSE(find_kept(CutOffStore::spec("2", "s"), {renamed}, at.store).kept);

  // Built with the other header, and that changes back: the older step is found.
  at.build(CutOffStore::spec("3", "s"), other);
  const CutOff older = find_kept(CutOffStore::spec("4", "s"), {rebuilt}, at.store);
  ASSERT_TRUE(older.kept);
  EXPECT_EQ(older.kept->record.key, key);
}

// Everything in the store may be missing or damaged: the step is built.
TEST(FindKept, NeedsAllDocuments) {
  const auto found = [](CutOffStore& at, const EnvironmentWheel& wheel) {
    return find_kept(CutOffStore::spec("2", "s"), {wheel}, at.store).kept.has_value();
  };
  for (const char* damage : {"none", "no seen", "changed seen", "other seen", "no wheel of app", "no wheel of lib"}) {
    CutOffStore at;
    const EnvironmentWheel rebuilt = at.lib("int a;", "rebuilt");
    const std::string key = at.build(CutOffStore::spec("1", "s"), at.lib("int a;", "first"));
    const std::filesystem::path seen = at.store.root() / "seen" / (key + ".json");
    ASSERT_TRUE(std::filesystem::exists(seen));
    const std::string what = damage;
    if (what == "no seen") std::filesystem::remove(seen);
    if (what == "changed seen") sys::write_file(seen, sys::read_file(seen) + " ");
    if (what == "other seen") at.store.put_seen(key, "{\"schema\": 2}");
    if (what == "no wheel of app") at.store.discard_damaged_blob(at.store.find_step(key)->wheel_sha256);
    if (what == "no wheel of lib") at.store.discard_damaged_blob(rebuilt.sha256);
    EXPECT_EQ(found(at, rebuilt), what == "none") << what;
  }
}

TEST(KeptReason, NamesThePackages) {
  EXPECT_EQ(kept_reason("torchvision", {"torch"}), "torch was rebuilt, its ABI is unchanged: torchvision is kept");
  EXPECT_EQ(kept_reason("app", {"torch", "triton"}),
            "torch, triton were rebuilt, their ABIs are unchanged: app is kept");
  EXPECT_EQ(kept_reason("app", {}), "the wheels that it needs are unchanged: app is kept");
}

}  // namespace
}  // namespace wheelsmith::plan
