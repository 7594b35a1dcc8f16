#include "cache/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cache/compile_reader.h"
#include "cache/dependencies.h"
#include "cache/texts.h"
#include "cache/words.h"

// The inputs of an object that are known before the compiler runs: the arguments, a few variables, and the source. The
// compiler itself lists the rest (headers) while it compiles (-MD), so a miss costs no extra preprocessor run.
//
// The rule for arguments: an option not listed here counts exactly as written, and so does the content of a file it
// names; this can cost a hit, but never returns a wrong object. Options that write further files or read unlisted files
// make a command uncacheable. Include folders do not count by themselves: src/cache/search.h explains how.

namespace wheelsmith::cache {

namespace {

constexpr std::size_t k_longest_command = 200'000;
constexpr unsigned k_deepest_response = 8;
constexpr std::size_t k_most_response_files = 100;

constexpr std::array<std::string_view, 10> k_source_endings{".c", ".cc", ".cpp", ".cxx", ".c++",
                                                            ".C", ".cp", ".cu",  ".hip", ".CPP"};
constexpr std::array<std::string_view, 6> k_languages{"c", "c++", "cu", "cuda", "hip", "none"};

// They write more than an object, read unlisted files, or do not compile.
const std::vector<std::string_view> k_refused{"-E",
                                              "-S",
                                              "-M",
                                              "-MM",
                                              "-MG",
                                              "-MJ",
                                              "-H",
                                              "-v",
                                              "-###",
                                              "-wrapper",
                                              "-aux-info",
                                              "-coverage",
                                              "--coverage",
                                              "-I-",
                                              "-iprefix",
                                              "-iwithprefix",
                                              "-iwithprefixbefore",
                                              "-imultilib",
                                              "-load",
                                              "-include-pch",
                                              "-emit-pch",
                                              "-fsyntax-only",
                                              "--analyze",
                                              "-frecord-gcc-switches",
                                              "-frecord-command-line",
                                              "-grecord-command-line",
                                              "-ftest-coverage",
                                              "-fbranch-probabilities",
                                              "-fstack-usage",
                                              "-time",
                                              "-Q",
                                              "--verbose"};
const std::vector<std::string_view> k_refused_beginnings{"-save-temps",
                                                         "--save-temps",
                                                         "-gsplit-dwarf",
                                                         "-fprofile-",
                                                         "-fauto-profile",
                                                         "-fdump-",
                                                         "-fcallgraph-info",
                                                         "-specs",
                                                         "--specs",
                                                         "-fplugin",
                                                         "-fmodule",
                                                         "-fcxx-modules",
                                                         "-fprebuilt",
                                                         "-ftime-",
                                                         "-Wa,-a",
                                                         "-Wa,--MD",
                                                         "-Wp,-M",
                                                         "-fopenmp-targets",
                                                         "-foffload",
                                                         "-fsave-optimization-record",
                                                         "-foptimization-record",
                                                         "-fdiagnostics-format=",
                                                         "-index-store",
                                                         "-fxray",
                                                         "-fcs-profile",
                                                         "-fdiagnostics-add-output",
                                                         "-fdiagnostics-set-output",
                                                         "-fcrash-diagnostics-dir"};

// Their value is the next argument, and is part of the key as it is.
constexpr std::array<std::string_view, 14> k_with_next{"-D",          "-U",     "-A",      "--param",      "-Xclang",
                                                       "-Xassembler", "-mllvm", "-target", "-arch",        "-z",
                                                       "-u",          "-L",     "-l",      "-Xarch_device"};

constexpr std::array<std::string_view, 21> k_variables{"LANG",
                                                       "LANGUAGE",
                                                       "LC_ALL",
                                                       "LC_CTYPE",
                                                       "LC_MESSAGES",
                                                       "GCC_EXEC_PREFIX",
                                                       "COMPILER_PATH",
                                                       "CCC_OVERRIDE_OPTIONS",
                                                       "HIPCC_COMPILE_FLAGS_APPEND",
                                                       "HIP_PATH",
                                                       "ROCM_PATH",
                                                       "HIP_CLANG_PATH",
                                                       "HIP_PLATFORM",
                                                       "HIP_DEVICE_LIB_PATH",
                                                       "DEVICE_LIB_PATH",
                                                       "HIP_COMPILER",
                                                       "HIP_RUNTIME",
                                                       "CUDA_PATH",
                                                       "CUDA_HOME",
                                                       "GCC_COLORS",
                                                       "HIPCC_VERBOSE"};
constexpr std::array<std::string_view, 3> k_search_variables{"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"};
// Handled separately: dependencies by variable, nvcc's options, the shell's name of the folder, and the date, which
// only a file that uses it depends on.
constexpr std::array<std::string_view, 7> k_other_variables{"SOURCE_DATE_EPOCH",
                                                            "DEPENDENCIES_OUTPUT",
                                                            "SUNPRO_DEPENDENCIES",
                                                            "NVCC_PREPEND_FLAGS",
                                                            "NVCC_APPEND_FLAGS",
                                                            "NVCC_CCBIN",
                                                            "PWD"};

bool is_source(std::string_view word) {
  const std::string_view base = base_name(word);
  const std::size_t dot = base.rfind('.');
  return dot != base.npos && is_one_of(base.substr(dot), k_source_endings);
}

std::string without_ending(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::size_t slash = name.rfind('/');
  return std::string(dot == name.npos || (slash != name.npos && dot < slash) ? name : name.substr(0, dot));
}

class GnuReader final : public CompileReader {
 public:
  using CompileReader::CompileReader;

 private:
  void option(const std::vector<std::string>& words, std::size_t& at) override {
    const std::string& word = words[at];
    refuse_if_listed(word, k_refused, k_refused_beginnings);
    if (word == "-c") {
      m_compiles = true;
    } else if (word.starts_with("-o")) {
      m_output = value("-o", words, at);
    } else if (word.starts_with("-M")) {
      dependency_option(words, at);
    } else if (const std::string_view kind = search_option(word); !kind.empty()) {
      add_search(kind, value(kind, words, at));
    } else if (word.starts_with("-x")) {
      const std::string language = value("-x", words, at);
      if (!is_one_of(language, k_languages)) throw Refusal{"its language is " + language};
      m_several_passes = m_several_passes || language == "hip" || language == "cuda" || language == "cu";
      add_word("-x" + language);
    } else if (word == "-include" || word == "-imacros") {
      add_word(word);
      add_word(m_compile.map.known(value(word, words, at)));
    } else if (word == "-Xpreprocessor" || word == "-Xarch_host") {
      throw Refusal{word + " is used"};
    } else if (is_one_of(word, k_with_next)) {
      add_word(word);
      if (at + 1 < words.size()) {
        refuse_if_listed(words[at + 1], k_refused, k_refused_beginnings);
        add_unknown(words[++at]);
      }
    } else if (word.starts_with("-B") || word.starts_with("--prefix")) {
      throw Refusal{"-B selects other programs"};
    } else if (word.find("-prefix-map=") != word.npos) {
      // Only the new name appears in the object.
      add_word(word.substr(0, word.find('=') + 1) + word.substr(word.rfind('=')));
    } else {
      if (word.starts_with("-g") && word != "-g0" && !word.starts_with("-gz")) m_debug = true;
      if (word == "-march=native" || word == "-mtune=native" || word == "-mcpu=native") m_compile.native = true;
      if (word.starts_with("--offload-arch")) m_several_passes = true;
      add_unknown(word);
    }
  }

  static std::string_view search_option(std::string_view word) {
    for (const std::string_view option : {"-isystem", "-iquote", "-idirafter", "-cxx-isystem", "-I"}) {
      if (word.starts_with(option)) return option;
    }
    return word.starts_with("--include-directory") ? std::string_view("--include-directory") : std::string_view();
  }

  void dependency_option(const std::vector<std::string>& words, std::size_t& at) {
    const std::string& word = words[at];
    if (word == "-MD" || word == "-MMD") {
      m_compile.wants_dependencies = true;
      if (word == "-MMD" && m_from_file) throw Refusal{"-MMD is in a response file"};
      m_replace_mmd = m_replace_mmd || word == "-MMD";
    } else if (word == "-MP") {
      m_compile.phony = true;
    } else if (word.starts_with("-MF")) {
      m_dependency_file = value("-MF", words, at);
    } else if (word.starts_with("-MT")) {
      m_targets.push_back(value("-MT", words, at));
    } else if (word.starts_with("-MQ")) {
      m_targets.push_back(quoted_for_make(value("-MQ", words, at)));
    } else {
      throw Refusal{word + " is used"};
    }
  }

  void read_environment() override {
    for (const std::string_view name : k_search_variables) {
      const std::string folders = variable(name);
      if (folders.empty()) continue;
      for (const std::string_view folder : split(folders, ':')) add_search(name, folder.empty() ? "." : folder);
    }
  }

  void finish() override {
    const bool clang = m_request.identity.find("clang version") != std::string::npos;
    m_compile.lists_headers =
        m_several_passes || base_name(m_request.program).starts_with("hipcc") || m_compile.source.ends_with(".hip");
    if (m_compile.source.ends_with(".cu") || (m_compile.lists_headers && !clang))
      throw Refusal{"its compiler passes are unknown"};
    // clang reads SOURCE_DATE_EPOCH since version 16, GCC since 7; a version table for clang is not worth it.
    m_compile.fixed_time = !clang && !variable("SOURCE_DATE_EPOCH").empty();
  }

  bool m_several_passes = false;
};

}  // namespace

void CompileReader::refuse_if_listed(std::string_view word, const std::vector<std::string_view>& exact,
                                     const std::vector<std::string_view>& prefixes) const {
  const bool listed =
      std::find(exact.begin(), exact.end(), word) != exact.end() ||
      std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) { return word.starts_with(prefix); });
  if (listed) throw Refusal{fmt::format("{} is used", printable(word))};
}

std::string CompileReader::value(std::string_view option, const std::vector<std::string>& words,
                                 std::size_t& at) const {
  const std::string& word = words[at];
  if (word.size() > option.size()) {
    const bool equals = option.starts_with("--") && word[option.size()] == '=';
    return word.substr(option.size() + (equals ? 1 : 0));
  }
  if (at + 1 >= words.size()) throw Refusal{fmt::format("{} has no value", option)};
  return words[++at];
}

void CompileReader::add_search(std::string_view kind, std::string_view folder) {
  if (folder.empty() || folder.starts_with('=') || folder.starts_with("$SYSROOT"))
    throw Refusal{"an include folder depends on the sysroot"};
  m_compile.search.push_back({std::string(kind), std::string(folder)});
}

void CompileReader::add_unknown(const std::string& word) {
  add_word(word);
  const std::size_t equals = word.find('=');
  for (const std::string& name : {word, equals == word.npos ? std::string() : word.substr(equals + 1)}) {
    if (name.empty() || name.front() == '-' || !m_files.is_file) continue;
    const std::string path = absolute_path(m_request.folder, name);
    if (m_files.is_file(path)) m_compile.inputs.push_back(path);
  }
}

std::string CompileReader::variable(std::string_view name) const {
  for (const std::string& entry : m_request.environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  }
  return {};
}

void CompileReader::read_words(const std::vector<std::string>& words, unsigned depth) {
  m_words_read += words.size();
  if (depth > k_deepest_response || m_words_read > k_longest_command) throw Refusal{"its command line is too long"};
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word.size() > 1 && word.front() == '@') {
      const auto text =
          m_files.read_file ? m_files.read_file(absolute_path(m_request.folder, word.substr(1))) : std::nullopt;
      if (!text || ++m_files_read > k_most_response_files) throw Refusal{"a response file cannot be read"};
      const bool before = m_from_file;
      m_from_file = true;
      read_words(split_words(*text), depth + 1);
      m_from_file = before;
    } else if (word.size() > 1 && word.front() == '-') {
      option(words, at);
    } else if (is_source(word)) {
      ++m_sources;
      m_compile.source = word;
    } else {
      throw Refusal{fmt::format("{} is not a source", printable(word))};
    }
  }
}

Compile CompileReader::read() {
  // First, since later paths are identified by their new names.
  for (const std::string& word : m_request.argv) m_compile.map.add_from(word);
  for (const std::string_view name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
    for (const std::string& word : split_words(variable(name))) m_compile.map.add_from(word);
  }
  if (!variable("DEPENDENCIES_OUTPUT").empty() || !variable("SUNPRO_DEPENDENCIES").empty())
    throw Refusal{"a variable names a dependency file"};
  if (m_request.argv.empty()) throw Refusal{"its command line is empty"};
  read_words({m_request.argv.begin() + 1, m_request.argv.end()}, 0);
  read_environment();
  for (const std::string& folder : m_request.search) m_compile.search.push_back({"", folder});
  if (!m_compiles) throw Refusal{"it does not compile to one object"};
  if (m_sources != 1) throw Refusal{"it has more than one source"};
  Compile& compile = m_compile;
  compile.output = m_output.empty() ? without_ending(base_name(compile.source)) + ".o" : m_output;
  if (compile.output == "-") throw Refusal{"the object goes to standard output"};
  compile.dependencies = m_dependency_file;
  if (compile.dependencies.empty())
    compile.dependencies =
        compile.wants_dependencies ? without_ending(compile.output) + ".d" : compile.output + ".wheelsmith.d";
  if (!compile.wants_dependencies && !m_dependency_file.empty()) throw Refusal{"-MF is used without -MD"};
  compile.target = m_targets.empty() ? quoted_for_make(compile.output) : join(m_targets, " ");
  finish();
  compile.date = variable("SOURCE_DATE_EPOCH");
  // An option may use these macros although no file does: -DBUILT=__DATE__.
  const auto uses = [&](std::string_view macro) {
    return std::ranges::any_of(compile.words, [&](const std::string& word) { return word.find(macro) != word.npos; });
  };
  if (uses("__TIMESTAMP__")) throw Refusal{"an option uses __TIMESTAMP__"};
  if (uses("__DATE__") || uses("__TIME__")) {
    if (!compile.fixed_time) throw Refusal{"an option uses __DATE__ or __TIME__"};
    add_word("date " + compile.date);
  }

  add_word("source");
  add_word(compile.map.known(compile.source));
  const std::string shell_folder = variable("PWD");
  if (m_debug) add_word("folder " + compile.map.known(shell_folder.empty() ? m_request.folder : shell_folder));
  for (const std::string& entry : m_request.environment) {
    const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
    if (is_one_of(name, k_variables)) add_word(compile.map.known_text(entry));
  }

  compile.argv = m_request.argv;
  compile.argv.front() = m_request.program;
  if (m_replace_mmd)
    std::replace(compile.argv.begin() + 1, compile.argv.end(), std::string("-MMD"), std::string("-MD"));
  if (!compile.wants_dependencies) compile.argv.emplace_back("-MD");
  if (m_dependency_file.empty()) compile.argv.insert(compile.argv.end(), {"-MF", compile.dependencies});
  return std::move(compile);
}

bool is_nvcc(std::string_view program) { return base_name(program).starts_with("nvcc"); }

bool is_compiler_variable(std::string_view name) {
  return is_one_of(name, k_variables) || is_one_of(name, k_search_variables) || is_one_of(name, k_other_variables);
}

std::variant<Compile, Uncacheable> read_compile(const CompileRequest& request, const FileQuestions& files) {
  try {
    if (is_nvcc(request.program)) return read_nvcc_compile(request, files);
    return GnuReader(request, files).read();
  } catch (const Refusal& refusal) {
    return Uncacheable{refusal.why};
  }
}

std::string CompileRequest::to_bytes() const {
  TextWriter writer;
  writer.add(program).add(identity).add(tools).add(folder).add(argv).add(environment).add(search);
  return writer.take();
}

CompileRequest CompileRequest::from_bytes(std::string_view bytes) {
  TextReader reader(bytes);
  CompileRequest request;
  request.program = reader.text();
  request.identity = reader.text();
  request.tools = reader.list();
  request.folder = reader.text();
  request.argv = reader.list();
  request.environment = reader.list();
  request.search = reader.list();
  return request;
}

}  // namespace wheelsmith::cache
