#include "governor/model/unit_words.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace wheelsmith::governor::words {

namespace {

constexpr std::array<std::string_view, 27> k_source_endings{
    ".c",   ".cc", ".cpp", ".cxx", ".c++", ".C",   ".cp",  ".cu", ".hip", ".m", ".mm", ".s",   ".S", ".sx",
    ".asm", ".f",  ".for", ".f90", ".f95", ".f03", ".f08", ".F",  ".F90", ".i", ".ii", ".ptx", ".bc"};

constexpr std::array<std::string_view, 16> k_places{
    "-isystem", "-iquote", "-idirafter",        "-isysroot", "-iprefix",           "--sysroot",  "-MF",       "-MT",
    "-MQ",      "-ccbin",  "--compiler-bindir", "-odir",     "--output-directory", "--keep-dir", "-keep-dir", "-rpath"};

// Given as one argument, with a value attached.
constexpr std::array<std::string_view, 10> k_glued_places{
    "-fdebug-prefix-map=", "-ffile-prefix-map=",  "-fmacro-prefix-map=", "-fdebug-compilation-dir=", "-Wl,-rpath",
    "-fdiagnostics-color", "-fcolor-diagnostics", "--dependency-output", "-fno-diagnostics-color",   "-L"};

constexpr std::array<std::string_view, 38> k_with_next{"-D",
                                                       "-U",
                                                       "-include",
                                                       "-imacros",
                                                       "-x",
                                                       "-target",
                                                       "-Xcompiler",
                                                       "-Xlinker",
                                                       "-Xclang",
                                                       "-mllvm",
                                                       "-T",
                                                       "-u",
                                                       "-l",
                                                       "-z",
                                                       "-e",
                                                       "-h",
                                                       "-m",
                                                       "-Xptxas",
                                                       "-Xcudafe",
                                                       "-Xfatbin",
                                                       "-Xnvlink",
                                                       "-Xcicc",
                                                       "-maxrregcount",
                                                       "--maxrregcount",
                                                       "-std",
                                                       "--std",
                                                       "-code",
                                                       "--gpu-code",
                                                       "-rdc",
                                                       "--relocatable-device-code",
                                                       "-soname",
                                                       "--version-script",
                                                       "-dynamic-linker",
                                                       "-plugin",
                                                       "--compiler-options",
                                                       "--linker-options",
                                                       "--ptxas-options",
                                                       "-Xarch_device"};

constexpr std::array<std::string_view, 14> k_types{"half", "float", "double", "int", "uint", "bool", "bf",
                                                   "fp",   "f",     "i",      "u",   "e",    "tf",   "bfloat"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "bf16", "e4m3", "half": names of number types.
bool is_type(std::string_view token) {
  std::string letters;
  for (const char c : token) {
    if (!is_digit(c)) letters += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  if (letters == "em" || letters == "emfn") return token.size() > letters.size();
  // A single letter is a type only with a number: f16, but not the f of x_f.
  return is_one_of(letters, k_types) && (letters.size() > 2 || token.size() > letters.size());
}

}  // namespace

bool is_source(std::string_view word) {
  const std::string_view base = base_name(word);
  const std::size_t dot = base.rfind('.');
  return dot != base.npos && is_one_of(base.substr(dot), k_source_endings);
}

bool is_question(std::string_view word, Kind kind) {
  static constexpr std::array<std::string_view, 24> k_questions{"-E",
                                                                "-M",
                                                                "-MM",
                                                                "--version",
                                                                "--help",
                                                                "-dumpversion",
                                                                "-dumpmachine",
                                                                "-dumpfullversion",
                                                                "-dumpspecs",
                                                                "-###",
                                                                "-V",
                                                                "--target-help",
                                                                "-dryrun",
                                                                "--dryrun",
                                                                "--preprocess",
                                                                "-preprocess",
                                                                "--list-gpu-code",
                                                                "--list-gpu-arch",
                                                                "-clean",
                                                                "--clean-targets",
                                                                "-print",
                                                                "-generate-dependencies",
                                                                "--generate-dependencies",
                                                                "--verbose-version"};
  if (kind == Kind::link) return word == "--version" || word == "-V" || word == "--help";
  return is_one_of(word, k_questions) || word.starts_with("-print-") || word.starts_with("--print-") ||
         word.starts_with("--help=") || word.starts_with("-dump");
}

bool takes(std::string_view word, std::initializer_list<std::string_view> options) {
  return std::any_of(options.begin(), options.end(), [&](std::string_view option) {
    if (!word.starts_with(option)) return false;
    const std::string_view rest = word.substr(option.size());
    return rest.empty() || rest.front() == '=' || (option.size() == 2 && is_digit(rest.front()));
  });
}

std::string_view place_option(std::string_view word) {
  for (const std::string_view name : k_places) {
    if (word == name || (word.starts_with(name) && word[name.size()] == '=')) return name;
    if (word.starts_with(name) && (name == "-isystem" || name == "-iquote" || name.starts_with("-M"))) return name;
  }
  if (word == "-L" || word == "-B") return word;
  for (const std::string_view name : k_glued_places) {
    if (word.starts_with(name) && word.size() > name.size()) return name;
  }
  if (word.starts_with("-I") || word.starts_with("-B")) return word.substr(0, 2);
  return {};
}

bool takes_next(std::string_view word) { return is_one_of(word, k_with_next); }

std::string without_paths(std::string_view word) {
  std::string result;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= word.size(); ++i) {
    const bool end = i == word.size() || std::string_view("=,:\"'").find(word[i]) != std::string_view::npos;
    if (!end) continue;
    std::string_view part = word.substr(start, i - start);
    while (part.size() > 1 && part.ends_with('/')) part.remove_suffix(1);
    result += base_name(part);
    if (i < word.size()) result += word[i];
    start = i + 1;
  }
  return result;
}

std::string without_parameters(std::string_view name) {
  std::string result;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '_' && name[i] != '-' && name[i] != '.') continue;
    const std::string_view token = name.substr(start, i - start);
    if (!is_type(token)) {
      for (const char c : token) {
        if (!is_digit(c)) {
          result += c > ' ' && c < 127 ? c : '?';
        } else if (!result.ends_with('#')) {
          result += '#';
        }
      }
      if (i < name.size()) result += name[i];
    }
    start = i + 1;
  }
  while (!result.empty() && (result.back() == '_' || result.back() == '-')) result.pop_back();
  return result.substr(0, 120);
}

}  // namespace wheelsmith::governor::words
