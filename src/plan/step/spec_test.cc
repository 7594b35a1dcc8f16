#include "plan/step/spec.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "document/fields_sample.h"
#include "plan/step/spec_fields.h"

namespace wheelsmith {

// Types that are not plain structs.
template <>
struct document::Sample<gpu::ArchList> {
  static gpu::ArchList make(std::uint64_t number) {
    gpu::ArchList list;
    list.requests.push_back({.arch = gpu::nvidia_arch(static_cast<std::uint32_t>(number % 90 + 50)), .binary = true});
    return list;
  }
};

template <>
struct document::Sample<store::Manifest> {
  static store::Manifest make(std::uint64_t number) {
    store::Manifest manifest;
    manifest.set("input", std::to_string(number));
    return manifest;
  }
};

namespace plan {

namespace {

// Actions of every kind.
BuildSpec sample_spec() {
  document::Sampler sampler;
  BuildSpec spec = sampler.make<BuildSpec>();
  for (int i = 0; i < 14; ++i) spec.actions.push_back(sampler.make<Action>());
  return spec;
}

}  // namespace

TEST(BuildSpec, KeepsAllMembersInARoundTrip) {
  const BuildSpec spec = sample_spec();
  const std::string text = document::to_json(spec.to_value());
  const BuildSpec read = BuildSpec::from_value(document::parse_json(text, "spec"));
  document::for_each_field(spec, [&]<class Member>(std::string_view name, const Member& member) {
    // The loss of an empty member would go unnoticed.
    EXPECT_NE(document::to_json(document::to_document(member)), document::to_json(document::to_document(Member())))
        << name;
  });
  EXPECT_EQ(document::to_json(read.to_value()), text);
}

TEST(BuildSpec, SamplesHaveActionsOfEveryKind) {
  std::vector<bool> seen(std::variant_size_v<decltype(Action::what)>);
  for (const Action& action : sample_spec().actions) seen[action.what.index()] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
}

TEST(BuildSpec, IsReadStrictly) {
  document::Value value = BuildSpec().to_value();
  EXPECT_EQ(BuildSpec::from_value(value).id, "");
  value.table()->erase("tools");
  EXPECT_THROW((void)BuildSpec::from_value(value), Error);
}

TEST(BuildSpec, FindsActionsOfAPhase) {
  BuildSpec spec;
  spec.actions = {{Phase::source, ApplyPatch{{"a", "", ""}}},
                  {Phase::prepare, RunCommand{{"b"}}},
                  {Phase::prepare, ApplyPatch{{"c", "", ""}}}};
  ASSERT_EQ(spec.all<ApplyPatch>(Phase::prepare).size(), 1u);
  EXPECT_EQ(spec.all<ApplyPatch>(Phase::prepare)[0]->patch.name, "c");
  EXPECT_TRUE(spec.all<RunCommand>(Phase::build).empty());
}

TEST(Phase, ForeignCodeRunsInThree) {
  std::string foreign;
  for (std::size_t i = 0; i < EnumNames<Phase>::list.size(); ++i) {
    if (runs_foreign_code(static_cast<Phase>(i))) foreign += std::string(to_string(static_cast<Phase>(i))) + " ";
  }
  EXPECT_EQ(foreign, "prepare build test ");
}

}  // namespace plan

}  // namespace wheelsmith
