#include <gtest/gtest.h>

#include "base/error.h"
#include "recipe/recipe.h"

namespace wheelsmith::recipe {
namespace {

using Names = std::vector<std::string>;

std::string legal_problem(const std::string& archs, const ArchRules& rules) {
  try {
    check_legal(gpu::ArchList::parse(archs), rules, "p");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Serving served(const Names& devices, const ArchRules& rules) {
  std::vector<gpu::Device> found;
  for (const std::string& name : devices) found.push_back(gpu::find_device(name));
  return archs_for_devices(found, rules);
}

TEST(ArchRules, ANumberMayStandForItsVariants) {
  ArchRules rules;
  rules.legal = {"9.0", "10.0"};
  EXPECT_NE(legal_problem("9.0a", rules), "");
  rules.suffixes = {"a"};
  EXPECT_EQ(legal_problem("9.0a;10.0a;9.0", rules), "");
  EXPECT_EQ(legal_problem("10.0f", rules), "p cannot be built for 10.0f; supported: 9.0, 10.0");
  rules.suffixes = {"a", "f"};
  EXPECT_EQ(legal_problem("10.0f", rules), "");
  EXPECT_NE(legal_problem("12.0f", rules), "");
}

TEST(ArchRules, TargetFeaturesAreRefusedByThoseWhoCompareNames) {
  ArchRules rules;
  rules.legal = {"gfx942"};
  EXPECT_EQ(legal_problem("gfx942:sramecc+:xnack-", rules), "");
  rules.features = ArchFeatures::refused;
  EXPECT_EQ(legal_problem("gfx942", rules), "");
  EXPECT_EQ(legal_problem("gfx942:sramecc+:xnack-", rules),
            "p does not accept target features; use gfx942 instead of gfx942:sramecc+:xnack-");
}

TEST(ArchRules, AFixedListCannotBeChosen) {
  ArchRules rules;
  rules.fixed = "8.0;9.0";
  EXPECT_EQ(legal_problem("8.0", rules), "");
  EXPECT_EQ(legal_problem("12.0", rules), "p cannot be built for 12.0; this version always compiles for 8.0;9.0");
  EXPECT_EQ(served({"RTX 3090"}, rules).archs.to_string(), "8.0;9.0");
  EXPECT_EQ(served({"RTX 5090"}, rules).unserved, Names{"GeForce RTX 5090 (12.0)"});
}

struct DeviceRow {
  Names devices;
  std::string archs;
  Names notes, unserved;
};

// The rules of the driver say what runs where; a package that has code for 8.0, 9.0, 10.0 and 12.0 serves these.
TEST(ArchRules, DevicesAreServedByCodeThatRunsThere) {
  ArchRules four;
  four.legal = {"8.0", "9.0", "10.0", "12.0"};
  const std::vector<DeviceRow> rows = {
      {{"A100"}, "8.0", {}, {}},
      {{"RTX 3090"}, "8.0", {"code for 8.0 runs on GeForce RTX 3090 (8.6)"}, {}},
      {{"RTX 4090"}, "8.0", {"code for 8.0 runs on GeForce RTX 4090 (8.9)"}, {}},
      {{"RTX 3090", "A100", "H100"}, "8.0;9.0", {"code for 8.0 runs on GeForce RTX 3090 (8.6)"}, {}},
      {{"B300"}, "10.0", {"code for 10.0 runs on B300 (10.3)"}, {}},
      {{"T4"}, "", {}, {"Tesla T4 (7.5)"}},
      // An Orin takes its own code alone.
      {{"Jetson AGX Orin"}, "", {}, {"Jetson AGX Orin (8.7)"}},
  };
  for (const DeviceRow& row : rows) {
    const Serving found = served(row.devices, four);
    EXPECT_EQ(found.archs.to_string(), row.archs) << row.devices.front();
    EXPECT_EQ(found.notes, row.notes) << row.devices.front();
    EXPECT_EQ(found.unserved, row.unserved) << row.devices.front();
  }
  EXPECT_EQ(served({"RTX 3090"}, {}).archs.to_string(), "8.6") << "where everything is legal it is the device's own";
  ArchRules only_a;
  only_a.legal = {"9.0a"};
  EXPECT_EQ(served({"H100"}, only_a).archs.to_string(), "9.0a");
}

TEST(ArchRules, DevicesOfAmdAreNamedPlainlyUnlessFeaturesAreWanted) {
  ArchRules rules;
  EXPECT_EQ(served({"MI300X"}, rules).archs.to_string(), "gfx942");
  EXPECT_EQ(served({"MI250X"}, rules).archs.to_string(), "gfx90a");
  EXPECT_TRUE(served({"MI300X"}, rules).notes.empty());
  rules.legal = {"gfx942", "gfx950"};
  rules.features = ArchFeatures::refused;
  EXPECT_EQ(served({"MI300X"}, rules).archs.to_string(), "gfx942");
  EXPECT_EQ(legal_problem(served({"MI300X"}, rules).archs.to_string(), rules), "");
  EXPECT_EQ(served({"Strix Halo"}, rules).unserved.size(), 1U);
  rules.features = ArchFeatures::wanted;
  EXPECT_EQ(served({"MI300X"}, rules).archs.to_string(),
            gpu::to_string({gpu::find_device("MI300X").arch, true, false}));
}

TEST(ArchRules, TheRecipesServeCommonGpus) {
  const Library library;
  const ArchRules& flash = library.find("flash-attn")->rules(Variant::cuda).archs;
  EXPECT_EQ(spell(served({"RTX 3090"}, flash).archs, flash), "80");
  EXPECT_EQ(spell(served({"RTX 4090", "H100"}, flash).archs, flash), "80;90");
  for (const char* name : {"vllm", "aiter"}) {
    const ArchRules& rules = library.find(name)->rules(Variant::rocm).archs;
    for (const char* device : {"MI250X", "MI300X", "MI355X"}) {
      const Serving found = served({device}, rules);
      EXPECT_EQ(legal_problem(found.archs.to_string(), rules), "") << name << " " << device;
      EXPECT_EQ(found.archs.to_string().find(':'), std::string::npos) << name << " " << device;
    }
  }
}

}  // namespace
}  // namespace wheelsmith::recipe
