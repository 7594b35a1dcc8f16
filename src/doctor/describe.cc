#include "base/parallel.h"
#include "doctor/doctor.h"
#include "toolchain/description.h"
#include "toolchain/library/library.h"

namespace wheelsmith::doctor {

namespace {

// Variables that affect builds. All others are excluded: descriptions are shared, and they may be secrets.
constexpr const char* k_variables[] = {"ROCM_SDK_TARGET_FAMILY", "SOURCE_DATE_EPOCH"};

void describe_libraries(toolchain::Description& machine, const Facts& facts, const toolchain::Host& where) {
  toolchain::LibrarySearch search;
  if (facts.cuda) search.cuda = facts.cuda->root;
  if (facts.rocm) search.rocm = facts.rocm->root;
  machine.lists_libraries = true;
  for (const toolchain::LibraryKind& kind : toolchain::library_kinds()) {
    toolchain::Library library = toolchain::find_library(kind, search, where);
    if (library.state() != toolchain::Library::State::missing) machine.libraries.push_back(std::move(library));
  }
}

}  // namespace

toolchain::Description describe(const toolchain::Host& where, const Facts& facts) {
  if (where.described) return *where.described;
  toolchain::Description machine;
  machine.name = "machine";
  if (const auto host = where.environment.find("HOSTNAME"); host != where.environment.end())
    machine.name = host->second;
  machine.platform = "linux_x86_64";
  machine.cores = usable_threads();
  machine.memory = facts.memory;
  machine.isolates_network = facts.isolates_network;
  for (const char* name : k_variables) {
    if (const auto found = where.environment.find(name); found != where.environment.end())
      machine.environment.insert(*found);
  }
  machine.pythons = toolchain::find_pythons(where);
  if (!machine.pythons.empty()) {
    machine.platform = machine.pythons.front().platform;
    machine.glibc = machine.pythons.front().glibc;
  }
  for (const toolchain::Python& python : machine.pythons) {
    if (auto torch = toolchain::find_torch(python.executable, false, where))
      machine.torches[python.executable.string()] = std::move(*torch);
  }
  if (facts.compiler) machine.compilers = {*facts.compiler};
  if (facts.cuda) machine.cudas = {*facts.cuda};
  if (facts.rocm) machine.rocms = {*facts.rocm};
  describe_libraries(machine, facts, where);
  machine.programs = facts.programs;
  machine.shadowed = facts.shadowed;
  machine.gpus = facts.gpus;
  for (const BuildFolder& place : facts.places) {
    std::error_code ignored;
    machine.places.push_back({place.name, std::filesystem::absolute(place.folder, ignored), place.free});
  }
  return machine;
}

}  // namespace wheelsmith::doctor
