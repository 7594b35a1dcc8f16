#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "cache/compile.h"
#include "cache/path_map.h"
#include "governor/parts/clang_jobs.h"
#include "governor/parts/dry_run.h"
#include "governor/shim/compiler_facts.h"
#include "governor/shim/parts_run.h"
#include "governor/shim/shim.h"
#include "sys/process/process.h"
#include "sys/shared_folder.h"
#include "sys/terminal.h"

// A shim whose compile runs in parts. The shim then holds no grant: it tells the governor that its parts will ask, and
// waits for them. A compile that cannot be taken apart runs as a whole, and the record says why.

namespace wheelsmith::governor {

namespace {

constexpr auto k_dry_run_time = std::chrono::seconds(20);

sys::Environment environment_map(const std::vector<std::string>& entries) {
  sys::Environment environment;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals != entry.npos) environment[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return environment;
}

// clang's ID of a compile is a digest of its whole command, so the code for one GPU would be different beside another.
// This one is the same: of everything but the GPUs, with the names that -ffile-prefix-map gives to folders.
std::string compile_id(const std::vector<std::string>& argv) {
  cache::PathMap map;
  for (const std::string& word : argv) map.add_from(word);
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  std::string text = map.known(folder) + "\n";
  for (std::size_t i = 1; i < argv.size(); ++i) {
    if (argv[i] == "--offload-arch") {
      ++i;
    } else if (!argv[i].starts_with("--offload-arch=") && argv[i].find("-prefix-map=") == argv[i].npos) {
      text += map.known_text(argv[i]) + "\n";
    }
  }
  return to_hex(sha256(Bytes(text))).substr(0, 16);
}

// Whether a result contains lines of the source: for debuggers, or by tools that are not known here.
bool shows_lines(const PartGraph& graph) {
  return std::any_of(graph.parts.begin(), graph.parts.end(), [](const Part& part) {
    return std::any_of(part.argv.begin(), part.argv.end(), [](const std::string& word) {
      return (word.starts_with("-g") && word != "-g0" && !word.starts_with("-gencode")) || word == "-G" ||
             word.find("line-info") != word.npos || word.find("debug") != word.npos || word == "-C" || word == "-CC";
    });
  });
}

}  // namespace

std::variant<PartGraph, Whole> Shim::dry_run(const std::vector<std::string>& argv,
                                             const std::vector<std::string>& variables) const {
  const bool nvcc = m_command.kind == Kind::cuda;
  std::vector<std::string> question{m_real, nvcc ? "--dryrun" : "-###"};
  question.insert(question.end(), argv.begin() + 1, argv.end());
  const auto below =
      with_variables(environment_below(own_environment(), m_shims, std::string(k_passed_variable) + "=1"), variables);
  try {
    const sys::Captured said = sys::capture(
        {.argv = question, .environment = environment_map(below), .timeout = k_dry_run_time}, k_longest_dry_run);
    if (!said.exit.good() || !said.output.empty()) return Whole{"the compiler does not say what it would run"};
    return nvcc ? read_dry_run(said.errors) : read_clang_jobs(said.errors);
  } catch (const Error& error) {
    return Whole{error.what()};
  }
}

// What its options say about the dependency file. Nothing if they are not understood.
std::optional<PartDependencies> Shim::dependencies_of(const std::vector<std::string>& argv) const {
  cache::CompileRequest request;
  request.program = m_real;
  request.argv = argv;
  std::error_code error;
  request.folder = std::filesystem::current_path(error).string();
  for (const std::string& entry : own_environment()) {
    if (cache::is_compiler_variable(entry.substr(0, entry.find('=')))) request.environment.push_back(entry);
  }
  const cache::FileQuestions files{[](const std::string& name) { return read_response(name); }, {}};
  const auto read = cache::read_compile(request, files);
  const auto* compile = std::get_if<cache::Compile>(&read);
  const bool partly = std::find(argv.begin(), argv.end(), "-MMD") != argv.end();
  if (error || compile == nullptr || partly) return std::nullopt;
  return PartDependencies{compile->target, compile->phony};
}

// Nothing if it is to run as a whole.
std::optional<int> Shim::run_in_parts(CacheUse use) {
  m_parts_why.clear();
  const bool nvcc = m_command.kind == Kind::cuda && base_name(m_real) == "nvcc";
  const bool hip =
      m_command.kind == Kind::hip || (!m_command.sources.empty() && m_command.sources.front().ends_with(".hip"));
  if (!nvcc && !hip) return std::nullopt;
  if (is_compile_cache(m_real)) return std::nullopt;  // the build's own cache under the compiler's name
  const auto whole = [this](std::string why) {
    m_parts_why = std::move(why);
    return std::nullopt;
  };
  if (!m_command.compile_only || m_command.sources.size() != 1)
    return whole("it does not make one object of one source");
  if (!m_run.exchange.empty()) return whole("the build has several nodes");
  const bool may_keep = use == CacheUse::miss;
  std::vector<std::string> argv = nvcc ? with_threads(m_argv, 0) : m_argv;
  if (may_keep) argv = m_cache->argv(argv);
  const std::string id = hip && !chooses_compile_id(argv) ? "-cuid=" + compile_id(m_argv) : "";
  if (!id.empty()) argv.push_back(id);
  auto read = dry_run(argv, may_keep ? m_cache->environment({}) : std::vector<std::string>());
  if (const auto* why = std::get_if<Whole>(&read)) return whole(why->why);
  const PartGraph& graph = std::get<PartGraph>(read);
  PartDependencies dependencies;
  if (std::any_of(graph.parts.begin(), graph.parts.end(),
                  [](const Part& part) { return part.kind == PartKind::dependencies; })) {
    const auto known = dependencies_of(argv);
    if (!known) return whole("its options for dependencies are not known");
    dependencies = *known;
  }
  if (!announce_parts()) return std::nullopt;
  std::optional<PartsOutcome> outcome;
  try {
    const sys::VanishingFolder folder("wheelsmith-parts");
    PartSite site{m_shims,
                  m_run_file,
                  m_run,
                  folder.path().string(),
                  with_variables(own_environment(), graph.environment),
                  m_command.name(),
                  m_command.output,
                  m_token,
                  m_digests,
                  graph.archs,
                  shows_lines(graph)};
    for (const std::string& word : argv) {
      if (word.find("-prefix-map=") != word.npos) site.maps.push_back(word);
    }
    if (hip && may_keep) {
      site.offload = m_cache->request();
      site.offload->argv = m_argv;
      if (!id.empty()) site.offload->argv.push_back(id);
    }
    outcome = PartsRun(graph, std::move(site), dependencies).run();
  } catch (const Error& error) {
    return whole(error.what());
  }
  if (outcome->undecided) {
    remove_output();
    return whole("one of its parts ended unexpectedly");
  }
  if (may_keep) m_cache->add_headers(outcome->headers);
  if (may_keep && outcome->code == 0)
    use = m_cache->store(outcome->output, outcome->errors, outcome->cpu_ms + outcome->saved_ms);
  if (may_keep) m_cache->clean_up();
  if (outcome->ungoverned) note_ungoverned();
  report_parts(*outcome, outcome->code == 0 ? use : CacheUse::none);
  if (sys::output_and_errors_are_one()) {
    sys::write_standard(sys::Stream::errors, outcome->output + outcome->errors);
  } else {
    sys::write_standard(sys::Stream::output, outcome->output);
    sys::write_standard(sys::Stream::errors, outcome->errors);
  }
  return outcome->code;
}

bool Shim::announce_parts() {
  Connection& connection = m_grant.connection();
  if (!connection.is_open()) connection = connect_or_start(m_run, 1);
  if (m_token.empty()) m_token = sys::random_hex(8);
  Message message = question(Word::parts, false);
  message.fields["of"] = m_token;
  return connection.is_open() && connection.send(message);
}

void Shim::report_parts(const PartsOutcome& outcome, CacheUse use) {
  // The governor may have been killed meanwhile.
  Message message;
  while (m_grant.connection().is_open() && m_grant.connection().receive(message, 0) == Connection::Got::message) {}
  if (!m_grant.connection().is_open()) {
    m_grant.connection() = connect_to(m_run.runtime);
    if (!announce_parts()) return;
  }
  m_grant.done({Word::done,
                {{"exit", std::to_string(outcome.code)},
                 {"parts", std::to_string(outcome.parts)},
                 {"part_hits", std::to_string(outcome.hits)},
                 {"cpu", std::to_string(outcome.cpu_ms)},
                 {"saved", std::to_string(outcome.saved_ms)},
                 {"cache", std::string(enum_name(use))},
                 {"cache_why", m_cache ? m_cache->why().substr(0, 500) : ""},
                 {"remote_failed", m_cache && m_cache->remote_failed() ? "1" : "0"}}},
               false);
}

}  // namespace wheelsmith::governor
