#include "env/installed.h"

#include "env/test_env.h"

namespace wheelsmith::env {

namespace {

using Texts = std::vector<std::string>;

struct Sites {
  sys::TempDir folder;
  toolchain::Python python;

  Sites() {
    python.version = "3.11.7";
    python.sites = {folder.path() / "own", folder.path() / "system"};
  }
  void add(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder.path() / file;
    sys::make_folders(path.parent_path());
    sys::write_file(path, text);
  }
};

Texts names(const std::vector<InstalledPackage>& packages) {
  Texts result;
  for (const InstalledPackage& package : packages) result.push_back(package.name + " " + package.version);
  return result;
}

}  // namespace

TEST(InstalledPackages, ReadEveryToolsFormat) {
  Sites sites;
  sites.add("own/pip-23.2.1.dist-info/METADATA",
            "Metadata-Version: 2.1\r\nName: pip\r\nVersion: 23.2.1\r\n\r\nText\r\n");
  sites.add("own/old.egg-info/PKG-INFO", "Name: old\nVersion: 0.9\n");
  sites.add("own/older-0.1.egg-info", "Name: older\nVersion: 0.1\n");
  sites.add("own/odd-1.dist-info/METADATA", "Name: odd\nVersion: 1\n\nno header: \x01 at all\n");
  sites.add("own/~alf-1.dist-info/RECORD", "");  // an interrupted uninstall
  sites.add("own/a.dist-info/METADATA", "Summary: nameless\n");
  sites.add("system/pip-20.dist-info/METADATA", "Name: pip\nVersion: 20\n");
  sites.add("system/Torch-2.11.0.dist-info/METADATA", "Name: Torch\nVersion: 2.11.0+cu130\n");
  EXPECT_EQ(names(installed_packages(sites.python)),
            (Texts{"odd 1", "old 0.9", "older 0.1", "pip 23.2.1", "Torch 2.11.0+cu130"}));
}

TEST(InstalledPackages, DependOnTheirFileLists) {
  Sites sites;
  sites.add("own/x-1.dist-info/METADATA", "Name: x\nVersion: 1\n");
  const std::string before = installed_packages(sites.python).front().digest;
  sites.add("own/x-1.dist-info/RECORD", "x.py,sha256=one,3\n");
  const std::string listed = installed_packages(sites.python).front().digest;
  EXPECT_NE(listed, before);
  sites.add("own/x-1.dist-info/RECORD", "x.py,sha256=two,3\n");
  EXPECT_NE(installed_packages(sites.python).front().digest, listed);
}

TEST(UnmetRequirements, ApplyMarkersForTheInterpreter) {
  Sites sites;
  const std::vector<InstalledPackage> packages = {{"setuptools", "70.0.0", ""}, {"Ninja", "1.13", ""}};
  const UnmetRequirements unmet =
      unmet_requirements({"setuptools>=77", "ninja", "wheel", "tomli; python_version < \"3.11\"",
                          "cmake>=3.18; python_version >= \"3.11\""},
                         packages, sites.python);
  EXPECT_EQ(unmet.missing, (Texts{"wheel", "cmake>=3.18; python_version >= \"3.11\""}));
  EXPECT_EQ(unmet.other_version, Texts{"setuptools>=77 (70.0.0 is installed)"});
}

}  // namespace wheelsmith::env
