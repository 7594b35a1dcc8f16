#include "choose/targets.h"

#include <gtest/gtest.h>

#include "base/request_error.h"
#include "choose/read_request.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::choose {
namespace {

std::string refusal(const std::string& text) {
  try {
    (void)read_target(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Targets, NamesAreNormalized) {
  for (const char* name : {"PyYAML", "pyyaml", "PYYAML"}) EXPECT_EQ(read_target(name).package, "pyyaml");
  for (const char* name : {"torch_scatter", "Torch.Scatter", "torch-scatter"}) {
    EXPECT_EQ(read_target(name).package, "torch-scatter");
    EXPECT_FALSE(read_target(name).source);
  }
}

TEST(Targets, VersionsAreSources) {
  for (const char* text : {"PyYAML==6.0", "pyyaml == 6.0"}) {
    const Target target = read_target(text);
    EXPECT_EQ(target.package, "pyyaml");
    ASSERT_TRUE(target.source) << text;
    EXPECT_EQ(target.source->specifier, "==6.0");
  }
  EXPECT_EQ(read_target("x>=1,<2").source->specifier, ">=1,<2");
}

TEST(Targets, RepositoriesAndArchives) {
  struct Row {
    const char *text, *package, *url;
  };
  for (const Row& row : std::vector<Row>{
           {"git+https://example.org/a/My_Pkg.git@v1.2", "my-pkg", "git+https://example.org/a/My_Pkg.git@v1.2"},
           {"git+https://example.org/a/pkg", "pkg", "git+https://example.org/a/pkg"},
           {"git+https://user@example.org/a/pkg@main", "pkg", "git+https://user@example.org/a/pkg@main"},
           {"git+https://example.org/a/x.git@v1#egg=Other", "other", "git+https://example.org/a/x.git@v1"},
           {"demo @ git+https://example.org/a/x.git@v1", "demo", "git+https://example.org/a/x.git@v1"},
           {"https://example.org/d/Demo_Pkg-1.0.tar.gz", "demo-pkg", "https://example.org/d/Demo_Pkg-1.0.tar.gz"},
           {"https://example.org/my-old-name-1.0.zip", "my-old-name", "https://example.org/my-old-name-1.0.zip"},
       }) {
    const Target target = read_target(row.text);
    EXPECT_EQ(target.package, row.package) << row.text;
    ASSERT_TRUE(target.source) << row.text;
    EXPECT_EQ(target.source->url, row.url);
    EXPECT_TRUE(names_a_place(row.text) || std::string(row.text).starts_with("demo @")) << row.text;
  }
}

TEST(Targets, Folders) {
  const sys::TempDir folder;
  const auto with = [&](const char* name, const char* file, const char* text) {
    sys::make_folders(folder.path() / name);
    sys::write_file(folder.path() / name / file, text);
    return (folder.path() / name).string();
  };
  EXPECT_EQ(read_target(with("a", "pyproject.toml", "[project]\nname = \"My_Name\"\n")).package, "my-name");
  EXPECT_EQ(read_target(with("b", "setup.py", "setup(name='from-setup')\n")).package, "from-setup");
  EXPECT_EQ(read_target(with("c", "setup.cfg", "[metadata]\nversion = 1\nname = from-cfg\n")).package, "from-cfg");
  EXPECT_EQ(read_target(with("Some.Folder", "setup.py", "setup()\n") + "/").package, "some-folder");
  EXPECT_NE(refusal(with("d", "README", "")).find("neither pyproject.toml nor setup.py"), std::string::npos);
  sys::write_file(folder.path() / "demo-1.0.tar.gz", "");
  EXPECT_EQ(read_target((folder.path() / "demo-1.0.tar.gz").string()).package, "demo");
  sys::write_file(folder.path() / "source.tar.gz", "");
  EXPECT_NE(refusal((folder.path() / "source.tar.gz").string()).find("--source NAME="), std::string::npos);
}

TEST(Targets, InvalidOnesListTheAcceptedForms) {
  for (const char* text : {"", "no name!", "-x", "a b", "x[extra]==1"})
    EXPECT_NE(refusal(text).find("must be a package name"), std::string::npos) << text << ": " << refusal(text);
  EXPECT_NE(refusal("./absent").find("no such file or folder"), std::string::npos);
  EXPECT_NE(refusal("absent-1.0.tar.gz").find("no such file or folder"), std::string::npos);
  EXPECT_NE(refusal("x-1.0-py3-none-any.whl").find("is a wheel"), std::string::npos);
}

// An untrusted settings file selects packages, not places.
TEST(Targets, OnlyTheUserNamesPlaces) {
  settings::Settings file;
  file.read_project("/x/wheelsmith.toml", "packages = [\"git+https://evil.example/x\"]\n");
  EXPECT_THROW(read_request(file), RequestError);
  settings::Settings user;
  user.set_from_command_line("packages", document::Array{"git+https://example.org/x", "X", "Y", "y"});
  const Request request = read_request(user);
  EXPECT_EQ(request.packages, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(request.sources.size(), 1U);
}

TEST(Targets, AVersionOfARepositoryIsItsTag) {
  const std::vector<recipe::Library::File> files = {
      {"r.toml",
       "name = \"in_git\"\n[source]\ngit = \"https://example.org/x.git\"\nref = \"v1\"\n"
       "tag-prefix = \"v\"\n[variant.cpu]\n"}};
  const recipe::Library library(files);
  settings::Settings user;
  user.set_from_command_line("packages", document::Array{"In-Git==2.0"});
  Request request = read_request(user);
  take_versions_as_tags(request, library);
  EXPECT_TRUE(request.sources.empty());
  ASSERT_EQ(request.refs.size(), 1U);
  EXPECT_EQ(request.refs[0], (std::pair<std::string, std::string>{"in_git", "v2.0"}));
  settings::Settings range;
  range.set_from_command_line("packages", document::Array{"in-git>=2"});
  request = read_request(range);
  EXPECT_THROW(take_versions_as_tags(request, library), RequestError);
}

TEST(Values, AVariantOnTheCommandLineOverridesArchsOfAFile) {
  const auto archs = [](const char* variant) {
    settings::Settings settings;
    settings.read_project("/x/wheelsmith.toml", "arch = [\"8.0;gfx942;9.0\"]\ngpu = [\"MI300X\"]\n");
    if (*variant != '\0') settings.set_from_command_line("variant", std::string(variant));
    const Request request = read_request(settings);
    std::string text;
    for (const gpu::ArchList& list : request.archs) text += list.to_string() + "|";
    return text + std::to_string(request.devices.size());
  };
  EXPECT_EQ(archs("cpu"), "0");
  EXPECT_EQ(archs("cuda"), "8.0;9.0|0");
  settings::Settings both;
  both.set_from_command_line("variant", std::string("cpu"));
  both.set_from_command_line("arch", std::string("9.0"));
  EXPECT_EQ(read_request(both).archs.size(), 1U);  // choose_variants() rejects it
}

TEST(Values, AreRejectedAtOnce) {
  const auto error = [](const char* name, const char* value) {
    settings::Settings settings;
    settings.set_from_command_line(name, std::string(value));
    try {
      (void)read_request(settings);
    } catch (const RequestError& problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{{"platform", "manylinux_2_28"},
                                                                                    {"platform", "manylinux2014"},
                                                                                    {"platform", "linux"},
                                                                                    {"platform", "musllinux_1_2"},
                                                                                    {"platform", "win_amd64"},
                                                                                    {"python", "3.12"},
                                                                                    {"python", "cp313t"},
                                                                                    {"python", "/usr/bin/python3"},
                                                                                    {"torch", "2.9.0"},
                                                                                    {"torch", ">=2.8"},
                                                                                    {"torch", "nightly/cu130"},
                                                                                    {"without", "triton"}})
    EXPECT_EQ(error(name, value), "") << name << " " << value;
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{{"platform", "manylinux_2_99"},
                                                                                    {"platform", "manylinx_2_28"},
                                                                                    {"python", "nosuch"},
                                                                                    {"torch", "no such torch"},
                                                                                    {"gpu", "toaster"},
                                                                                    {"arch", "sm_x"},
                                                                                    {"env", "A B=1"},
                                                                                    {"without", "no name!"}}) {
    EXPECT_NE(error(name, value).find(value == std::string("A B=1") ? "A B" : value), std::string::npos)
        << name << " " << value;
  }
}

}  // namespace
}  // namespace wheelsmith::choose
