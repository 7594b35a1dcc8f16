#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "toolchain/toolchain.h"

// Libraries that packages are compiled with: cuDNN, NCCL, NVML, MIOpen, RCCL, TBB, … Installers put them into many
// places: into the toolkit, into /usr with Debian's multiarch folders, into their own folder, into wheels.
// data/libraries.toml says how to recognize and where to find each; the search is one function.
//
// A library is usable when both halves are present: a header without the file compiles but does not link, the file
// without the header (a runtime package) does not compile. Builds see a usable library in one place,
// ${tree}/libraries/NAME with include and lib, as links: so no path of the machine is in a key, and packages that
// derive the headers' folder from the file's ("two folders up") find it for every layout.

namespace wheelsmith::toolchain {

// A package of the index that contains the library, below site-packages.
struct LibraryWheel {
  std::string name;  // a pattern: "nvidia-cudnn-cu*"
  std::string folder, file;
};

// Machine-independent facts about a library; libraries.toml documents the members.
struct LibraryKind {
  std::string name, title, variant;
  std::vector<std::string> headers, macros, files;
  bool versioned = false, any_file = false;
  std::vector<std::string> places, variables;
  std::vector<std::string> link_headers, link_files;
  std::vector<LibraryWheel> wheels;
  std::string requirement;
  std::map<std::string, std::string> packages;
  std::string repository;

  [[nodiscard]] bool is_linked() const { return !link_headers.empty(); }
  // The name that linkers search for: "libcudnn.so"; "" for header-only libraries.
  [[nodiscard]] std::string link_name() const { return files.empty() ? "" : files.front(); }
};

const std::vector<LibraryKind>& library_kinds();
const LibraryKind* find_library_kind(std::string_view name);  // null if unknown

// The result of a search.
struct Library {
  std::string name;
  std::string version;                 // "9.10.2", from the header; "" if it does not say
  std::filesystem::path root;          // the folder in which it was found
  std::filesystem::path header, file;  // empty if missing
  std::string file_version;            // "9.1.0" of libcudnn.so.9.1.0
  std::string found_by;                // "the CUDA toolkit", "CUDNN_ROOT", "nvidia-cudnn-cu13"
  std::string digest;                  // of header and file, or of the wheel; only on request
  bool unknown = false;                // not covered by the machine description

  enum class State : std::uint8_t { found, header_only, file_only, missing, unknown };
  [[nodiscard]] State state() const;
  // "cuDNN 9.10.2 (/usr/include/cudnn_version.h, /usr/lib/x86_64-linux-gnu/libcudnn.so)", or what is missing.
  [[nodiscard]] std::string to_string() const;
};

// A wheel that the build environment will have.
struct ExpectedWheel {
  std::string name, version, sha256;
};

// The machine that this program was compiled for, as platform tags spell it.
#if defined(__aarch64__)
inline constexpr const char* k_own_machine = "aarch64";
#else
inline constexpr const char* k_own_machine = "x86_64";
#endif

struct LibrarySearch {
  std::filesystem::path named;               // by the user: a folder, or the file; nothing else is searched then
  std::filesystem::path cuda, rocm;          // toolkits of the step
  std::vector<std::filesystem::path> sites;  // site-packages that the build sees
  // Wheels of an environment that does not exist yet, and their future path: ${env}/…/site-packages or, for a toolkit
  // assembled from them, ${toolkit}.
  std::vector<ExpectedWheel> wheels{};
  std::string wheel_site{}, wheel_toolkit{};
  std::string machine{k_own_machine};  // whose folders are searched: lib/aarch64-linux-gnu, targets/sbsa-linux
};

// The library in a wheel that is not installed yet: its content is known by the wheel's name.
Library find_expected_library(const LibraryKind& kind, const LibrarySearch& search);

// The first place with both halves; otherwise the first with one.
Library find_library(const LibraryKind& kind, const LibrarySearch& search, const Host& where);

// "" or why the library cannot be used: "cuDNN 7.6.5 is not >=8.5", a header of one version with a file of another.
std::string library_problem(const Library& library, std::string_view specifiers);

// The folder that the header's name is relative to: "/usr/include" of "/usr/include/oneapi/tbb/version.h".
std::filesystem::path include_folder(const Library& library);

// SHA-256 over the header and the file: independent of their paths.
std::string library_digest(const Library& library, const Memo& memo);

// "libnccl-dev"; "" if unknown.
std::string library_package(const LibraryKind& kind, std::string_view manager, std::string_view cuda_version);
// "apt-get install libnccl-dev (NVIDIA's repository)"
std::string install_library(const LibraryKind& kind, std::string_view manager, std::string_view cuda_version);

// apt-get, dnf, zypper or pacman, whichever is installed.
std::string package_manager(const Host& where);

// The values of a header's macros, joined with dots; the first two are required, or the only one.
std::string read_header_version(std::string_view text, const std::vector<std::string>& macros);

}  // namespace wheelsmith::toolchain
