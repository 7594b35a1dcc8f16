#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A compiler's command line as the governor sees it: what it makes, of what, and by which name it is known the next
// time, in another folder and on another machine.

namespace wheelsmith::governor {

enum class Kind { c, cxx, fortran, cuda, hip, link };
std::string_view to_string(Kind kind);
std::optional<Kind> kind_from(std::string_view text);

struct CompilerCommand {
  Kind kind = Kind::c;
  // False for what only asks the compiler something (-E, --version, -print-…), and for what reads its source from a
  // pipe: whoever writes into that pipe may be waiting for a grant itself.
  bool governed = false;
  std::vector<std::string> sources;  // as written
  std::vector<std::string> objects;  // inputs of a link
  std::string output;                // -o; "" when there is none
  bool compile_only = false;         // -c: one object, no link
  unsigned archs = 1;                // GPU architectures that are compiled one after the other
  unsigned threads = 0;              // nvcc's --threads: 0 not given, else as given (its 0 is a large number here)
  std::vector<std::string> words;  // what decides memory and time, without paths, names of outputs and include folders
  // What people call it: the first source, or what is linked.
  [[nodiscard]] std::string name() const;
};

// `read_file` answers for response files (@FILE); nothing where there is none. Nothing for what is no compiler's name.
using ReadFile = std::function<std::optional<std::string>(const std::string&)>;
std::optional<CompilerCommand> read_command(const std::vector<std::string>& argv, const ReadFile& read_file = {});

// The words with nvcc's --threads set to `threads` (0: taken out).
std::vector<std::string> with_threads(const std::vector<std::string>& argv, unsigned threads);

// A unit's identity: the words and the content of its sources. 32 hex digits.
std::string unit_id(const CompilerCommand& command, const std::vector<std::string>& content_digests);

// Units whose names differ only by parameters resemble each other: flash_fwd_hdim128_bf16_sm80.cu and
// flash_fwd_hdim64_fp16_sm80.cu are one family. Holds no blanks.
std::string family_of(const CompilerCommand& command);

}  // namespace wheelsmith::governor
