#include "wheel/read/python_use.h"

#include <gtest/gtest.h>

namespace wheelsmith::wheel {
namespace {

struct Source {
  std::string name;
  std::string text;
};

// What the files say of p/_x.so, one of several binaries.
PythonUse& reading(PythonUse& use, const std::vector<Source>& sources) {
  for (const Source& source : sources) use.see(source.name, Bytes(source.text));
  return use;
}

std::vector<FileTree::File> files() {
  return {{"p/__init__.py", 1},
          {"p/_x.cpython-311-x86_64-linux-gnu.so", 1},
          {"p/lib/libmain.so.1", 1},
          {"p/plain/_y.so", 1},
          {"q/_x.so", 1}};
}

const std::string k_module = "p/_x.cpython-311-x86_64-linux-gnu.so";

TEST(PythonUse, AModuleIsOptionalWhereThePackageGoesOnWithoutIt) {
  const std::pair<const char*, bool> rows[] = {
      {"from . import _x\n", false},
      {"try:\n    from . import _x\nexcept ImportError:\n    pass\n", true},
      {"try:\n    from . import _x\nexcept ImportError: pass\n", true},
      {"try:\n    from ._x import f\nexcept ImportError:\n    from .slow import f\n", true},
      {"try:\n    from . import (a,\n                   _x)\nexcept ImportError:\n    _x = None\n", true},
      {"def f():\n    if g:\n        try:\n            h()\n            from p import _x as lib\n        except "
       "ImportError:\n"
       "            pass\n    return lib\n",
       true},
      {"# no import\n", false},
      {"try:\n    from . import _x\nexcept ImportError as e:\n    raise ImportError('a better text') from e\n", false},
      {"try:\n    from . import _x\nexcept ImportError: raise\n", false},
      {"try:\n    from . import _x\nfinally:\n    done()\n", false},
      {"try:\n    pass\nexcept ImportError:\n    from . import _x\n", false},
      {"try:\n    pass\nexcept ImportError:\n    pass\nfrom . import _x\n", false},
      {"try:\n    from . import _x\nexcept ImportError:\n    pass\nfrom . import _x\n", false},
      {"try:\n    try:\n        from . import _x\n    except OSError:\n        raise\nexcept Exception:\n    pass\n",
       true},
      {"if TYPE_CHECKING:\n    from . import _x\n", false},
      {"\"\"\"\ntry:\n    from . import _x\nexcept ImportError:\n    pass\n\"\"\"\n", false},
  };
  for (const auto& [text, optional] : rows) {
    PythonUse use(files());
    EXPECT_EQ(reading(use, {{"p/a.py", text}}).is_tried_only(k_module), optional) << text;
  }
}

TEST(PythonUse, ModulesOfOtherPackagesDoNotCount) {
  PythonUse use(files());
  reading(use, {{"q/a.py", "try:\n    from . import _x\nexcept ImportError:\n    pass\n"}});
  EXPECT_FALSE(use.is_tried_only(k_module));
  EXPECT_TRUE(use.is_tried_only("q/_x.so"));
}

TEST(PythonUse, LibrariesAreNamedByTheCodeThatLoadsThem) {
  const std::pair<const char*, bool> rows[] = {
      {"ctypes.CDLL(os.path.join(here, 'lib', 'libmain.so.1'))", true},
      {"ctypes.CDLL(f'{here}/libmain.so')", true},
      {"numpy.ctypeslib.load_library(\"libmain\", here)", true},
      {"load('libmainly')", false},
      {"# a library", false},
  };
  for (const auto& [text, named] : rows) {
    PythonUse use(files());
    reading(use, {{"p/a.py", text}}).finish();
    EXPECT_EQ(use.named("p/lib/libmain.so.1") == PythonUse::Named::at_import, named) << text;
  }
  PythonUse other(files());
  EXPECT_EQ(reading(other, {{"q/a.py", "'libmain.so'"}}).named("p/lib/libmain.so.1"), PythonUse::Named::no);
}

TEST(PythonUse, ALibraryMayBeLoadedAfterTheImport) {
  const std::string load =
      "@functools.cache\ndef load(\n    name,\n) -> None:\n    \"\"\"Loads it.\"\"\"\n    "
      "ctypes.CDLL('libmain.so.1')\n";
  struct Row {
    const char* more;
    PythonUse::Named named;
  };
  const Row rows[] = {
      {"", PythonUse::Named::later},
      {"def feature():\n    load()\n", PythonUse::Named::later},
      {"__all__ = ['load']\nTABLE = {'heic': load}\n", PythonUse::Named::later},
      {"load()\n", PythonUse::Named::at_import},
      {"if True:\n    LIBRARY = load('x')\n", PythonUse::Named::at_import},
      {"def feature():\n    load()\n\ndef start():\n    feature()\n\nstart()\n", PythonUse::Named::at_import},
      {"from .x import load as begin\nbegin()\n", PythonUse::Named::at_import},
      {"begin = load\nbegin()\n", PythonUse::Named::at_import},
      {"class Library:\n    @staticmethod\n    def start():\n        load()\n\nLibrary.start()\n",
       PythonUse::Named::at_import},
      {"print(1)\nNAME = 'libmain.so'\n", PythonUse::Named::at_import},
  };
  for (const auto& [more, named] : rows) {
    PythonUse use(files());
    reading(use, {{"p/x.py", load}, {"p/b.py", more}}).finish();
    EXPECT_EQ(use.named("p/lib/libmain.so.1"), named) << more;
  }
}

TEST(PythonUse, WhatIsImportedAndLoaded) {
  PythonUse use(files());
  reading(use, {{"p/__init__.py",
                 "import librmm\nlibrmm.load_library()\nfrom numpy.linalg import norm\nfrom . import b\n"}});
  EXPECT_TRUE(use.imported().contains("librmm"));
  EXPECT_TRUE(use.imported().contains("numpy"));
  EXPECT_EQ(use.loaded(), std::set<std::string>{"librmm"});
}

TEST(PythonUse, OutOfReachIsWhatNoImportStatementFinds) {
  PythonUse use(files());
  EXPECT_TRUE(use.is_out_of_reach("p/plain/_y.so"));
  EXPECT_FALSE(use.is_out_of_reach(k_module));
  reading(use, {{"p/__init__.py", "from .plain import _y\n"}});
  EXPECT_FALSE(use.is_out_of_reach("p/plain/_y.so"));
}

TEST(PythonUse, NamesThatAnImportStatementFinds) {
  for (const char* name :
       {"x.so", "p/x.abi3.so", "p/x.cpython-311-x86_64-linux-gnu.so", "x.pypy310-pp73-x86_64-linux-gnu.so"})
    EXPECT_TRUE(is_importable_name(name)) << name;
  for (const char* name : {"p/MPI.mpich.cpython-311-x86_64-linux-gnu.so", "libx.so.1", "x.py", ".so", "x"})
    EXPECT_FALSE(is_importable_name(name)) << name;
}

TEST(PythonUse, HostileFilesEnd) {
  PythonUse use(files());
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "try:\n";
  deep += std::string(2001, ' ') + "from . import _x\n";
  reading(use, {{"p/a.py", deep},
                {"p/b.py", "from . import (" + std::string(1'000'000, '(')},
                {"p/c.py", std::string(100, '\0')}});
  EXPECT_FALSE(use.is_tried_only(k_module));
}

}  // namespace
}  // namespace wheelsmith::wheel
