#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wheel/check/loader/loader.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::surgery {

// A library of the machine.
struct ExternalLibrary {
  std::string path;       // where the loader found it
  std::string real_path;  // with links resolved
  wheel::ElfFacts facts;
};

// One NEEDED name of a binary, and what the loader takes for it.
struct LibraryNeed {
  std::string soname;
  bool inside = false;  // a file of the wheel, or one that stays outside by the caller's word
  std::shared_ptr<const ExternalLibrary> library;  // null: inside, or not found
};

struct LibrarySearch {
  // By the path of the wheel's member, or the real path of a library.
  std::map<std::string, std::vector<LibraryNeed>> needs;
};

struct SearchInputs {
  const std::vector<wheel::ElfFacts>* files = nullptr;  // binaries of the wheel that are searched for
  // Where a member lies below site-packages once installed; "" for one that lies elsewhere.
  std::function<std::string(const std::string& member)> installed_path;
  // Whether the library is left to others, so that nothing is looked up.
  std::function<bool(const wheel::ElfFacts& by, const std::string& soname)> stays_outside;
  const wheel::LoaderMachine* machine = nullptr;
  std::function<std::string(const std::string& path)> real_path;
};

// Follows the dynamic loader from each file of the wheel through all libraries: RPATH of the file and of those that
// loaded it, LD_LIBRARY_PATH, RUNPATH, default folders. Throws Error when that takes more steps than any real wheel.
LibrarySearch search_libraries(const SearchInputs& inputs);

}  // namespace wheelsmith::surgery
