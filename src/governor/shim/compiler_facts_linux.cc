#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "cache/compile.h"
#include "cache/texts.h"
#include "cache/words.h"
#include "governor/shim/compiler_facts.h"
#include "governor/shim/shim.h"
#include "sys/file_state.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::governor {

namespace {

namespace fs = std::filesystem;

constexpr auto k_question_time = std::chrono::seconds(20);
constexpr std::array<std::string_view, 5> k_caches{"ccache", "sccache", "buildcache", "distcc", "icecc"};
constexpr std::array<std::string_view, 9> k_target_words{
    "--sysroot", "-m32", "-mx32", "-m64", "--target", "-stdlib=", "-nostdinc", "--gcc-toolchain", "--gcc-install-dir"};

std::string ask(const std::string& shims, const std::vector<std::string>& argv) {
  sys::Environment environment;
  for (const std::string& entry : environment_below(own_environment(), shims, std::string(k_passed_variable) + "=1")) {
    const std::size_t equals = entry.find('=');
    if (equals != entry.npos) environment[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LANG", "LANGUAGE"})
    environment.erase(name);
  environment["LC_ALL"] = "C";
  const sys::Captured said =
      sys::capture({.argv = argv, .environment = environment, .timeout = k_question_time}, 4 << 20);
  return said.exit.good() ? said.errors + said.output : "";
}

std::vector<std::string> target_words(const std::vector<std::string>& argv) {
  std::vector<std::string> words;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const bool takes_next = argv[i] == "-isysroot" || argv[i] == "-target" || argv[i] == "--sysroot";
    const bool chosen = std::any_of(k_target_words.begin(), k_target_words.end(),
                                    [&](std::string_view word) { return argv[i].starts_with(word); });
    if (!chosen && !takes_next) continue;
    words.push_back(argv[i]);
    if (takes_next && i + 1 < argv.size()) words.push_back(argv[++i]);
  }
  return words;
}

std::string_view language_of(std::string_view program, std::string_view source) {
  const std::string_view name = base_name(program);
  return source.ends_with(".c") && name.find("++") == name.npos ? "c" : "c++";
}

std::string in_path(const std::string& name) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  return sys::find_program(name, path == nullptr ? "" : path).string();
}

}  // namespace

bool is_compile_cache(const std::string& program) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  if (error || is_one_of(real.filename().string(), k_caches)) return true;
  std::array<char, 4096> head{};
  const auto size = sys::read_start(real.c_str(), head);
  if (!size) return true;
  const std::string_view text(head.data(), *size);
  return text.starts_with("#!") && (text.find("ccache ") != text.npos || text.find("sccache ") != text.npos);
}

CompilerFacts CompilerFacts::from_verbose(std::string_view text) {
  CompilerFacts facts;
  bool searches = false;
  bool is_version = false;
  for (const std::string_view line : lines(text)) {
    if (line.find("search starts here:") != line.npos) {
      searches = true;
    } else if (line.starts_with("End of search list.")) {
      searches = false;
    } else if (searches) {
      facts.search.emplace_back(trim(line));
    } else if (line.starts_with(' ')) {
      const std::vector<std::string> words = cache::split_words(line);
      const std::string_view name = words.empty() ? std::string_view() : base_name(words.front());
      const bool clang = words.size() > 1 && words[1] == "-cc1";
      if ((clang || name.starts_with("cc1")) && facts.tools.empty()) facts.tools.push_back(words.front());
    } else {
      const bool version = line.find("gcc version ") != line.npos || line.find("clang version ") != line.npos;
      is_version = is_version || version;
      if (version || line.starts_with("Target:") || line.starts_with("Thread model:") ||
          line.starts_with("Configured with:"))
        facts.identity += std::string(line) + "\n";
    }
  }
  if (!is_version || facts.search.empty()) return {};
  return facts;
}

CompilerFacts CompilerFacts::from_nvcc(std::string_view version, std::string_view dry_run) {
  CompilerFacts facts;
  if (version.find("release") == version.npos) return {};
  facts.identity = version;
  std::string top;
  for (const std::string_view line : lines(dry_run)) {
    constexpr std::string_view k_top = "#$ TOP=";
    if (line.starts_with(k_top)) top = trim(line.substr(k_top.size()));
    if (!line.starts_with("#$ INCLUDES=") && !line.starts_with("#$ SYSTEM_INCLUDES=")) continue;
    for (const std::string& word : cache::split_words(line.substr(line.find('=') + 1))) {
      if (word.starts_with("-I/")) facts.search.push_back(word.substr(2));
      if (word.starts_with('/')) facts.search.push_back(word);
    }
  }
  if (top.empty() || facts.search.empty()) return {};
  for (const char* name : {"/nvvm/bin/cicc", "/bin/ptxas", "/bin/cudafe++", "/bin/fatbinary", "/bin/nvcc",
                           "/nvvm/libdevice/libdevice.10.bc"}) {
    std::error_code error;
    if (fs::is_regular_file(top + name, error)) facts.tools.push_back(top + name);
  }
  return facts;
}

CompilerFacts compiler_facts(const std::string& shims, const RunFile& run, const std::string& program,
                             const std::vector<std::string>& argv, std::string_view source) {
  const sys::FileState state(program);
  if (state.key().empty()) return {};
  const bool nvcc = cache::is_nvcc(program);
  const std::string_view language = language_of(program, source);
  const std::vector<std::string> target = nvcc ? std::vector<std::string>() : target_words(argv);
  const std::string about = program + "\n" + state.key() + "\n" + std::string(language) + "\n" + join(target, "\n");
  const fs::path file =
      (run.versions.empty() ? fs::path(shims) / "versions" : run.versions) / to_hex(sha256(Bytes(about))).substr(0, 16);
  CompilerFacts facts;
  if (const auto known = read_response(file.string())) {
    try {
      cache::TextReader reader(*known);
      facts.identity = reader.text();
      facts.tools = reader.list();
      facts.search = reader.list();
      return facts;
    } catch (const Error&) {  // truncated, or from another version: query again
      facts = {};
    }
  }
  if (!is_compile_cache(program)) {
    try {
      if (nvcc) {
        facts = CompilerFacts::from_nvcc(
            ask(shims, {program, "--version"}),
            ask(shims, {program, "--dryrun", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null"}));
      } else {
        std::vector<std::string> question{program};
        question.insert(question.end(), target.begin(), target.end());
        question.insert(question.end(), {"-E", "-v", "-x", std::string(language), "/dev/null"});
        facts = CompilerFacts::from_verbose(ask(shims, question));
        const std::string assembler = in_path("as");
        if (!facts.identity.empty() && !assembler.empty()) facts.tools.push_back(assembler);
      }
    } catch (const Error&) {  // it cannot be started: unknown, so not cached
      facts = {};
    }
  }
  if (!state.key_to_keep()) return facts;
  try {
    sys::make_folders(file.parent_path());
    sys::write_file(file, cache::TextWriter().add(facts.identity).add(facts.tools).add(facts.search).take());
  } catch (const Error&) {  // best effort: queried again the next time
  }
  return facts;
}

}  // namespace wheelsmith::governor
