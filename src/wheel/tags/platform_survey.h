#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pep/policy.h"
#include "wheel/read/elf_facts.h"
#include "wheel/tags/platform.h"

// The requirements of a wheel's ELF files that platform policies check. Files must outlive the survey.

namespace wheelsmith::wheel {

// A NEEDED library, and the file of the wheel that the run paths find, or null.
struct NeededLibrary {
  const ElfFacts* by = nullptr;
  std::string soname;
  const ElfFacts* resolved = nullptr;
};

// A file that is loaded on its own (an extension, a program), with all libraries it loads.
struct LoadTree {
  const ElfFacts* root = nullptr;
  // The package works without it: a plugin, or a library that nothing loads.
  bool stray = false;
  bool may_be_plugin = false;        // one of several libraries that nothing else loads
  std::vector<NeededLibrary> needs;  // one per soname, in the loader's order
};

struct Survey {
  std::string machine;  // "" when no file counts
  pep::LibC libc = pep::LibC::glibc;
  std::vector<const ElfFacts*> counted;  // of that machine and libc
  std::vector<const ElfFacts*> foreign;  // for another machine that has policies
  std::vector<LoadTree> trees;
  // Symbol version -> the files that need it, with the library.
  std::map<std::string, std::set<std::pair<const ElfFacts*, std::string>>> versions;
};

// Which files count for a wheel's tag: `machine` as given, or by the wheel's tags, or by its first file; libc likewise.
enum class LibcRule { one, any };
Survey survey(const std::vector<ElfFacts>& files, const PlatformOptions& options, const std::string& machine,
              LibcRule rule);

// The folder in the wheel that a run path names, without a trailing slash ("" is the wheel's root); nothing if it is
// outside. Only $ORIGIN can point inside.
std::optional<std::string> folder_in_wheel(std::string_view run_path, std::string_view file_path);

// A policy rule that a file violates.
struct Violation {
  enum class Kind { version, library, symbol, instructions, fpectl };
  Kind kind = Kind::version;
  const ElfFacts* file = nullptr;
  std::string library;             // whose versions or symbols they are
  std::vector<std::string> names;  // versions, sonames or symbols
  bool stray = false;              // it affects only a stray file
};

std::vector<Violation> violations(const Survey& survey, const pep::Policy& policy);
bool satisfies(const Survey& survey, const pep::Policy& policy);

// "needs GLIBC_2.28 (fcntl64) of libc.so.6; manylinux_2_27 has GLIBC_2.27"
std::string describe(const Violation& violation, const pep::Policy& policy, const std::string& machine);

}  // namespace wheelsmith::wheel
