#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/value.h"
#include "toolchain/toolchain.h"

// How a program is queried, and how its answer is remembered (ask.cc).

namespace wheelsmith::toolchain {

struct Reply {
  bool ran = false;     // it started and exited normally: no signal, no timeout, no "command not found"
  bool good = false;    // and with exit status 0
  int code = -1;        // its exit status; -1 if stopped, killed or never started
  std::string output;   // standard output, at most a megabyte
  std::string errors;   // standard error
  std::string problem;  // why it failed: "exit status 2", "stopped after 20 s (timeout)"
};

// Runs the program in the host's environment with the C locale. Never throws: a failure to start is a Reply.
Reply ask(const std::vector<std::string>& argv, const Host& where, std::string_view input = "",
          std::chrono::seconds timeout = std::chrono::seconds(20));

// An answer's facts, and the files it depends on. A missing file may be one of them: has_headers is no longer valid
// once Python.h appears.
struct Answer {
  document::Table facts;
  std::vector<std::filesystem::path> files;
};

// The facts of `kind` about `subject`: from the memo while `fingerprint` is the same and none of the answer's files has
// changed, otherwise from `question`. Nothing, and nothing stored, when the question has no answer.
std::optional<document::Table> remembered(std::string_view kind, std::string_view subject, std::string_view fingerprint,
                                          const Host& where, const std::function<std::optional<Answer>()>& question);

// The stat fingerprint, or "absent".
std::string fingerprint_of(const std::filesystem::path& file);
// The value of a variable, or "".
std::string variable(const Host& where, const std::string& name);
// The folders of PATH in order, absolute ones only, each once.
std::vector<std::filesystem::path> path_folders(const Host& where);
// Every program of that name in PATH, in order.
std::vector<std::filesystem::path> programs_in_path(std::string_view name, const Host& where);

bool is_program(const std::filesystem::path& file);
bool is_there(const std::filesystem::path& path);
// Base names in a folder, sorted; none if unreadable. At most 10,000.
std::vector<std::string> names_in(const std::filesystem::path& folder);
// The start of a file; "" if unreadable.
std::string head_of(const std::filesystem::path& file, std::uint64_t limit);
bool is_script(const std::filesystem::path& file);
// A pyenv or asdf shim: a script that runs the selected version, or nothing. Its behaviour depends on shim_state().
bool is_shim(const std::filesystem::path& program);
std::string shim_state(const Host& where);
// With all links resolved, or the path itself on failure.
std::filesystem::path real_path(const std::filesystem::path& path);
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);
// A path of the machine ("usr/local/cuda") below the host's root.
std::filesystem::path on_machine(const Host& where, std::string_view relative);

// The first version-like word: digits separated by dots ("cmake version 3.25.1" -> "3.25.1").
std::string first_version(std::string_view text);
// Whether version a is older than b, number by number.
bool version_less(std::string_view a, std::string_view b);

using Digests = std::vector<std::pair<std::string, std::string>>;
// Adds (name, digest) for a program, and (name/LIBRARY, digest) for each shared library that contains part of the
// compiler itself (libLLVM.so, libbfd-2.40-system.so). Adds nothing for a missing file.
void add_program_digests(Digests& digests, const std::string& name, const std::filesystem::path& file,
                         const Host& where);
// SHA-256 of texts, delimited so that no two lists collide.
std::string combined_digest(const std::vector<std::string>& parts);
// The newest version with that prefix that a shared library defines: ("libc.so.6", "GLIBC_") -> "2.36"; "" if none.
std::string newest_definition(const std::filesystem::path& library, std::string_view prefix);

}  // namespace wheelsmith::toolchain
