#include <gtest/gtest.h>

#include "cache/lookup.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::cache {
namespace {

namespace fs = std::filesystem;

// A compile's folder with a tool and its text, and a cache.
struct PartSite {
  sys::TempDir folder;
  sys::RootView view{sys::RootView::own_root()};
  std::unique_ptr<Lookup> lookup;

  PartSite() {
    CacheOptions options;
    options.enabled = true;
    options.folder = folder.path() / "cache";
    options.scope = "p";
    lookup = std::make_unique<Lookup>(options);
    write("cicc", "a tool");
  }
  fs::path write(const std::string& name, const std::string& text) const {
    sys::make_folders((folder.path() / name).parent_path());
    sys::write_file(folder.path() / name, text);
    return folder.path() / name;
  }
  // cicc for one list of architectures, in a folder of its own.
  PartRequest request(const std::string& archs, const std::string& text, const std::string& place) const {
    PartRequest request;
    request.program = (folder.path() / "cicc").string();
    request.words = {"-arch", "compute_80"};
    request.text = write(place + "/k.ii", text).string();
    request.outputs = {(folder.path() / place / "k.ptx").string()};
    request.files = {request.outputs.front()};
    request.archs = archs;
    request.id = "_12345678_4_k_cu";
    request.sources = {(folder.path() / place / "k.cu").string()};
    request.maps = {"-ffile-prefix-map=" + (folder.path() / place).string() + "=."};
    request.device_text = true;
    return request;
  }
  // "hit OUTPUT" or "stored".
  std::string compile(const PartRequest& request, const std::string& output, const std::string& errors = "") {
    const Lookup::PartAnswer answer = lookup->find_part(view, request);
    if (answer.found) return "hit " + answer.found->outputs.at(0) + answer.found->errors;
    if (!answer.pending) return "pass";
    lookup->store_part(request, *answer.pending, {{output}, "", errors});
    return "stored";
  }
};

const std::string k_text_of_one = "# 1 \"k.cu\"\nnamespace CUB_1_SM_800 {}\nint x;\n";
const std::string k_text_of_two = "# 1 \"k.cu\"\nnamespace CUB_1_SM_800_900 {}\nint x;\n";

TEST(PartLookupTest, FindsAPartBesideOtherArchitectures) {
  PartSite site;
  EXPECT_EQ(site.compile(site.request("800", k_text_of_one, "a"), ".b8 _ZN3cub12CUB_1_SM_8001xE;"), "stored");
  EXPECT_EQ(site.compile(site.request("800,900", k_text_of_two, "b"), "x"), "hit .b8 _ZN3cub16CUB_1_SM_800_9001xE;");
  EXPECT_EQ(site.compile(site.request("800", k_text_of_one, "a"), "x"), "hit .b8 _ZN3cub12CUB_1_SM_8001xE;");
  // Where the list cannot be replaced, the result is only for this list.
  const std::string other = k_text_of_one + "int y;\n";
  EXPECT_EQ(site.compile(site.request("800", other, "a"), "xCUB_1_SM_800"), "stored");
  EXPECT_EQ(site.compile(site.request("800", other, "a"), "x"), "hit xCUB_1_SM_800");
  EXPECT_EQ(site.compile(site.request("800,900", k_text_of_two + "int y;\n", "b"), "mine"), "stored");
}

TEST(PartLookupTest, CountsWhatDecidesTheResult) {
  PartSite site;
  const PartRequest first = site.request("800", k_text_of_one, "a");
  ASSERT_EQ(site.compile(first, "1"), "stored");
  EXPECT_EQ(site.compile(site.request("800", "\n" + k_text_of_one + "\n", "a"), "2"), "hit 1");
  EXPECT_EQ(site.compile(site.request("800", k_text_of_one + "int y;\n", "a"), "2"), "stored");
  PartRequest changed = first;
  site.write("a/k.ii", k_text_of_one);
  changed.words.push_back("-ftz=1");
  EXPECT_EQ(site.compile(changed, "3"), "stored");
  changed = first;
  changed.positions = true;
  EXPECT_EQ(site.compile(changed, "4"), "stored");
  changed = first;
  changed.tools = {site.write("libdevice", "code").string()};
  EXPECT_EQ(site.compile(changed, "5"), "stored");
  site.write("cicc", "another tool");
  EXPECT_EQ(site.compile(first, "6"), "stored");
  site.write("missing/x", "");
  changed.program = (site.folder.path() / "missing/cicc").string();
  EXPECT_EQ(site.compile(changed, "7"), "pass");
  // A module's ID has another length: names that contain it would be wrong.
  changed = first;
  changed.id += "9";
  EXPECT_EQ(site.compile(changed, "8"), "stored");
}

TEST(PartLookupTest, RepeatsWarningsOnlyWithTheirLines) {
  PartSite site;
  const std::string place = (site.folder.path() / "a").string();
  const std::string text = "# 1 \"" + place + "/k.cu\"\nint x;\n";
  ASSERT_EQ(site.compile(site.request("800", text, "a"), "1 ", place + "/k.cu(1): warning"), "stored");
  EXPECT_EQ(site.compile(site.request("800", "# 2 \"" + place + "/k.cu\"\nint x;\n", "a"), "2"), "stored");
  // In another tree, with the name that it has there.
  const std::string there = (site.folder.path() / "b").string();
  PartSite* same = &site;
  const PartRequest other = same->request("800", "# 1 \"" + there + "/k.cu\"\nint x;\n", "b");
  const std::string found = same->compile(other, "3");
  EXPECT_TRUE(found == "hit 1 " + there + "/k.cu(1): warning" || found == "hit 2") << found;
}

}  // namespace
}  // namespace wheelsmith::cache
