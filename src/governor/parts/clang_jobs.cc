#include "governor/parts/clang_jobs.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "governor/parts/shell_words.h"

// clang compiles HIP as several commands, too, and `clang -###` prints them: for each GPU the compiler (-cc1) and lld,
// then clang-offload-bundler, then the compiler for the host. Each reads the source itself, so nothing is preprocessed
// twice; which headers a GPU's code needs is told by the list that -cc1 writes (-dependency-file).
//
// As for nvcc, only what is known is taken apart. Relocatable device code has other steps and stays whole.

namespace wheelsmith::governor {

namespace {

struct JobsRefusal {
  std::string why;
};

// "k-gfx90a.o" of "/tmp/k-gfx90a-1a2e7a.o", clang's pattern for temporary files; "" for other names.
std::string without_random(const std::string& path) {
  const std::string name(base_name(path));
  const std::size_t dot = name.rfind('.');
  if (!path.starts_with('/') || dot == name.npos || dot < 8 || name[dot - 7] != '-') return {};
  const std::string_view random = std::string_view(name).substr(dot - 6, 6);
  if (random.find_first_not_of("0123456789abcdef") != random.npos) return {};
  return name.substr(0, dot - 7) + name.substr(dot);
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class JobsReader {
 public:
  PartGraph read(std::string_view text) {
    for (const std::string_view line : lines(text)) {
      if (line.starts_with(" \"")) {
        auto words = shell_words(line);
        if (!words || words->size() < 2) throw JobsRefusal{"clang runs a command that cannot be read"};
        command(std::move(*words));
      } else if (!is_heading(line)) {
        if (!m_graph.parts.empty()) throw JobsRefusal{"clang printed a message between its commands"};
        m_graph.messages += std::string(line) + "\n";
      }
    }
    finish();
    return std::move(m_graph);
  }

 private:
  // Only -### prints these.
  static bool is_heading(std::string_view line) {
    if (trim(line).empty() || line.find("clang version ") != line.npos) return true;
    for (const std::string_view start : {"Target:", "Thread model:", "InstalledDir:", "Configuration file:", "Found ",
                                         "Selected ", "Candidate ", "Build config:", " (in-process)"}) {
      if (line.starts_with(start)) return true;
    }
    return false;
  }

  // The name of a temporary file, which some command before must have made unless `writes`.
  std::string temporary(const std::string& path, bool writes) {
    const auto known = m_names.find(path);
    if (known != m_names.end()) {
      if (writes) throw JobsRefusal{"two commands write the same file"};
      return known->second;
    }
    const std::string name = without_random(path);
    if (!writes || name.empty()) throw JobsRefusal{"a command reads or writes a file that is not known"};
    for (const PartFile& file : m_graph.files) {
      if (file.name == name) throw JobsRefusal{"two temporary files have the same name"};
    }
    m_graph.files.push_back({name, path});
    return m_names[path] = name;
  }
  static std::string placed(const std::string& name) { return std::string(k_place) + name; }

  static std::string& value(std::vector<std::string>& words, std::string_view option) {
    const auto found = std::find(words.begin(), words.end(), option);
    if (found == words.end() || found + 1 == words.end()) throw JobsRefusal{"a command has no " + std::string(option)};
    if (std::find(found + 1, words.end(), option) != words.end())
      throw JobsRefusal{"a command has " + std::string(option) + " twice"};
    return *(found + 1);
  }

  void command(std::vector<std::string> words) {
    if (m_done) throw JobsRefusal{"it links"};
    const std::string_view tool = base_name(words.front());
    if (words[1] == "-cc1" && has(words, "-fcuda-is-device")) {
      device(std::move(words));
    } else if (words[1] == "-cc1") {
      host(std::move(words));
    } else if (tool.starts_with("lld") || tool.starts_with("ld.lld")) {
      link(std::move(words));
    } else if (tool.starts_with("clang-offload-bundler")) {
      bundle(std::move(words));
    } else {
      throw JobsRefusal{"it links, or runs a command that is not known"};
    }
  }

  void check_source(const std::vector<std::string>& words) {
    if (!has(words, "-emit-obj") || words.size() < 3 || words[words.size() - 3] != "-x" ||
        words[words.size() - 2] != "hip")
      throw JobsRefusal{"it does not compile HIP to an object"};
    if (!m_graph.source.empty() && m_graph.source != words.back()) throw JobsRefusal{"it has more than one source"};
    m_graph.source = words.back();
    for (const std::string& word : words) {
      if (word.starts_with("-save-temps") || word.find(k_place.front()) != word.npos)
        throw JobsRefusal{"it keeps temporary files"};
    }
  }

  void device(std::vector<std::string> words) {
    check_source(words);
    Part part;
    part.kind = PartKind::device;
    std::string& output = value(words, "-o");
    m_object = output;
    const std::string name = temporary(output, true);
    output = placed(name);
    part.headers = name + ".d";
    if (has(words, "-dependency-file")) {
      value(words, "-dependency-file") = placed(part.headers);
    } else {
      words.insert(words.begin() + 2, {"-dependency-file", placed(part.headers), "-MT", "o"});
    }
    if (!has(words, "-sys-header-deps")) words.insert(words.begin() + 2, "-sys-header-deps");
    part.argv = std::move(words);
    m_graph.parts.push_back(std::move(part));
  }

  // Follows its compiler: both are one part.
  void link(std::vector<std::string> words) {
    if (m_object.empty() || m_graph.parts.empty() || words.size() < 3 || words[1] != "-flavor" || words[2] != "gnu")
      throw JobsRefusal{"lld runs without a compiler before it"};
    Part& part = m_graph.parts.back();
    const auto input = std::find(words.begin(), words.end(), m_object);
    if (input == words.end()) throw JobsRefusal{"lld does not read what the compiler wrote"};
    *input = placed(m_names[m_object]);
    std::string& output = value(words, "-o");
    const std::string name = temporary(output, true);
    output = placed(name);
    part.then = std::move(words);
    part.writes = {name};
    m_object.clear();
  }

  void bundle(std::vector<std::string> words) {
    Part part;
    part.kind = PartKind::bundle;
    std::vector<std::string> inputs;
    std::vector<std::string> targets;
    for (std::string& word : words) {
      if (word.starts_with("-input=")) {
        inputs.push_back(word.substr(7));
        if (inputs.back() == "/dev/null") continue;
        part.reads.push_back(temporary(inputs.back(), false));
        word = "-input=" + placed(part.reads.back());
      } else if (word.starts_with("-output=")) {
        part.writes.push_back(temporary(word.substr(8), true));
        word = "-output=" + placed(part.writes.back());
      } else if (word.starts_with("-targets=")) {
        for (const std::string_view target : split(std::string_view(word).substr(9), ',')) targets.emplace_back(target);
      }
    }
    if (part.writes.size() != 1 || inputs.size() != targets.size()) throw JobsRefusal{"the bundle has an unusual form"};
    name_archs(inputs, targets);
    part.argv = std::move(words);
    m_graph.parts.push_back(std::move(part));
  }

  // "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+" says what --offload-arch was.
  void name_archs(const std::vector<std::string>& inputs, const std::vector<std::string>& targets) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::size_t dashes = targets[i].rfind("--");
      if (inputs[i] == "/dev/null") continue;
      if (!targets[i].starts_with("hip") || dashes == std::string::npos)
        throw JobsRefusal{"the bundle has an unusual target"};
      for (Part& part : m_graph.parts) {
        if (has(part.writes, m_names[inputs[i]])) part.arch = targets[i].substr(dashes + 2);
      }
    }
  }

  void host(std::vector<std::string> words) {
    check_source(words);
    Part part;
    part.kind = PartKind::host;
    std::string& binary = value(words, "-fcuda-include-gpubinary");
    part.reads = {temporary(binary, false)};
    binary = placed(part.reads.front());
    std::string& output = value(words, "-o");
    if (!without_random(output).empty()) throw JobsRefusal{"it links"};
    part.output = output;
    output = placed("result");
    part.argv = std::move(words);
    m_graph.parts.push_back(std::move(part));
    m_done = true;
  }

  void finish() {
    if (!m_done || m_graph.devices() == 0) throw JobsRefusal{"clang does not compile for a GPU here"};
    for (const Part& part : m_graph.parts) {
      if (part.kind == PartKind::device && (part.arch.empty() || part.then.empty()))
        throw JobsRefusal{"device code is not put into the bundle"};
    }
  }

  PartGraph m_graph;
  std::map<std::string, std::string> m_names;  // of temporary files, by path
  std::string m_object;                        // of the compiler before, for lld
  bool m_done = false;
};

}  // namespace

std::variant<PartGraph, Whole> read_clang_jobs(std::string_view text) {
  try {
    return JobsReader().read(text);
  } catch (const JobsRefusal& refusal) {
    return Whole{refusal.why};
  }
}

bool chooses_compile_id(const std::vector<std::string>& argv) {
  return std::any_of(argv.begin(), argv.end(), [](const std::string& word) {
    return word.starts_with("-cuid=") || word.starts_with("-fuse-cuid") || word.starts_with("@");
  });
}

std::optional<std::vector<std::string>> offload_request(const std::vector<std::string>& argv, const std::string& arch,
                                                        const std::string& output, const std::string& headers) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    // Options that select devices in other ways.
    for (const std::string_view other :
         {"@", "--no-offload-arch", "--cuda-", "-Xarch_", "-Xopenmp-target", "--offload="}) {
      if (i > 0 && word.starts_with(other)) return std::nullopt;
    }
    if (word == "--offload-arch" || word == "-o" || word == "-MF" || word == "-MT" || word == "-MQ") {
      ++i;
    } else if (word.starts_with("-o") && i > 0) {
      return std::nullopt;  // -oFILE, or another option
    } else if (word.starts_with("--offload-arch=") || word.starts_with("--cuda-gpu-arch=") || word.starts_with("-M")) {
      continue;
    } else {
      words.push_back(word);
    }
  }
  words.insert(words.end(), {"--offload-arch=" + arch, "--cuda-device-only", "-MD", "-MF", headers, "-o", output});
  return words;
}

}  // namespace wheelsmith::governor
