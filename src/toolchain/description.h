#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sys/files.h"
#include "toolchain/library/library.h"
#include "toolchain/toolchain.h"

// A machine as a text. A plan and doctor need few facts about a machine: its Pythons, compilers, CUDA, ROCm, programs
// and memory. Written as TOML once (`doctor --describe`), they allow planning for a cluster node on a laptop, and
// testing every recipe on machines that are not available here. With a description in the Host nothing of the local
// machine is examined: no process is started, no file is read.
//
// docs/machines.md lists the keys. Omitted values are those of an ordinary machine where the rest implies them (a
// Python's include folder from its prefix, nvcc's architectures from its version); otherwise they are absent.

namespace wheelsmith::toolchain {

// A source as far as planning reads it.
struct DescribedSource {
  std::string version;                                // of an sdist, or in the source itself; "": as the ref says
  std::string commit;                                 // of every ref that is not in `refs`
  std::map<std::string, std::string> refs;            // tag, branch or abbreviated commit -> commit
  std::map<std::string, std::string> files;           // path -> text: pyproject.toml, version.txt, …
  std::optional<std::string> backend;                 // instead of pyproject's
  std::optional<std::vector<std::string>> requires_;  // likewise
};

struct DescribedPlace {
  std::string name;  // "store", "temporary", "out"
  std::filesystem::path folder;
  std::uint64_t free = 0;
};

struct Description {
  std::string name;      // "h100-node"
  std::string platform;  // "linux_x86_64"
  std::string glibc;     // "2.36"
  unsigned cores = 1;
  sys::Memory memory;
  bool isolates_network = true;
  sys::Environment environment;          // all of it
  std::vector<Python> pythons;           // the first is the one in PATH
  std::map<std::string, Torch> torches;  // of the interpreter with that path
  std::vector<Compiler> compilers;       // the first of each is taken unless the user names another
  std::vector<Cuda> cudas;
  std::vector<Rocm> rocms;
  std::vector<Library> libraries;
  bool lists_libraries = false;  // unlisted libraries are absent; otherwise unknown
  std::map<std::string, Program, std::less<>> programs;
  std::map<std::string, Program, std::less<>> shadowed;  // shadowed by one from pip
  std::vector<Gpu> gpus;
  std::vector<DescribedPlace> places;
  std::map<std::string, std::string> wheels;                     // results of resolving: normalized name -> version
  std::vector<std::pair<std::string, DescribedSource>> sources;  // by project or URL, or a pattern of those

  // By the first name with an exact entry, otherwise by the first name that matches a pattern; null for none.
  [[nodiscard]] const DescribedSource* source(const std::vector<std::string>& names) const;
};

// Throws Error "FILE:LINE: unknown key pyhton; did you mean python?"; all problems at once.
Description read_description(std::string_view toml, std::string_view file_name);
std::string to_toml(const Description& description);

// Stands for a tool's digest: it names the tool, and cannot be a real digest.
std::string described_digest(std::string_view name, std::string_view version);

// Answers the questions of toolchain.h for a described machine.
Python find_described_python(const std::string& wanted, const Description& machine);
std::optional<Python> read_described_python(const std::filesystem::path& executable, const Description& machine);
std::optional<Compiler> find_described_compiler(const Host& where);
std::optional<Cuda> find_described_cuda(const Host& where);
std::optional<Cuda> read_described_cuda(const std::filesystem::path& root, const Description& machine);
std::optional<Rocm> find_described_rocm(const Host& where);
Library find_described_library(const LibraryKind& kind, const LibrarySearch& search, const Host& where);
std::optional<Program> find_described_program(std::string_view name, const Description& machine);
std::optional<Torch> find_described_torch(const std::filesystem::path& python, const Description& machine);

// A library below that folder, with its usual names there.
Library fill_library(const LibraryKind& kind, const std::string& version, const std::filesystem::path& root);
// Fills in everything about an interpreter that follows from its path and version.
void fill_python(Python& python, const Description& machine);

}  // namespace wheelsmith::toolchain
