#include "governor/parts/dry_run.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "governor/parts/shell_words.h"

// nvcc is a driver: `nvcc --dryrun` prints the variables that it sets and the commands that it would run, as lines for
// a shell, and takes 10 ms. For each architecture these are the host compiler as preprocessor, cicc and ptxas; for the
// host once more the preprocessor, cudafe++ and the compiler; fatbinary in between. So the graph is nvcc's own,
// whatever way its options were written.
//
// Files between the commands have names like /tmp/tmpxft_0000172d_00000000-8_k.compute_80.cpp1.ii, where only the end
// is the same in each run. They become places in one temporary folder, by that end: what the tools write into their
// outputs (names of included files) is then the same each time, and so is the object.
//
// The reader accepts what it knows and nothing else: every command, and every mention of a temporary file. A command
// that it does not know makes nvcc run as a whole.

namespace wheelsmith::governor {

namespace {

constexpr std::size_t k_most_parts = 1000;
constexpr std::string_view k_temporary = "tmpxft_";

struct DryRunRefusal {
  std::string why;
};

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "k.ptx" of "tmpxft_0000172d_00000000-8_k.ptx"; "" for other names.
std::string_view end_of_temporary(std::string_view name) {
  if (!name.starts_with(k_temporary)) return {};
  name.remove_prefix(k_temporary.size());
  const std::size_t second = name.find('_');
  const std::size_t dash = name.find('-');
  if (second == name.npos || dash == name.npos || dash < second) return {};
  const std::size_t last = name.find('_', dash);
  if (last == name.npos || !is_hex(name.substr(0, second)) || !is_hex(name.substr(second + 1, dash - second - 1)) ||
      !is_digits(name.substr(dash + 1, last - dash - 1)))
    return {};
  return name.substr(last + 1);
}

class DryRunReader {
 public:
  PartGraph read(std::string_view text) {
    for (const std::string_view line : lines(text)) read_line(line);
    finish();
    return std::move(m_graph);
  }

 private:
  void read_line(std::string_view line) {
    constexpr std::string_view k_mark = "#$ ";
    if (!line.starts_with(k_mark)) {
      if (trim(line).empty()) return;
      if (!m_graph.parts.empty()) throw DryRunRefusal{"nvcc printed a message between its commands"};
      m_graph.messages += std::string(line) + "\n";
      return;
    }
    line.remove_prefix(k_mark.size());
    if (line.starts_with("-- Filter Dependencies -- > ")) return dependencies(line.substr(28));
    if (line.starts_with("rm ")) return;
    if (const std::size_t equals = line.find('='); equals != line.npos && is_variable(line.substr(0, equals))) {
      if (!m_graph.parts.empty()) throw DryRunRefusal{"nvcc sets a variable between its commands"};
      m_variables.insert_or_assign(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
      const auto same = std::find_if(
          m_graph.environment.begin(), m_graph.environment.end(),
          [&](const std::string& entry) { return std::string_view(entry).starts_with(line.substr(0, equals + 1)); });
      if (same != m_graph.environment.end()) m_graph.environment.erase(same);
      m_graph.environment.emplace_back(line);
      return;
    }
    auto words = shell_words(line, m_variables);
    if (!words || words->empty()) throw DryRunRefusal{"nvcc runs a command that needs a shell"};
    if (m_graph.parts.size() == k_most_parts) throw DryRunRefusal{"nvcc runs too many commands"};
    command(std::move(*words));
  }

  static bool is_variable(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
  }

  // --- files

  // The argument with our place for a temporary file; `names` receives its name. Other paths stay.
  std::string place(const std::string& path, std::vector<std::string>* names) {
    const std::string_view name = end_of_temporary(base_name(path));
    if (name.empty()) {
      if (path.find(k_temporary) != path.npos) throw DryRunRefusal{"an argument looks like a temporary file"};
      return path;
    }
    const auto [known, is_new] = m_originals.try_emplace(std::string(name), path);
    if (!is_new && known->second != path) throw DryRunRefusal{"two temporary files have the same name"};
    if (names != nullptr) names->emplace_back(name);
    return std::string(k_place) + std::string(name);
  }
  // A file that is mentioned by its name alone: it is beside the text that includes it.
  std::string mention(const std::string& word) {
    const std::string_view name = end_of_temporary(word);
    if (name.empty()) throw DryRunRefusal{"a generated file has an unknown name"};
    m_mentions.emplace_back(name);
    return std::string(name);
  }
  static void reject_temporary(const std::string& word) {
    if (word.find(k_temporary) != word.npos || word.find(k_place.front()) != word.npos)
      throw DryRunRefusal{"an argument looks like a temporary file"};
  }

  // --- commands

  struct Role {
    std::string_view option;
    enum class Use { read, write, mention } use;
  };

  // Options whose value is the next argument, and one other argument, which is read.
  template <std::size_t N>
  void take(Part& part, std::vector<std::string>& words, const std::array<Role, N>& roles, std::string_view input_end) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto role =
          std::find_if(roles.begin(), roles.end(), [&](const Role& one) { return one.option == words[i]; });
      if (role != roles.end()) {
        if (++i == words.size()) throw DryRunRefusal{"an option has no value"};
        if (role->use == Role::Use::mention) {
          words[i] = mention(words[i]);
        } else {
          put(part, words[i], role->use == Role::Use::write);
        }
      } else if (!words[i].starts_with('-') && words[i].ends_with(input_end)) {
        put(part, words[i], false);
      } else {
        reject_temporary(words[i]);
      }
    }
  }
  void put(Part& part, std::string& word, bool writes) {
    std::vector<std::string> names;
    const std::string placed = place(word, &names);
    if (names.empty()) {
      if (!writes) throw DryRunRefusal{"a part reads a file that no other part makes"};
      if (!part.output.empty()) throw DryRunRefusal{"a part has two results"};
      part.output = word;
      word = std::string(k_place) + "result";
      return;
    }
    word = placed;
    (writes ? part.writes : part.reads).push_back(names.front());
  }

  void command(std::vector<std::string> words) {
    const std::string_view tool = base_name(words.front());
    Part part;
    if (tool == "cudafe++") {
      front(part, words);
    } else if (tool == "cicc") {
      device(part, words);
    } else if (tool == "ptxas") {
      part.kind = PartKind::assemble;
      take(part, words, std::array<Role, 1>{{{"-o", Role::Use::write}}}, ".ptx");
      part.arch = value_after(words, "-arch");
    } else if (tool == "fatbinary") {
      bundle(part, words);
    } else if (tool == "nvlink") {
      throw DryRunRefusal{"it links"};
    } else {
      host(part, words);
    }
    part.argv = std::move(words);
    m_graph.parts.push_back(std::move(part));
  }

  // "-arch=sm_90" or "-arch sm_90".
  static std::string value_after(const std::vector<std::string>& words, std::string_view option) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == option && i + 1 < words.size()) return words[i + 1];
      if (words[i].starts_with(option) && words[i].size() > option.size() && words[i][option.size()] == '=')
        return words[i].substr(option.size() + 1);
    }
    throw DryRunRefusal{"a part has no architecture"};
  }

  void front(Part& part, std::vector<std::string>& words) {
    part.kind = PartKind::front;
    take(part, words,
         std::array<Role, 3>{{{"--gen_c_file_name", Role::Use::write},
                              {"--module_id_file_name", Role::Use::write},
                              {"--stub_file_name", Role::Use::mention}}},
         ".ii");
    if (std::find(words.begin(), words.end(), "--gen_module_id_file") == words.end())
      throw DryRunRefusal{"cudafe++ makes no module ID"};
    m_host_reads.insert(m_host_reads.end(), m_mentions.begin(), m_mentions.end());
    m_mentions.clear();
  }

  void device(Part& part, std::vector<std::string>& words) {
    part.kind = PartKind::device;
    const bool makes_id = std::find(words.begin(), words.end(), "--gen_module_id_file") != words.end();
    take(part, words,
         std::array<Role, 7>{{{"--gen_c_file_name", Role::Use::write},
                              {"--stub_file_name", Role::Use::write},
                              {"--gen_device_file_name", Role::Use::write},
                              {"-o", Role::Use::write},
                              {"-olto", Role::Use::write},
                              {"--module_id_file_name", makes_id ? Role::Use::write : Role::Use::read},
                              {"--include_file_name", Role::Use::mention}}},
         ".ii");
    part.arch = value_after(words, "-arch");
    m_host_reads.insert(m_host_reads.end(), m_mentions.begin(), m_mentions.end());
    m_mentions.clear();
  }

  void bundle(Part& part, std::vector<std::string>& words) {
    part.kind = PartKind::bundle;
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::string& word = words[i];
      const bool image = word.starts_with("--image3=") || word.starts_with("--image=");
      const std::size_t file = image ? word.find("file=") : word.npos;
      const std::size_t at = file != word.npos                        ? file + 5
                             : word.starts_with("--embedded-fatbin=") ? 18
                             : word.starts_with("--create=")          ? 9
                                                                      : word.npos;
      if (at == word.npos) {
        reject_temporary(word);
        if (word == "-link" || word == "--link" || image) throw DryRunRefusal{"it links"};
        continue;
      }
      std::string path = word.substr(at);
      put(part, path, !image);
      word = word.substr(0, at) + path;
    }
  }

  void host(Part& part, std::vector<std::string>& words) {
    const auto has = [&words](std::string_view word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    const bool only_preprocess = has("-E");
    if (only_preprocess == has("-c")) throw DryRunRefusal{"it links, or runs a command that is not known"};
    part.kind = only_preprocess ? PartKind::preprocess : PartKind::host;
    take(part, words, std::array<Role, 1>{{{"-o", Role::Use::write}}}, ".cudafe1.cpp");
    if (!only_preprocess) return;
    if (!part.reads.empty() || !part.output.empty())
      throw DryRunRefusal{"it keeps its temporary files, or its result is preprocessed text"};
    for (const std::string& word : words) {
      constexpr std::string_view k_list = "-D__CUDA_ARCH_LIST__=";
      if (!word.starts_with(k_list)) continue;
      const std::string list = word.substr(k_list.size());
      if (!m_graph.archs.empty() && m_graph.archs != list) throw DryRunRefusal{"its passes are for different lists"};
      m_graph.archs = list;
    }
    const auto output = std::find(words.begin(), words.end(), "-o");
    // nvcc names the source last, before the output.
    if (output - words.begin() < 2) throw DryRunRefusal{"a pass has no source"};
    const std::string& source = *(output - 1);
    if (!m_graph.source.empty() && m_graph.source != source) throw DryRunRefusal{"it has more than one source"};
    m_graph.source = source;
  }

  void dependencies(std::string_view rest) {
    const auto words = shell_words(rest, m_variables);
    Part part;
    part.kind = PartKind::dependencies;
    part.output = words && words->size() == 1 ? words->front() : "";
    if (part.output.empty()) throw DryRunRefusal{"the file of its dependencies has an unusual name"};
    for (const Part& before : m_graph.parts) {
      if (before.kind == PartKind::preprocess)
        part.reads.insert(part.reads.end(), before.writes.begin(), before.writes.end());
    }
    m_graph.parts.push_back(std::move(part));
  }

  // --- the graph as a whole

  void finish() {
    std::vector<Part>& parts = m_graph.parts;
    if (parts.empty()) throw DryRunRefusal{"nvcc runs no command"};
    Part& last = parts.back();
    if (last.output.empty() || last.kind == PartKind::dependencies)
      throw DryRunRefusal{"its last command has no result"};
    if (last.kind == PartKind::host) last.reads.insert(last.reads.end(), m_host_reads.begin(), m_host_reads.end());
    std::sort(last.reads.begin(), last.reads.end());
    last.reads.erase(std::unique(last.reads.begin(), last.reads.end()), last.reads.end());
    if (m_graph.devices() == 0) throw DryRunRefusal{"it compiles no device code"};
    std::map<std::string, const Part*, std::less<>> writers;
    for (const Part& part : parts) {
      if (&part != &last && !part.output.empty() && part.kind != PartKind::dependencies)
        throw DryRunRefusal{"it has more than one result"};
      for (const std::string& name : part.reads) {
        if (!writers.contains(name)) throw DryRunRefusal{"a part reads a file that no earlier part makes"};
      }
      for (const std::string& name : part.writes) {
        if (!writers.emplace(name, &part).second) throw DryRunRefusal{"two parts write the same file"};
      }
    }
    name_passes(writers);
    for (const auto& [name, original] : m_originals) m_graph.files.push_back({name, original});
  }

  // A preprocessor's pass belongs to the architecture of the part that reads it.
  void name_passes(const std::map<std::string, const Part*, std::less<>>& writers) {
    for (const Part& part : m_graph.parts) {
      if (part.kind != PartKind::device) continue;
      for (const std::string& name : part.reads) {
        const Part* writer = writers.find(name)->second;
        if (writer->kind == PartKind::preprocess)
          m_graph.parts[static_cast<std::size_t>(writer - m_graph.parts.data())].arch = part.arch;
      }
    }
  }

  PartGraph m_graph;
  ShellVariables m_variables;
  std::map<std::string, std::string, std::less<>> m_originals;  // by our name
  std::vector<std::string> m_mentions;                          // of one command
  std::vector<std::string> m_host_reads;                        // included by the host's text
};

}  // namespace

unsigned PartGraph::devices() const {
  return static_cast<unsigned>(
      std::count_if(parts.begin(), parts.end(), [](const Part& part) { return part.kind == PartKind::device; }));
}

std::vector<std::string> argv_in(const std::vector<std::string>& words, std::string_view folder) {
  std::vector<std::string> result = words;
  for (std::string& word : result) {
    const std::size_t at = word.find(k_place);
    if (at != word.npos) word.replace(at, 1, folder);
  }
  return result;
}

std::variant<PartGraph, Whole> read_dry_run(std::string_view text) {
  try {
    return DryRunReader().read(text);
  } catch (const DryRunRefusal& refusal) {
    return Whole{refusal.why};
  }
}

}  // namespace wheelsmith::governor
