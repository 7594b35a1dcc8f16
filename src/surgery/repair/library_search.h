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

// One NEEDED name of a binary, and the file that the loader finds for it.
struct LibraryNeed {
  std::string soname;
  bool inside = false;                             // a file of the wheel, or one that the caller leaves outside
  std::shared_ptr<const ExternalLibrary> library;  // null: inside, or not found
};

struct LibrarySearch {
  // By the path of the wheel's member, or the real path of a library.
  std::map<std::string, std::vector<LibraryNeed>> needs;
};

struct SearchInputs {
  const std::vector<wheel::ElfFacts>* files = nullptr;  // binaries of the wheel that are searched for
  // The path of a member below site-packages once installed; "" if it is installed elsewhere.
  std::function<std::string(const std::string& member)> installed_path;
  // Whether the library stays outside and is not searched.
  std::function<bool(const wheel::ElfFacts& by, const std::string& soname)> stays_outside;
  const wheel::LoaderMachine* machine = nullptr;
  std::function<std::string(const std::string& path)> real_path;
};

// Follows the dynamic loader from each file of the wheel through all libraries: RPATH of the file and of those that
// loaded it, LD_LIBRARY_PATH, RUNPATH, default folders. Throws Error when that takes more steps than any real wheel.
LibrarySearch search_libraries(const SearchInputs& inputs);

}  // namespace wheelsmith::surgery
