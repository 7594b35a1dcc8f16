#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pep/policy.h"
#include "surgery/repair/library_search.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::surgery {

// A library that goes into the wheel.
struct Graft {
  std::shared_ptr<const ExternalLibrary> library;
  std::string name;                              // its file name and SONAME in the wheel
  std::map<std::string, std::string> renames{};  // of what it needs
};

// What changes in a binary of the wheel.
struct BinaryChange {
  std::map<std::string, std::string> renames{};
  std::vector<std::string> removed{};   // NEEDED names that go
  bool uses_grafts = false;             // it needs the folder of grafts on its run path
  std::vector<std::string> siblings{};  // folders of other packages that it needs on its run path
};

struct MissingLibrary {
  std::string by, soname;
};

struct GraftPlan {
  std::map<std::string, Graft> grafts;          // by real path
  std::map<std::string, BinaryChange> members;  // by member
  std::vector<MissingLibrary> missing;
};

struct PlanInputs {
  const std::vector<wheel::ElfFacts>* files = nullptr;
  const LibrarySearch* search = nullptr;
  std::set<std::string> by_own_name;  // real paths of libraries that keep their name
  // Whether Python itself supplies the library, so that modules must not ask for it.
  std::function<bool(const std::string& soname)> is_interpreter;
  std::function<std::string(const ExternalLibrary& library)> hashed_name;
};

// What has to come into the wheel so that it needs nothing but what the policy promises.
GraftPlan make_graft_plan(const PlanInputs& inputs, const pep::Policy& policy);

// "libfoo.so.1.2" and 8 digits of a hash give "libfoo-1a2b3c4d.so.1.2", as auditwheel names its copies.
std::string name_with_hash(const std::string& file_name, const std::string& hash);

// The binaries as they will be, for the rules about platforms. `libs` is the folder of the grafts.
std::vector<wheel::ElfFacts> planned_files(const std::vector<wheel::ElfFacts>& files, const GraftPlan& plan,
                                           const std::string& libs);

// From one folder below site-packages to another, as the loader reads it: "$ORIGIN/../demo.libs".
std::string origin_path(const std::string& from, const std::string& to);
std::string folder_of_path(const std::string& path);

}  // namespace wheelsmith::surgery
