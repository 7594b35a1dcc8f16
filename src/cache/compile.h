#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cache/path_map.h"

namespace wheelsmith::cache {

// A compile as requested by a shim.
struct CompileRequest {
  std::string program;                     // the compiler itself, absolute
  std::string identity;                    // its version output
  std::vector<std::string> tools{};        // its helper programs, whose content counts (cc1plus, as, cicc)
  std::string folder;                      // its working folder, absolute
  std::vector<std::string> argv{};         // as the build passed it
  std::vector<std::string> environment{};  // NAME=value; only variables that compilers read
  std::vector<std::string> search{};       // its built-in include folders

  [[nodiscard]] std::string to_bytes() const;
  static CompileRequest from_bytes(std::string_view bytes);  // throws Error
};

// Whether a compile depends on this environment variable.
bool is_compiler_variable(std::string_view name);

struct SearchFolder {
  std::string kind;  // the option, or "" for one of the compiler's own
  std::string name;  // as given
};

// What is known about a compile before it runs.
struct Compile {
  std::vector<std::string> words{};  // affect the object; mapped folders by their new names
  std::vector<SearchFolder> search{};
  std::vector<std::string> inputs{};  // files besides the source and its headers, absolute
  std::string source;                 // as given
  std::string output;                 // as given, or as the compiler names it
  std::string dependencies;           // the file for them
  bool wants_dependencies = false;    // the build requested that file
  bool phony = false;                 // -MP
  std::string target;                 // of the rule in that file
  bool lists_headers = false;         // several passes: clang lists the headers of all by a variable
  bool native = false;                // depends on this machine's CPU or GPU
  bool fixed_time = false;            // __DATE__ and __TIME__ do not change
  std::string date{};                 // SOURCE_DATE_EPOCH: counts where a file uses these
  std::vector<std::string> argv{};    // to run on a miss
  PathMap map{};
};

struct Uncacheable {
  std::string why;
};

// `read_file` reads response files, by absolute path; `is_file` checks other arguments that may name files.
struct FileQuestions {
  std::function<std::optional<std::string>(const std::string&)> read_file;
  std::function<bool(const std::string&)> is_file;
};
std::variant<Compile, Uncacheable> read_compile(const CompileRequest& request, const FileQuestions& files);

// The host compiler that an nvcc command names, by -ccbin or a variable; "" when it names none.
std::string nvcc_host_compiler(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                               const FileQuestions& files);
bool is_nvcc(std::string_view program);

}  // namespace wheelsmith::cache
