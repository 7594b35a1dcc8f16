#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A compiler's command line as the governor sees it: its inputs, its output, and an identity that holds in other
// folders and on other machines.

namespace wheelsmith::governor {

// The last six are parts of one GPU compile (governor/parts/graph.h).
enum class Kind { c, cxx, fortran, cuda, hip, link, preprocess, front, device, assemble, bundle, host };
std::string_view to_string(Kind kind);
std::optional<Kind> kind_from(std::string_view text);

struct CompilerCommand {
  Kind kind = Kind::c;
  // False for queries (-E, --version, -print-…), and for sources read from a pipe: the process that writes to the pipe
  // may itself wait for a grant.
  bool governed = false;
  std::vector<std::string> sources;  // as written
  std::vector<std::string> objects;  // inputs of a link
  std::string output;                // -o; "" when there is none
  bool compile_only = false;         // -c: one object, no link
  unsigned archs = 1;                // GPU architectures compiled in sequence
  unsigned threads = 0;              // nvcc's --threads: 0 not given, else as given (its 0 is a large number here)
  std::vector<std::string> words;  // arguments that affect memory and time, without paths, outputs and include folders
  // Display name: the first source, or the link output.
  [[nodiscard]] std::string name() const;
};

// `read_file` reads response files (@FILE); nothing for missing ones. Nothing for a program that is not a compiler.
using ReadFile = std::function<std::optional<std::string>(const std::string&)>;
std::optional<CompilerCommand> read_command(const std::vector<std::string>& argv, const ReadFile& read_file = {});

// The arguments with nvcc's --threads set to `threads` (0: removed).
std::vector<std::string> with_threads(const std::vector<std::string>& argv, unsigned threads);

// A unit's identity: the arguments and its sources' content. 32 hex digits.
std::string unit_id(const CompilerCommand& command, const std::vector<std::string>& content_digests);

// Units whose names differ only in parameters are similar: flash_fwd_hdim128_bf16_sm80.cu and
// flash_fwd_hdim64_fp16_sm80.cu are one family. Contains no blanks.
std::string family_of(const CompilerCommand& command);

}  // namespace wheelsmith::governor
