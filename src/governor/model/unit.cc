#include "governor/model/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "cache/words.h"
#include "governor/model/unit_words.h"
#include "governor/shim/compiler_names.h"

// The same source compiled with the same flags takes the same memory in any folder. So a unit is identified by its
// flags, without those that only contain paths, and by its source's content; headers are ignored: reading them would
// cost more than it gains.

namespace wheelsmith::governor {

namespace {

constexpr std::array<std::pair<Kind, std::string_view>, 12> k_kinds{{{Kind::c, "c"},
                                                                     {Kind::cxx, "c++"},
                                                                     {Kind::fortran, "fortran"},
                                                                     {Kind::cuda, "cuda"},
                                                                     {Kind::hip, "hip"},
                                                                     {Kind::link, "link"},
                                                                     {Kind::preprocess, "preprocess"},
                                                                     {Kind::front, "front"},
                                                                     {Kind::device, "device"},
                                                                     {Kind::assemble, "assemble"},
                                                                     {Kind::bundle, "bundle"},
                                                                     {Kind::host, "host"}}};
constexpr unsigned k_many_threads = 1024;

Kind kind_of(ws_tool tool) {
  switch (tool) {
    case WS_CXX: return Kind::cxx;
    case WS_FORTRAN: return Kind::fortran;
    case WS_CUDA: return Kind::cuda;
    case WS_HIP: return Kind::hip;
    case WS_LINK: return Kind::link;
    case WS_C:
    case WS_NONE: break;
  }
  return Kind::c;
}

std::vector<std::string> expanded(const std::vector<std::string>& argv, const ReadFile& read_file) {
  std::vector<std::string> words;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::optional<std::string> text =
        argv[i].size() > 1 && argv[i].front() == '@' && read_file ? read_file(argv[i].substr(1)) : std::nullopt;
    if (text) {
      for (std::string& word : cache::split_words(*text)) words.push_back(std::move(word));
    } else {
      words.push_back(argv[i]);
    }
  }
  return words;
}

class Reader {
 public:
  Reader(CompilerCommand& command, const std::vector<std::string>& words) : m_command(command), m_words(words) {}

  void read() {
    for (m_at = 0; m_at < m_words.size(); ++m_at) {
      const std::string& word = m_words[m_at];
      if (word == "-") {
        m_from_pipe = true;
      } else if (word.size() > 1 && word.front() == '-') {
        option(word);
      } else {
        input(word);
      }
    }
    const bool links = !m_compile_only && m_command.sources.empty();
    if (links && !m_command.objects.empty()) m_command.kind = Kind::link;
    m_command.governed = !m_question && !m_from_pipe && (!m_command.sources.empty() || !m_command.objects.empty());
    if (!m_archs.empty()) m_command.archs = static_cast<unsigned>(m_archs.size());
    if (m_many_archs != 0) m_command.archs = m_many_archs;
  }

 private:
  void input(const std::string& word) {
    if (words::is_source(word)) {
      m_command.sources.push_back(word);
    } else {
      m_command.objects.push_back(word);
    }
    m_command.words.push_back(words::without_paths(word));
  }

  // The value of an option: after '=', attached to it, or the next argument.
  std::string value(std::string_view option, const std::string& word) {
    if (word.size() > option.size()) return word.substr(option.size() + (word[option.size()] == '=' ? 1 : 0));
    return m_at + 1 < m_words.size() ? m_words[++m_at] : "";
  }

  void note_archs(std::string_view text) {
    if (text.starts_with("all-major")) {
      m_many_archs = std::max(m_many_archs, 5U);
    } else if (text.starts_with("all")) {
      m_many_archs = std::max(m_many_archs, 10U);
    } else {
      m_archs.insert(std::string(text.substr(0, text.find(','))));
    }
  }

  void option(const std::string& word) {
    if (words::is_question(word, m_command.kind)) m_question = true;
    if (word == "-c" || word == "-S" || word == "-dc" || word == "--compile") m_compile_only = true;
    if (word == "-c" || word == "-dc" || word == "--compile" || word == "--device-c") m_command.compile_only = true;
    if (word == "-o" || word == "--output-file" || word.starts_with("--output-file=")) {
      m_command.output = value(word == "-o" ? "-o" : "--output-file", word);
      return;
    }
    if (word.starts_with("-o") && m_command.kind != Kind::cuda && m_command.kind != Kind::link && word.size() > 2) {
      m_command.output = word.substr(2);
      return;
    }
    if (m_command.kind == Kind::cuda && words::takes(word, {"-t", "--threads"})) {
      const auto number = to_number(value(word.starts_with("--") ? "--threads" : "-t", word));
      m_command.threads = number && *number != 0
                              ? static_cast<unsigned>(std::min<std::uint64_t>(*number, k_many_threads))
                              : k_many_threads;
      return;
    }
    if (const std::string_view place = words::place_option(word); !place.empty()) {
      (void)value(place, word);
      return;
    }
    m_command.words.push_back(words::without_paths(word));
    for (const std::string_view name :
         {"-gencode", "--generate-code", "--offload-arch", "-arch", "--gpu-architecture"}) {
      if (word != name && !word.starts_with(std::string(name) + "=")) continue;
      const std::string given = value(name, word);
      if (word == name) m_command.words.push_back(given);
      note_archs(given);
      return;
    }
    if (words::takes_next(word) && m_at + 1 < m_words.size()) {
      m_command.words.push_back(words::without_paths(m_words[++m_at]));
      if (word == "-x" && m_command.words.back() == "cu") m_command.kind = Kind::cuda;
      if (word == "-x" && m_command.words.back() == "hip") m_command.kind = Kind::hip;
    }
  }

  CompilerCommand& m_command;
  const std::vector<std::string>& m_words;
  std::size_t m_at = 0;
  bool m_question = false, m_compile_only = false, m_from_pipe = false;
  std::set<std::string> m_archs;
  unsigned m_many_archs = 0;
};

}  // namespace

std::string_view to_string(Kind kind) {
  return std::find_if(k_kinds.begin(), k_kinds.end(), [&](const auto& pair) { return pair.first == kind; })->second;
}

std::optional<Kind> kind_from(std::string_view text) {
  const auto found =
      std::find_if(k_kinds.begin(), k_kinds.end(), [&](const auto& pair) { return pair.second == text; });
  return found == k_kinds.end() ? std::nullopt : std::optional(found->first);
}

std::string CompilerCommand::name() const {
  const std::string& from = !sources.empty()   ? sources.front()
                            : !output.empty()  ? output
                            : !objects.empty() ? objects.front()
                                               : output;
  return std::string(base_name(from));
}

std::optional<CompilerCommand> read_command(const std::vector<std::string>& argv, const ReadFile& read_file) {
  if (argv.empty()) return std::nullopt;
  const std::string program(base_name(argv.front()));
  const ws_tool tool = ws_tool_of(program.c_str());
  if (tool == WS_NONE) return std::nullopt;
  CompilerCommand command;
  command.kind = kind_of(tool);
  Reader(command, expanded(argv, read_file)).read();
  return command;
}

std::vector<std::string> with_threads(const std::vector<std::string>& argv, unsigned threads) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (i > 0 && words::takes(argv[i], {"-t", "--threads"})) {
      if (argv[i] == "-t" || argv[i] == "--threads") ++i;
    } else {
      result.push_back(argv[i]);
    }
  }
  if (threads > 0) result.insert(result.end(), {"--threads", std::to_string(threads)});
  return result;
}

std::string unit_id(const CompilerCommand& command, const std::vector<std::string>& content_digests) {
  Sha256 hash;
  const auto add = [&hash](std::string_view text) {
    hash.update(text);
    hash.update(std::string_view("\0", 1));
  };
  add(to_string(command.kind));
  for (const std::string& word : command.words) add(word);
  add("content");
  for (const std::string& digest : content_digests) add(digest);
  return to_hex(hash.finish()).substr(0, 32);
}

std::string family_of(const CompilerCommand& command) {
  return fmt::format("{}/{}/{}", to_string(command.kind), command.archs, words::without_parameters(command.name()));
}

}  // namespace wheelsmith::governor
