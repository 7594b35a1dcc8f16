// Searches for a library. A place (a toolkit, /usr, a wheel's folder) is a root with the usual subfolders; each place
// is examined as a whole, since a header of one installation and a file of another do not make one library.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "toolchain/ask.h"
#include "toolchain/cuda/cuda_texts.h"
#include "toolchain/description.h"
#include "toolchain/library/library.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_most_library_header = 8u << 20;

// The folders of a toolkit for one machine. For Arm there are two: sbsa is for servers (Grace, Graviton; Jetson since
// CUDA 13), aarch64 for Jetson before that.
std::vector<std::string> target_folders(const std::string& machine) {
  if (machine == "aarch64") return {"sbsa-linux", "aarch64-linux"};
  return {machine + "-linux"};
}

std::vector<fs::path> include_folders(const fs::path& root, const std::string& machine) {
  std::vector<fs::path> folders = {root / "include", root / "include" / (machine + "-linux-gnu")};
  for (const std::string& target : target_folders(machine)) folders.push_back(root / "targets" / target / "include");
  return folders;
}

std::vector<fs::path> file_folders(const fs::path& root, const std::string& machine) {
  std::vector<fs::path> folders = {root / "lib64", root / "lib", root / "lib" / (machine + "-linux-gnu")};
  for (const std::string& target : target_folders(machine)) folders.push_back(root / "targets" / target / "lib");
  // A toolkit's stubs are for linking without a driver.
  for (std::size_t i = 0, count = folders.size(); i < count; ++i) folders.push_back(folders[i] / "stubs");
  return folders;
}

void look_for_header(Library& library, const LibraryKind& kind, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    for (const std::string& name : kind.headers) {
      if (!is_there(folder / name)) continue;
      const std::string version =
          kind.macros.empty() ? "" : read_header_version(head_of(folder / name, k_most_library_header), kind.macros);
      if (library.header.empty() || !version.empty()) library.header = folder / name;
      library.version = version;
      // A header that only includes the one with the macros (tbb/version.h) is not the last word.
      if (kind.macros.empty() || !version.empty()) return;
    }
    if (!library.header.empty()) return;
  }
}

// "9.1.0" of libcudnn.so.9.1.0, links resolved.
std::string version_of_file(const fs::path& file) {
  const std::string name = real_path(file).filename().string();
  const std::size_t at = name.find(".so.");
  if (at == std::string::npos) return "";
  const std::string version = first_version("0." + name.substr(at + 4));
  return version.size() > 2 ? version.substr(2) : "";
}

void look_for_file(Library& library, const LibraryKind& kind, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    std::optional<std::vector<std::string>> names;
    for (const std::string& pattern : kind.files) {
      if (pattern.find('*') == std::string::npos) {
        if (!is_there(folder / pattern)) continue;
        library.file = folder / pattern;
      } else {
        if (!names) names = names_in(folder);
        const auto found = std::find_if(names->begin(), names->end(), [&](const std::string& name) {
          return glob_match(pattern, name) && is_there(folder / name);
        });
        if (found == names->end()) continue;
        library.file = folder / *found;
      }
      library.file_version = version_of_file(library.file);
      return;
    }
  }
}

Library look_in(const LibraryKind& kind, const fs::path& root, std::string found_by, const LibrarySearch& search) {
  Library library;
  library.name = kind.name;
  look_for_header(library, kind, include_folders(root, search.machine));
  look_for_file(library, kind, file_folders(root, search.machine));
  if (library.header.empty() && library.file.empty()) return library;
  library.root = root;
  library.found_by = std::move(found_by);
  return library;
}

// A folder, or the file itself, whose headers are one or two folders up: lib/libnccl.so.2, lib/x86_64-linux-gnu/….
Library look_at_named(const LibraryKind& kind, const fs::path& named, const LibrarySearch& search) {
  std::error_code error;
  if (!fs::is_regular_file(named, error)) return look_in(kind, named, "the setting", search);
  Library library;
  library.name = kind.name;
  library.found_by = "the setting";
  library.file = named;
  library.file_version = version_of_file(named);
  const fs::path folder = named.parent_path();
  for (const fs::path& root : {folder.parent_path(), folder.parent_path().parent_path()}) {
    library.root = root;
    look_for_header(library, kind, include_folders(root, search.machine));
    if (!library.header.empty()) return library;
  }
  return library;
}

Library in_wheels(const LibraryKind& kind, const LibrarySearch& search) {
  for (const fs::path& site : search.sites) {
    for (const LibraryWheel& wheel : kind.wheels) {
      Library library = look_in(kind, site / wheel.folder, wheel.name, search);
      if (library.state() != Library::State::missing) return library;
    }
  }
  return find_expected_library(kind, search);
}

Library in_place(const LibraryKind& kind, const std::string& place, const LibrarySearch& search, const Host& where) {
  const auto below = [&](const fs::path& root, const char* name) {
    if (!root.empty()) return look_in(kind, root, name, search);
    Library nothing;
    nothing.name = kind.name;
    return nothing;
  };
  if (place == "wheel") return in_wheels(kind, search);
  if (place == "cuda") return below(search.cuda, "the CUDA toolkit");
  if (place == "rocm") return below(search.rocm, "ROCm");
  if (place == "conda") return below(variable(where, "CONDA_PREFIX"), "CONDA_PREFIX");
  return look_in(kind, where.sysroot.empty() ? on_machine(where, place) : where.sysroot / place, "the system", search);
}

class BestLibrary {
 public:
  explicit BestLibrary(const LibraryKind& kind) : m_kind(kind) { m_best.name = kind.name; }

  // Whether the search is over.
  bool take(Library next) {
    using State = Library::State;
    const State state = next.state();
    if (state == State::found || m_best.state() == State::missing)
      m_best = std::move(next);
    else if (m_kind.any_file)
      complete(next);
    return m_best.state() == State::found;
  }
  Library result() { return std::move(m_best); }

 private:
  void complete(const Library& next) {
    if (m_best.file.empty()) {
      m_best.file = next.file;
      m_best.file_version = next.file_version;
    }
    if (m_best.header.empty()) {
      m_best.header = next.header;
      m_best.version = next.version;
    }
  }

  const LibraryKind& m_kind;
  Library m_best;
};

// Whether the common parts of versions such as "9.1" and "9.1.0" are equal.
bool agrees(std::string_view a, std::string_view b) {
  const std::vector<std::string_view> left = split(a, '.'), right = split(b, '.');
  return std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(std::min(left.size(), right.size())),
                    right.begin());
}

}  // namespace

Library::State Library::state() const {
  if (unknown) return State::unknown;
  const LibraryKind* kind = find_library_kind(name);
  const bool headers_alone = kind != nullptr && kind->files.empty();
  if (header.empty()) return file.empty() ? State::missing : State::file_only;
  return file.empty() && !headers_alone ? State::header_only : State::found;
}

std::string Library::to_string() const {
  const LibraryKind* kind = find_library_kind(name);
  const std::string title = (kind == nullptr ? name : kind->title) + (version.empty() ? std::string() : " " + version);
  switch (state()) {
    case State::found:
      return fmt::format("{} ({}{})", title, header.string(), file.empty() ? "" : ", " + file.string());
    case State::header_only:
      return fmt::format("the header {} of {}, but no library to link with", header.string(), title);
    case State::file_only: return fmt::format("the library {} of {}, but no header", file.string(), title);
    case State::missing: return "none";
    case State::unknown: break;
  }
  return "not known";
}

std::string read_header_version(std::string_view text, const std::vector<std::string>& macros) {
  std::string version;
  for (std::size_t i = 0; i < macros.size(); ++i) {
    const std::string number = header_number(text, macros[i]);
    if (number.empty() && i < 2) return {};
    if (number.empty()) return version;
    version += (i == 0 ? "" : ".") + number;
  }
  return version;
}

Library find_expected_library(const LibraryKind& kind, const LibrarySearch& search) {
  Library library;
  library.name = kind.name;
  for (const ExpectedWheel& wheel : search.wheels) {
    for (const LibraryWheel& known : kind.wheels) {
      if (!glob_match(known.name, wheel.name)) continue;
      library.version = kind.macros.empty() ? "" : wheel.version;
      library.found_by = wheel.name;
      library.digest = fmt::format("{} {}", wheel.name, wheel.sha256);
      const bool linked = !search.wheel_toolkit.empty();
      const fs::path root = linked ? fs::path(search.wheel_toolkit) : fs::path(search.wheel_site) / known.folder;
      library.root = root;
      library.header = root / "include" / kind.headers.front();
      // env::make_toolkit() gives each library the name that linkers search for.
      if (!known.file.empty()) library.file = linked ? root / "lib64" / kind.link_name() : root / "lib" / known.file;
      return library;
    }
  }
  return library;
}

Library find_library(const LibraryKind& kind, const LibrarySearch& search, const Host& where) {
  if (where.described) return find_described_library(kind, search, where);
  if (!search.named.empty()) return look_at_named(kind, fs::absolute(search.named), search);
  BestLibrary best(kind);
  for (const std::string& name : kind.variables) {
    const std::string root = variable(where, name);
    if (!root.empty() && best.take(look_in(kind, fs::absolute(root), name, search))) return best.result();
  }
  for (const std::string& place : kind.places) {
    if (best.take(in_place(kind, place, search, where))) break;
  }
  return best.result();
}

std::string library_problem(const Library& library, std::string_view specifiers) {
  const LibraryKind* kind = find_library_kind(library.name);
  const std::string title = kind == nullptr ? library.name : kind->title;
  const auto version = pep::Version::try_parse(library.version);
  if (!specifiers.empty() && version && !pep::contains(pep::parse_specifiers(specifiers), *version))
    return fmt::format("{} is {} {}, but {} is required", library.header.string(), title, library.version, specifiers);
  if (kind != nullptr && kind->versioned && !library.version.empty() && !library.file_version.empty() &&
      !agrees(library.version, library.file_version))
    return fmt::format("{} is {} {}, but {} is {}", library.header.string(), title, library.version,
                       library.file.string(), library.file_version);
  return "";
}

fs::path include_folder(const Library& library) {
  fs::path folder = library.header.parent_path();
  const LibraryKind* kind = find_library_kind(library.name);
  if (kind == nullptr) return folder;
  for (const std::string& name : kind->headers) {
    if (!library.header.string().ends_with("/" + name)) continue;
    for (std::ptrdiff_t up = std::count(name.begin(), name.end(), '/'); up > 0; --up) folder = folder.parent_path();
    break;
  }
  return folder;
}

std::string library_digest(const Library& library, const Memo& memo) {
  std::vector<std::string> parts;
  for (const fs::path& file : {library.header, library.file})
    parts.push_back(file.empty() ? "" : try_file_digest(file, memo).value_or("unreadable"));
  return combined_digest(parts);
}

std::string package_manager(const Host& where) {
  constexpr std::array k_managers = {"apt-get", "dnf", "zypper", "pacman"};
  for (const char* name : k_managers) {
    if (!where.described && find_program(name, where)) return name;
  }
  return k_managers.front();
}

}  // namespace wheelsmith::toolchain
