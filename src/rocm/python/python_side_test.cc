#include "rocm/python/python_side.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "archive/archive.h"
#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "rocm/python/python_table.h"
#include "wheel/tags/platform.h"

// What the Python files do is proved by tests/rocm_python_side.sh, in environments.

namespace wheelsmith::rocm {
namespace {

DistInfo release() {
  DistInfo info;
  info.version = "7.10.0";
  info.targets = {"gfx942:xnack+", "gfx1151", "gfx942"};
  return info;
}

DistInfo family() {
  DistInfo info = release();
  info.kpack = false;
  info.targets = {"gfx94X-dcgpu"};
  return info;
}

std::vector<std::string> paths(const std::vector<TextFile>& files) {
  std::vector<std::string> result;
  for (const TextFile& file : files) result.push_back(file.path);
  return result;
}

std::string text_of(const std::vector<TextFile>& files, const std::string& path) {
  for (const TextFile& file : files) {
    if (file.path == path) return file.text;
  }
  return "no such file";
}

std::vector<std::string> lines_with(const std::string& text, std::string_view word) {
  std::vector<std::string> result;
  for (const std::string_view line : lines(text)) {
    if (line.find(word) != line.npos) result.emplace_back(line);
  }
  return result;
}

template <typename Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

using Lines = std::vector<std::string>;

TEST(PythonSide, Names) {
  EXPECT_EQ(dist_name(release(), "core"), "rocm-sdk-core");
  EXPECT_EQ(dist_name(release(), "libraries"), "rocm-sdk-libraries");
  EXPECT_EQ(dist_name(release(), "device", "gfx942:xnack-"), "rocm-sdk-device-gfx942");
  EXPECT_EQ(dist_name(family(), "libraries", "gfx94X-dcgpu"), "rocm-sdk-libraries-gfx94X-dcgpu");
  EXPECT_EQ(platform_folder(release(), "core"), "_rocm_sdk_core");
  EXPECT_EQ(platform_folder(release(), "device", "gfx942"), "_rocm_sdk_libraries");
  EXPECT_EQ(platform_folder(release(), "profiler"), "_rocm_profiler");
  EXPECT_EQ(platform_folder(family(), "libraries", "gfx94X-dcgpu"), "_rocm_sdk_libraries_gfx94X_dcgpu");
  DistInfo suffixed = release();
  suffixed.suffix = "_n1";
  EXPECT_EQ(platform_folder(suffixed, "core"), "_rocm_sdk_core_n1");
  EXPECT_EQ(package_names(release()), (Lines{"meta", "core", "libraries", "device", "devel", "profiler"}));
  EXPECT_EQ(package_names(family()), (Lines{"meta", "core", "libraries", "devel", "profiler"}));
  EXPECT_NE(error_of([] { dist_name(release(), "device"); }).find("no target is given"), std::string::npos);
  EXPECT_EQ(error_of([] { dist_name(release(), "devil"); }), "ROCm has no package \"devil\"");
}

TEST(PythonSide, TheDefaultTarget) {
  EXPECT_EQ(default_target(release()), "gfx1151") << "by text";
  DistInfo both = release();
  both.linux_targets = {"gfx942", "gfx1151"};
  both.windows_targets = {"gfx942"};
  EXPECT_EQ(default_target(both), "gfx942") << "what both have";
  both.windows_targets = {"gfx1201"};
  EXPECT_EQ(default_target(both), "gfx1151") << "nothing that both have";
}

// Two wheels that own one file break each other when one of them is uninstalled.
TEST(PythonSide, NoFileBelongsToTwoPackages) {
  for (const DistInfo& info : {release(), family()}) {
    std::set<std::string> all;
    for (const std::string& package : package_names(info)) {
      for (const std::string& path : paths(pure_package_files(info, package, info.targets.front())))
        EXPECT_TRUE(all.insert(path).second) << path;
    }
    EXPECT_TRUE(all.contains(platform_folder(info, "libraries", info.targets.front()) + "/__init__.py"));
  }
  EXPECT_EQ(pure_package_files(release(), "device", "gfx942").size(), 0u);
}

TEST(PythonSide, TheCheckOfWheelsKnowsItsLibraries) {
  std::size_t count = 0;
  for (const PythonLibrary& library : python_table().libraries) {
    if (library.so.empty()) continue;
    std::string soname = library.so;
    std::erase(soname, '*');
    if (soname.ends_with('.')) soname += '1';
    EXPECT_EQ(wheel::provided_by_others(soname), "ROCm") << library.name;
    ++count;
  }
  EXPECT_GT(count, 20U);
}

TEST(PythonSide, FilesOfEachPackage) {
  EXPECT_EQ(paths(pure_package_files(release(), "core")),
            (Lines{"_rocm_sdk_core/__init__.py", "rocm_sdk_core/__init__.py", "rocm_sdk_core/_cli.py",
                   "rocm_sdk_core/_dist_info.py"}));
  EXPECT_EQ(paths(pure_package_files(release(), "devel")),
            (Lines{"rocm_sdk_devel/.devel_scratch", "rocm_sdk_devel/__init__.py", "rocm_sdk_devel/_dist_info.py"}));
  EXPECT_EQ(paths(pure_package_files(family(), "libraries", "gfx94X-dcgpu")),
            (Lines{"_rocm_sdk_libraries_gfx94X_dcgpu/__init__.py", "rocm_sdk_libraries_gfx94X_dcgpu/__init__.py",
                   "rocm_sdk_libraries_gfx94X_dcgpu/_dist_info.py"}));
}

TEST(PythonSide, TheReleaseIsToldOneValueALine) {
  const std::string text = text_of(pure_package_files(release(), "core"), "rocm_sdk_core/_dist_info.py");
  EXPECT_EQ(lines_with(text, "__version__ ="), Lines{"__version__ = '7.10.0'"});
  EXPECT_EQ(lines_with(text, "DEFAULT_TARGET_FAMILY ="), Lines{"DEFAULT_TARGET_FAMILY = 'gfx1151'"});
  EXPECT_EQ(lines_with(text, "AVAILABLE_TARGET_FAMILIES.append"),
            (Lines{"AVAILABLE_TARGET_FAMILIES.append('gfx1151')", "AVAILABLE_TARGET_FAMILIES.append('gfx942')"}));
  EXPECT_EQ(lines_with(text, "THIS_PACKAGE_ENTRY ="), Lines{"THIS_PACKAGE_ENTRY = ALL_PACKAGES['core']"});
  EXPECT_EQ(lines_with(text, "LibraryEntry('miopen'"),
            Lines{"LibraryEntry('miopen', 'libraries', 'libMIOpen.so*', 'MIOpen*.dll')"});
}

TEST(PythonSide, WhatIsHostileStaysData) {
  EXPECT_EQ(python_text("a'b\\c\n"), "'a\\'b\\\\c\\x0a'");
  DistInfo info = release();
  info.targets = {"gfx'); import os #"};
  EXPECT_NE(error_of([&] { pure_package_files(info, "core"); }).find("not a valid GPU target"), std::string::npos);
  info = release();
  info.version = "1.0'";
  EXPECT_NE(error_of([&] { metadata(info, "core"); }).find("not a valid"), std::string::npos);
  info = release();
  info.suffix = "/../x";
  EXPECT_NE(error_of([&] { pure_package_files(info, "core"); }).find("not valid in a module name"), std::string::npos);
  info = release();
  info.default_target = "gfx90a";
  EXPECT_NE(error_of([&] { pure_package_files(info, "core"); }).find("not one of gfx1151, gfx942"), std::string::npos);
}

TEST(PythonSide, Metadata) {
  EXPECT_EQ(metadata(release(), "device", "gfx942"),
            "Metadata-Version: 2.1\nName: rocm-sdk-device-gfx942\nVersion: 7.10.0\n"
            "Summary: ROCm: device code of the libraries for gfx942\nRequires-Python: >=3.8\n"
            "Requires-Dist: rocm-sdk-libraries==7.10.0\n");
  for (const char* package : {"core", "libraries", "devel", "profiler"})
    EXPECT_EQ(metadata(release(), package).find("Requires-Dist"), std::string::npos) << package;
}

TEST(PythonSide, OnlyProgramsThatAreThereAreCommands) {
  const std::set<std::string> programs = {"bin/hipcc", "lib/llvm/bin/amdclang++", "bin/amdclang", "bin/other"};
  const auto has = [&](const std::string& path) { return programs.contains(path); };
  EXPECT_EQ(entry_points(release(), "core", has),
            "[console_scripts]\namdclang = rocm_sdk_core._cli:amdclang\namdclang++ = "
            "rocm_sdk_core._cli:amdclangpp\nhipcc = rocm_sdk_core._cli:hipcc\n");
  EXPECT_EQ(entry_points(release(), "libraries", has), "");
  // Each has a function.
  const std::string code = text_of(pure_package_files(release(), "core"), "rocm_sdk_core/_cli.py");
  for (const PythonScript& script : python_table().scripts) {
    if (script.package != "core") continue;
    EXPECT_EQ(lines_with(code, script_function(script.name) + " = _program(").size(), 1u) << script.name;
  }
  EXPECT_EQ(lines_with(code, "rocminfo ="), Lines{"rocminfo = _program('bin/rocminfo', expand=False)"});
}

TEST(PythonSide, DeviceFiles) {
  const auto files = device_files(release(), "gfx942", {"lib/rocblas/x.co", ".kpack/blas.kpack"});
  ASSERT_EQ(paths(files),
            (Lines{"_rocm_sdk_libraries/.devel_links/gfx942.json", "_rocm_sdk_libraries/.rocm_sdk_device_gfx942"}));
  const document::Value list = document::parse_json(files[0].text, "list");
  EXPECT_EQ(list["version"].text_or(), "7.10.0");
  const document::Array& links = *list["links"].array();
  ASSERT_EQ(links.size(), 3u);
  EXPECT_EQ(links[1]["target"].text_or(), "../_rocm_sdk_libraries/.rocm_sdk_device_gfx942");
  EXPECT_EQ(links[2]["relpath"].text_or(), "lib/rocblas/x.co");
  EXPECT_EQ(links[2]["target"].text_or(), "../../../_rocm_sdk_libraries/lib/rocblas/x.co");
}

TEST(SelectorSdist, Extras) {
  const std::string text = text_of(selector_sdist_files(release()), "PKG-INFO");
  EXPECT_EQ(lines_with(text, "Requires-Dist:").front(), "Requires-Dist: rocm-sdk-core==7.10.0");
  EXPECT_EQ(lines_with(text, "Provides-Extra:").size(), 7u);
  EXPECT_EQ(lines_with(text, "extra == \"device-all\"").size(), 2u);
  EXPECT_EQ(lines_with(text, "extra == \"device\""),
            (Lines{"Requires-Dist: rocm-sdk-device-gfx1151==7.10.0 ; extra == \"device\""}));
  EXPECT_EQ(lines_with(text, "Dynamic:"), Lines{"Dynamic: Requires-Dist"});
  // A release for one family is the same everywhere.
  const std::string other = text_of(selector_sdist_files(family()), "PKG-INFO");
  EXPECT_EQ(lines_with(other, "Dynamic:").size(), 0u);
  EXPECT_EQ(lines_with(other, "extra == \"libraries\""),
            (Lines{"Requires-Dist: rocm-sdk-libraries-gfx94X-dcgpu==7.10.0 ; extra == \"libraries\""}));
}

TEST(SelectorSdist, ATargetOfOneSystemIsNotAskedForOnTheOther) {
  DistInfo info = release();
  info.linux_targets = {"gfx942", "gfx1151"};
  info.windows_targets = {"gfx1151"};
  const auto files = selector_sdist_files(info);
  EXPECT_EQ(lines_with(text_of(files, "PKG-INFO"), "extra == \"device-gfx942\""),
            (Lines{"Requires-Dist: rocm-sdk-device-gfx942==7.10.0 ; sys_platform == \"linux\" and extra == "
                   "\"device-gfx942\""}));
  EXPECT_EQ(lines_with(text_of(files, "src/rocm.egg-info/requires.txt"), "device-all"),
            (Lines{"[device-all]", "[device-all:sys_platform == \"linux\"]"}));
}

TEST(SelectorSdist, OnlyPackagesThatExist) {
  DistInfo info = release();
  info.packages = {"core", "libraries", "device"};
  const std::string text = text_of(selector_sdist_files(info), "PKG-INFO");
  EXPECT_EQ(lines_with(text, "devel").size(), lines_with(std::string(python_source("rocm/README.md")), "devel").size());
  EXPECT_EQ(lines_with(text, "extra == \"libraries\"").size(), 1u);
}

TEST(SelectorSdist, TheArchiveIsThoseFilesAndAlwaysTheSame) {
  StringSink first, second;
  write_selector_sdist(release(), first);
  DistInfo again = release();
  std::reverse(again.targets.begin(), again.targets.end());
  write_selector_sdist(again, second);
  EXPECT_EQ(first.text(), second.text());
  Lines names;
  std::string pkg_info;
  bool inside = false;
  archive::read_tar(
      Bytes(first.text()),
      [&](const archive::TarEntry& entry) {
        names.push_back(entry.name);
        inside = entry.name == "rocm-7.10.0/PKG-INFO";
      },
      [&](Bytes piece) {
        if (inside) pkg_info += piece.text();
      });
  Lines expected;
  for (const TextFile& file : selector_sdist_files(release())) expected.push_back("rocm-7.10.0/" + file.path);
  EXPECT_EQ(names, expected);
  EXPECT_EQ(pkg_info, text_of(selector_sdist_files(release()), "PKG-INFO"));
  EXPECT_EQ(selector_sdist_name(release()), "rocm-7.10.0.tar.gz");
}

TEST(PythonTable, IsWhole) {
  for (const PythonPackage& package : python_table().packages) {
    EXPECT_FALSE(package.dist.empty() || package.pure.empty() || package.summary.empty()) << package.name;
    EXPECT_EQ(package.required, package.extra.empty()) << package.name;
  }
  EXPECT_EQ(python_table().libraries.size(), 28u);
  EXPECT_NE(
      error_of([] { read_python_table("[[library]]\nname = 'x'\npackage = 'y'\n", "t"); }).find("no package \"y\""),
      std::string::npos);
  EXPECT_NE(error_of([] { read_python_table("[[package]]\nnam = 'x'\n", "t"); }).find("nam"), std::string::npos);
}

}  // namespace
}  // namespace wheelsmith::rocm
