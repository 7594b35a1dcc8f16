#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "toolchain/ask.h"
#include "toolchain/description.h"
#include "toolchain/wanted_python.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

template <class Tool>
std::optional<Tool> first_of(const std::vector<Tool>& tools) {
  if (tools.empty()) return std::nullopt;
  return tools.front();
}

// The folder that the user named. As on a real machine, another one is never used instead.
template <class Tool>
std::optional<Tool> at_root(const std::vector<Tool>& tools, const fs::path& root, std::string_view what,
                            const Description& machine) {
  const auto plain = [](const fs::path& path) {
    const fs::path normal = path.lexically_normal();
    return normal.has_filename() ? normal : normal.parent_path();
  };
  for (const Tool& tool : tools) {
    if (plain(tool.root) == plain(root)) return tool;
  }
  std::vector<std::string> known;
  for (const Tool& tool : tools) known.push_back(tool.root.string());
  throw Error(fmt::format("{} is set to {}, but {} has {}", what, printable(root.string()), machine.name,
                          known.empty() ? "none" : join(known, ", ")));
}

bool is_named(const fs::path& program, const std::string& wanted) {
  return program == wanted || program.filename() == wanted;
}

}  // namespace

std::string described_digest(std::string_view name, std::string_view version) {
  return fmt::format("described:{} {}", name, version);
}

const DescribedSource* Description::source(const std::vector<std::string>& names) const {
  for (const bool exact : {true, false}) {
    for (const std::string& word : names) {
      for (const auto& [pattern, described] : sources) {
        if (exact ? pattern == word : glob_match(pattern, word)) return &described;
      }
    }
  }
  return nullptr;
}

Python find_described_python(const std::string& wanted_text, const Description& machine) {
  const bool is_path = wanted_text.find('/') != std::string::npos;
  if (is_path) {
    if (const auto python = read_described_python(wanted_text, machine)) return *python;
  } else {
    const WantedPython wanted = WantedPython::parse(wanted_text);
    for (const Python& python : machine.pythons) {
      if (wanted.fits(python)) return python;
    }
  }
  std::vector<std::string> known;
  for (const Python& python : machine.pythons)
    known.push_back(fmt::format("{} {}", python.executable.string(), python.version));
  throw Error(fmt::format("{} has no Python {}; it has {}", machine.name, printable(wanted_text),
                          known.empty() ? "none" : join(known, ", ")));
}

std::optional<Python> read_described_python(const fs::path& executable, const Description& machine) {
  for (const Python& python : machine.pythons) {
    if (python.executable == executable || python.prefix == executable) return python;
  }
  return std::nullopt;
}

std::optional<Compiler> find_described_compiler(const Host& where) {
  const Description& machine = *where.described;
  const std::string cc = where.cc.empty() ? variable(where, "CC") : where.cc;
  const std::string cxx = where.cxx.empty() ? variable(where, "CXX") : where.cxx;
  if (cc.empty() && cxx.empty()) return first_of(machine.compilers);
  std::vector<std::string> known;
  for (Compiler compiler : machine.compilers) {
    if ((cc.empty() || is_named(compiler.cc, cc)) && (cxx.empty() || is_named(compiler.cxx, cxx))) {
      compiler.origin = Origin::setting;
      return compiler;
    }
    known.push_back(compiler.cxx.string());
  }
  throw Error(fmt::format("the compiler is set to {}, but {} has {}", printable(cxx.empty() ? cc : cxx), machine.name,
                          known.empty() ? "none" : join(known, ", ")));
}

std::optional<Cuda> find_described_cuda(const Host& where) {
  if (where.cuda.empty()) return first_of(where.described->cudas);
  std::optional<Cuda> cuda = at_root(where.described->cudas, where.cuda, "the CUDA toolkit", *where.described);
  cuda->origin = Origin::setting;
  return cuda;
}

std::optional<Cuda> read_described_cuda(const fs::path& root, const Description& machine) {
  for (const Cuda& cuda : machine.cudas) {
    if (cuda.root == root) return cuda;
  }
  return std::nullopt;
}

std::optional<Rocm> find_described_rocm(const Host& where) {
  if (where.rocm.empty()) return first_of(where.described->rocms);
  return at_root(where.described->rocms, where.rocm, "ROCm", *where.described);
}

Library fill_library(const LibraryKind& kind, const std::string& version, const fs::path& root) {
  Library library;
  library.name = kind.name;
  library.version = version;
  library.root = root;
  library.header = root / "include" / kind.headers.front();
  if (!kind.files.empty()) library.file = root / "lib64" / kind.files.front();
  library.digest = described_digest(kind.name, version);
  return library;
}

Library find_described_library(const LibraryKind& kind, const LibrarySearch& search, const Host& where) {
  const Description& machine = *where.described;
  // A path that the user names on a described machine cannot be checked and is accepted.
  if (!search.named.empty()) {
    const bool is_file = search.named.filename().string().find(".so") != std::string::npos;
    Library library = fill_library(kind, "", is_file ? search.named.parent_path().parent_path() : search.named);
    if (is_file) library.file = search.named;
    library.found_by = "the setting";
    return library;
  }
  for (const Library& library : machine.libraries) {
    if (library.name == kind.name) return library;
  }
  for (const Cuda& cuda : machine.cudas) {
    const std::pair<std::string_view, bool> parts[] = {{"cudart", cuda.has_cudart},
                                                       {"cublas", cuda.has_cublas},
                                                       {"cusparse", cuda.has_cusparse},
                                                       {"nvml", cuda.has_nvml},
                                                       {"cccl", cuda.has_cccl}};
    for (const auto& [name, has] : parts) {
      if (has && name == kind.name && cuda.root == search.cuda) return fill_library(kind, "", cuda.root);
    }
  }
  Library library = find_expected_library(kind, search);
  // A described toolkit has what its description lists.
  const bool told = machine.lists_libraries || (kind.variant == "cuda" && !machine.cudas.empty());
  library.unknown = library.state() == Library::State::missing && !told;
  return library;
}

std::optional<Program> find_described_program(std::string_view name, const Description& machine) {
  const auto found = machine.programs.find(name);
  if (found == machine.programs.end()) return std::nullopt;
  return found->second;
}

std::optional<Torch> find_described_torch(const fs::path& python, const Description& machine) {
  const std::optional<Python> known = read_described_python(python, machine);
  const auto found = known ? machine.torches.find(known->executable.string()) : machine.torches.end();
  if (found == machine.torches.end()) return std::nullopt;
  return found->second;
}

void fill_python(Python& python, const Description& machine) {
  const auto fill = [](auto& place, const auto& value) {
    if (place.empty()) place = value;
  };
  const bool pypy = python.implementation == "pypy";
  std::string digits = python.short_version();
  std::erase(digits, '.');
  fill(python.tag, (pypy ? "pp" : "cp") + digits);
  fill(python.abi, python.tag);
  fill(python.platform, machine.platform);
  fill(python.glibc, machine.glibc);
  const std::string flags = python.abi.ends_with('t') ? "t" : "";
  fill(python.soabi, fmt::format(".{}-{}{}-{}-linux-gnu.so", python.implementation, digits, flags, python.machine()));
  fill(python.prefix, python.executable.parent_path().parent_path());
  fill(python.base_prefix, python.prefix);
  const std::string folder = "python" + python.short_version() + flags;
  fill(python.include, python.base_prefix / "include" / folder);
  fill(python.stdlib, python.base_prefix / "lib" / folder);
  fill(python.purelib, python.prefix / "lib" / folder / "site-packages");
  fill(python.platlib, python.purelib);
  fill(python.sites, std::vector<fs::path>{python.purelib});
  python.has_pip = !python.pip_version.empty();
  python.digest = described_digest(python.implementation, python.version);
}

}  // namespace wheelsmith::toolchain
