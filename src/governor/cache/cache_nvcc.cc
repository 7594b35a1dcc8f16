#include "governor/cache/cache_nvcc.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "governor/model/unit_words.h"

// nvcc's command lines in words that ccache knows. What ccache is told is only for its key and for the names of files:
// nvcc itself is always called as the build said.

namespace wheelsmith::governor {

namespace {

constexpr std::string_view k_prefix_map = "-prefix-map=";
constexpr std::size_t k_most_option_files = 100;

// The name and the value of "--name=value" or of "--name" "value", for the names that are asked for.
struct NvccOption {
  std::string_view name, plain;  // as nvcc's manual has it, as ccache knows it; "" for what it is not told
};
constexpr std::array<NvccOption, 12> k_with_value{{{"--output-file", "-o"},
                                                   {"-o", "-o"},
                                                   {"--dependency-output", "-MF"},
                                                   {"-MF", "-MF"},
                                                   {"--dependency-target-name", "-MT"},
                                                   {"-MT", "-MT"},
                                                   {"--threads", ""},
                                                   {"-t", ""},
                                                   {"--compiler-bindir", ""},
                                                   {"-ccbin", ""},
                                                   {"--options-file", ""},
                                                   {"-optf", ""}}};
// With and without the system's headers: what is left out could change unseen.
constexpr std::array<std::string_view, 4> k_dependencies{"-MD", "--generate-dependencies-with-compile", "-MMD",
                                                         "--generate-nonsystem-dependencies-with-compile"};
// They make more than one file, or what they make is not only decided by what is known here.
constexpr std::array<std::string_view, 13> k_not_cached{"--keep",
                                                        "-keep",
                                                        "--save-temps",
                                                        "-save-temps",
                                                        "--time",
                                                        "-time",
                                                        "--run",
                                                        "-run",
                                                        "-dlto",
                                                        "--dlink-time-opt",
                                                        "-libdevice-directory",
                                                        "--fdevice-time-trace",
                                                        "-fdevice-time-trace"};

class NvccWords {
 public:
  NvccWords(CachedCommand& result, const ReadFile& read_file) : m_result(result), m_read_file(read_file) {}

  // False when it is not to be cached.
  bool read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      if (is_one_of(word, k_not_cached)) return false;
      if (word.size() > 1 && word.front() == '@') {
        if (!read_files(word.substr(1))) return false;
        continue;
      }
      if (is_one_of(word, k_dependencies)) {
        m_dependencies = true;
      } else if (word == "--compile" || word == "-c") {
        m_result.argv.emplace_back("-c");
      } else if (word == "--device-c" || word == "-dc") {
        m_result.argv.emplace_back("-dc");
      } else if (word == "--generate-dependency-targets") {
        m_result.argv.emplace_back("-MP");
      } else if (word == "-gencode" || word.starts_with("-gencode=")) {
        // What begins with -g is debug information to ccache, and makes the folder count.
        m_result.argv.push_back("--generate-code" + word.substr(std::string_view("-gencode").size()));
      } else if (const NvccOption* option = option_of(word)) {
        std::string value;
        if (word.size() > option->name.size()) {
          value = word.substr(option->name.size() + (word[option->name.size()] == '=' ? 1 : 0));
        } else if (i + 1 < words.size()) {
          value = words[++i];
        }
        if (!take(*option, value)) return false;
      } else {
        m_result.argv.push_back(word);
      }
    }
    return true;
  }

  // After the last: the file that nvcc tells its dependencies in.
  bool finish(const std::string& output) {
    if (m_dependencies != m_dependency_file) return false;  // nvcc and ccache disagree about the file's name then
    m_result.argv.emplace_back("-MD");
    if (m_dependencies) return true;
    if (output.empty()) return false;
    m_result.dependencies = output + ".wheelsmith.d";
    m_result.argv.insert(m_result.argv.end(), {"-MF", m_result.dependencies});
    return true;
  }

 private:
  static const NvccOption* option_of(std::string_view word) {
    for (const NvccOption& option : k_with_value) {
      if (word == option.name || words::takes(word, {option.name})) return &option;
    }
    return nullptr;
  }

  bool take(const NvccOption& option, const std::string& value) {
    if (option.name == "--options-file" || option.name == "-optf") return read_files(value);
    if (option.plain == "-MF") m_dependency_file = true;
    if (option.name == "-ccbin" || option.name == "--compiler-bindir") m_result.host_compiler = value;
    if (!option.plain.empty()) m_result.argv.insert(m_result.argv.end(), {std::string(option.plain), value});
    return true;
  }

  bool read_files(const std::string& names) {
    for (const std::string_view name : split(names, ',')) {
      const auto text = ++m_files < k_most_option_files && m_read_file ? m_read_file(std::string(name)) : std::nullopt;
      if (!text || !read(split_words(*text))) return false;
    }
    return true;
  }

  CachedCommand& m_result;
  const ReadFile& m_read_file;
  std::size_t m_files = 0;
  bool m_dependencies = false, m_dependency_file = false;
};

std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  }
  return {};
}

// A word of nvcc's variables as part of a key: the same in every folder.
std::string without_base(std::string word, const std::string& base) {
  if (base.empty()) return word;
  for (std::size_t at = word.find(base); at != word.npos; at = word.find(base, at)) word.replace(at, base.size(), ".");
  return word;
}

}  // namespace

std::optional<CachedCommand> nvcc_command(const CompilerCommand& command, const std::vector<std::string>& argv,
                                          const std::vector<std::string>& environment, const std::string& base,
                                          const ReadFile& read_file) {
  CachedCommand result;
  result.exact = true;
  result.by_dependencies = true;
  NvccWords words(result, read_file);
  if (!words.read({argv.begin() + 1, argv.end()}) || !words.finish(command.output)) return std::nullopt;
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
    result.more += fmt::format("{}\n", name);
    const std::vector<std::string> given = split_words(value_of(environment, name));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::string& word = given[i];
      if (word.find("-ccbin") == 0 || word.find("--compiler-bindir") == 0) {
        const std::size_t equals = word.find('=');
        if (equals != word.npos) {
          result.host_compiler = word.substr(equals + 1);
        } else if (i + 1 < given.size()) {
          result.host_compiler = given[++i];
        }
      } else if (const std::size_t map = word.find(k_prefix_map); map != word.npos) {
        result.more += word.substr(word.rfind('=')) + "\n";  // what folders are called in objects
      } else {
        result.more += without_base(word, base) + "\n";
      }
    }
  }
  return result;
}

}  // namespace wheelsmith::governor
