#include <array>

#include "base/text.h"
#include "cache/compile_reader.h"
#include "cache/words.h"

// nvcc's command lines: every option has a long and a short name, values follow '=' or are the next argument, and more
// options come from variables and files.

namespace wheelsmith::cache {

namespace {

struct NvccName {
  std::string_view name, plain;
};
// Options with a value that matter here.
constexpr std::array<NvccName, 19> k_valued{{{"--output-file", "-o"},
                                             {"-o", "-o"},
                                             {"--dependency-output", "-MF"},
                                             {"-MF", "-MF"},
                                             {"--dependency-target-name", "-MT"},
                                             {"-MT", "-MT"},
                                             {"--include-path", "-I"},
                                             {"-I", "-I"},
                                             {"--system-include", "-isystem"},
                                             {"-isystem", "-isystem"},
                                             {"--threads", "-t"},
                                             {"-t", "-t"},
                                             {"--compiler-bindir", "-ccbin"},
                                             {"-ccbin", "-ccbin"},
                                             {"--options-file", "-optf"},
                                             {"-optf", "-optf"},
                                             {"--compiler-options", "-Xcompiler"},
                                             {"-Xcompiler", "-Xcompiler"},
                                             {"--pre-include", "-include"}}};
// They produce more than one file, or the result depends on unknown inputs.
const std::vector<std::string_view> k_nvcc_refused{"--keep",
                                                   "-keep",
                                                   "--save-temps",
                                                   "-save-temps",
                                                   "--time",
                                                   "-time",
                                                   "--run",
                                                   "-run",
                                                   "-dlto",
                                                   "--dlink-time-opt",
                                                   "-lto",
                                                   "-E",
                                                   "-M",
                                                   "-MM",
                                                   "-ptx",
                                                   "--ptx",
                                                   "-cubin",
                                                   "--cubin",
                                                   "-fatbin",
                                                   "--fatbin",
                                                   "-v",
                                                   "--verbose",
                                                   "-dryrun",
                                                   "--dryrun",
                                                   "-G=0",
                                                   "-H",
                                                   "--resource-usage-file"};
const std::vector<std::string_view> k_nvcc_refused_beginnings{"-libdevice-directory",
                                                              "--libdevice-directory",
                                                              "--fdevice-time-trace",
                                                              "-fdevice-time-trace",
                                                              "-target-dir",
                                                              "--target-directory",
                                                              "--input-drive-prefix",
                                                              "-ldir",
                                                              "--dependency-drive-prefix"};

const NvccName* name_of(std::string_view word) {
  for (const NvccName& option : k_valued) {
    if (word == option.name) return &option;
    if (!word.starts_with(option.name)) continue;
    const char next = word[option.name.size()];
    const bool glued = option.plain == "-I" || option.plain == "-isystem" || (option.plain == "-t" && next <= '9');
    if (next == '=' || (glued && !option.name.starts_with("--"))) return &option;
  }
  return nullptr;
}

std::string take_value(const NvccName& option, const std::vector<std::string>& words, std::size_t& at) {
  const std::string& word = words[at];
  if (word.size() > option.name.size())
    return word.substr(option.name.size() + (word[option.name.size()] == '=' ? 1 : 0));
  if (at + 1 >= words.size()) throw Refusal{std::string(option.name) + " has no value"};
  return words[++at];
}

class NvccReader final : public CompileReader {
 public:
  using CompileReader::CompileReader;

 private:
  void option(const std::vector<std::string>& words, std::size_t& at) override {
    const std::string& word = words[at];
    refuse_if_listed(word, k_nvcc_refused, k_nvcc_refused_beginnings);
    reject_native(word);
    if (word == "-c" || word == "--compile" || word == "-dc" || word == "--device-c") {
      m_compiles = true;
      add_word(word == "-c" || word == "--compile" ? "-c" : "-dc");
    } else if (word == "-MD" || word == "--generate-dependencies-with-compile") {
      m_compile.wants_dependencies = true;
    } else if (word == "-MMD" || word == "--generate-nonsystem-dependencies-with-compile") {
      // Without system headers a change could go unnoticed.
      if (m_from_file || word != "-MMD") throw Refusal{"its dependencies exclude system headers"};
      m_compile.wants_dependencies = m_replace_mmd = true;
    } else if (word == "-g" || word == "-G" || word == "--debug" || word == "--device-debug" || word == "-lineinfo" ||
               word == "--generate-line-info") {
      m_debug = true;
      add_word(word);
    } else if (word == "-MP" || word == "--generate-dependency-targets") {
      m_compile.phony = true;
    } else if (const NvccName* name = name_of(word)) {
      take(*name, take_value(*name, words, at));
    } else {
      // A value in the next argument is not an input.
      add_unknown(word);
      if (word.find('=') == word.npos && at + 1 < words.size() && takes_value(word) &&
          !words[at + 1].starts_with('-')) {
        reject_native(words[at + 1]);
        add_unknown(words[++at]);
      }
    }
  }

  // -arch=native; but not -Dx_native.
  static void reject_native(const std::string& value) {
    if (value == "native" || (value.find("=native") != value.npos && !value.starts_with("-D")))
      throw Refusal{"it compiles for the GPU of this machine"};
  }

  // Whether the next argument belongs to an option that is not in the table: those of nvcc's manual that builds use.
  static bool takes_value(std::string_view word) {
    constexpr std::array<std::string_view, 36> k_names{"-gencode",
                                                       "--generate-code",
                                                       "-arch",
                                                       "--gpu-architecture",
                                                       "-code",
                                                       "--gpu-code",
                                                       "-std",
                                                       "--std",
                                                       "-D",
                                                       "--define-macro",
                                                       "-U",
                                                       "--undefine-macro",
                                                       "-x",
                                                       "--x",
                                                       "-Xptxas",
                                                       "--ptxas-options",
                                                       "-Xcudafe",
                                                       "-Xfatbin",
                                                       "-Xlinker",
                                                       "--linker-options",
                                                       "-Xnvlink",
                                                       "-Xcicc",
                                                       "-maxrregcount",
                                                       "--maxrregcount",
                                                       "-rdc",
                                                       "--relocatable-device-code",
                                                       "-include",
                                                       "-ftz",
                                                       "-prec-div",
                                                       "-prec-sqrt",
                                                       "-fmad",
                                                       "-diag-suppress",
                                                       "--diag-suppress",
                                                       "-cudart",
                                                       "--cudart",
                                                       "-odir"};
    return is_one_of(word, k_names);
  }

  void take(const NvccName& option, const std::string& given) {
    if (option.plain == "-o") {
      m_output = given;
    } else if (option.plain == "-MF") {
      m_dependency_file = given;
    } else if (option.plain == "-MT") {
      m_targets.push_back(given);
    } else if (option.plain == "-I" || option.plain == "-isystem") {
      for (const std::string_view folder : split(given, ',')) add_search(option.plain, folder);
    } else if (option.plain == "-include") {
      add_word("-include");
      add_word(m_compile.map.known(given));
    } else if (option.plain == "-optf") {
      for (const std::string_view name : split(given, ',')) read_options("@" + std::string(name));
    } else if (option.plain == "-Xcompiler") {
      host_options(given);
    }
    // --threads does not affect the object; the host compiler's identity counts, not its path.
  }

  void read_options(const std::string& name) { read_words({name}, ++m_depth); }

  // Options for the host compiler. Its include folders are searched in its passes.
  void host_options(const std::string& given) {
    for (const std::string_view part : split(given, ',')) {
      const std::string word(part);
      if (word.find("-prefix-map=") != word.npos) {
        add_word("-Xcompiler " + word.substr(0, word.find('=') + 1) + word.substr(word.rfind('=')));
        continue;
      }
      if (word.starts_with("-I") && word.size() > 2) add_search("-Xcompiler -I", word.substr(2));
      if (word.starts_with("-g") && word != "-g0") m_debug = true;
      if (word == "-march=native" || word == "-mtune=native" || word == "-mcpu=native") m_compile.native = true;
      add_word("-Xcompiler " + word);
    }
  }

  void read_environment() override {
    for (const std::string_view name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
      add_word(std::string(name));
      const bool before = m_from_file;
      m_from_file = true;  // they are not in the command line
      read_words(split_words(variable(name)), 0);
      m_from_file = before;
    }
  }

  void finish() override {
    // Otherwise nvcc and the build could disagree about the name.
    if (m_compile.wants_dependencies && m_dependency_file.empty()) throw Refusal{"-MD is used without -MF"};
    if (m_output.empty()) throw Refusal{"it does not name its object"};
    m_compile.fixed_time = !variable("SOURCE_DATE_EPOCH").empty();
  }

  unsigned m_depth = 0;
};

}  // namespace

Compile read_nvcc_compile(const CompileRequest& request, const FileQuestions& files) {
  return NvccReader(request, files).read();
}

std::string nvcc_host_compiler(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                               const FileQuestions& files) {
  std::string found;
  const auto read = [&](const std::vector<std::string>& words) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      const NvccName* name = name_of(words[at]);
      if (name == nullptr || at + 1 >= words.size() + (words[at].size() > name->name.size() ? 1 : 0)) continue;
      const std::string value = take_value(*name, words, at);
      if (name->plain == "-ccbin") found = value;
      if (name->plain != "-optf" || !files.read_file) continue;
      for (const std::string_view file : split(value, ',')) {
        const std::vector<std::string> more = split_words(files.read_file(std::string(file)).value_or(""));
        for (std::size_t i = 0; i < more.size(); ++i) {
          const NvccName* inner = name_of(more[i]);
          if (inner != nullptr && inner->plain == "-ccbin" &&
              (more[i].size() > inner->name.size() || i + 1 < more.size()))
            found = take_value(*inner, more, i);
        }
      }
    }
  };
  for (const char* variable : {"NVCC_CCBIN=", "NVCC_PREPEND_FLAGS=", "", "NVCC_APPEND_FLAGS="}) {
    const std::string_view name(variable);
    if (name.empty()) {
      read({argv.begin() + (argv.empty() ? 0 : 1), argv.end()});
      continue;
    }
    for (const std::string& entry : environment) {
      if (!entry.starts_with(name)) continue;
      if (name == "NVCC_CCBIN=") {
        found = entry.substr(name.size());
      } else {
        read(split_words(entry.substr(name.size())));
      }
    }
  }
  return found;
}

}  // namespace wheelsmith::cache
