#include "choose/editable.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "base/request_error.h"
#include "sys/file.h"

namespace wheelsmith::choose {

namespace {

// A request for "demo" from a folder, into an environment.
struct Asked {
  sys::TempDir temp;
  Request request;

  Asked() {
    request.packages = {"demo"};
    request.editable = true;
    request.into = "/env";
    set_source("demo", temp.path().string());
  }
  void set_source(const std::string& name, const std::string& text) {
    request.sources = {source::parse_override(name + "=" + text)};
  }
  [[nodiscard]] std::string refusal() const {
    try {
      check_editable(request);
    } catch (const RequestError& error) {
      return error.what();
    }
    return "";
  }
};

}  // namespace

TEST(Editable, NeedsOneFolderAndOneEnvironment) {
  struct Case {
    std::string said;
    std::function<void(Asked&)> change;
  };
  const std::vector<Case> cases = {
      {"", [](Asked&) {}},
      {"", [](Asked& a) { a.request.pythons = {"3.11"}; }},
      {"", [](Asked& a) { a.request.packages = {"other", "demo"}; }},
      {"--into ENV", [](Asked& a) { a.request.into.clear(); }},
      {"--source demo=FOLDER", [](Asked& a) { a.request.sources.clear(); }},
      {"--source other=FOLDER", [](Asked& a) { a.request.packages = {"other"}; }},
      {"git+https://example.org/demo@main is not a folder",
       [](Asked& a) { a.set_source("demo", "git+https://example.org/demo@main"); }},
      {"demo-1.0.tar.gz is not a folder",
       [](Asked& a) {
         std::ofstream(a.temp.path() / "demo-1.0.tar.gz") << "x";
         a.set_source("demo", (a.temp.path() / "demo-1.0.tar.gz").string());
       }},
      {"one Python", [](Asked& a) { a.request.pythons = {"3.11", "3.12"}; }},
      {"one variant", [](Asked& a) { a.request.variants = {recipe::Variant::cpu, recipe::Variant::cuda}; }},
      {"one list of architectures",
       [](Asked& a) { a.request.archs = {gpu::ArchList::parse("8.0"), gpu::ArchList::parse("9.0")}; }},
      {"no platform tag", [](Asked& a) { a.request.platform = "manylinux_2_28"; }},
      {"", [](Asked& a) { a.request = {}; }},  // not requested: no error
  };
  for (const Case& one : cases) {
    Asked asked;
    one.change(asked);
    const std::string said = asked.refusal();
    EXPECT_TRUE(one.said.empty() ? said.empty() : said.find(one.said) != said.npos) << one.said << "\n" << said;
  }
}

TEST(Editable, AppliesToRequestedPackagesWithAFolder) {
  Asked asked;
  EXPECT_TRUE(is_editable(asked.request, "demo", "demo"));
  asked.request.packages = {"Demo", "other"};
  EXPECT_TRUE(is_editable(asked.request, "demo", "demo"));
  EXPECT_FALSE(is_editable(asked.request, "other", "other"));
  // A dependency of a requested package is built as usual, from its folder.
  asked.request.packages = {"other"};
  EXPECT_FALSE(is_editable(asked.request, "demo", "demo"));
  asked.request.packages = {"demo"};
  asked.request.editable = false;
  EXPECT_FALSE(is_editable(asked.request, "demo", "demo"));
}

}  // namespace wheelsmith::choose
