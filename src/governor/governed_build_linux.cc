#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cache/broker.h"
#include "governor/governor.h"
#include "governor/server/connection.h"
#include "governor/server/nodes_file.h"
#include "governor/shim/shim_folder.h"
#include "slurm/node_step.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/wait.h"
#include "sys/process/foreground.h"

namespace wheelsmith::governor {

namespace {

std::string new_id() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  tm utc{};
  ::gmtime_r(&time.tv_sec, &utc);
  std::array<char, 32> text{};
  ::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &utc);
  // Its holder can act for the build, so it must not be guessable.
  std::uint64_t secret = 0;
  if (::getrandom(&secret, sizeof secret, 0) != sizeof secret) throw Error("the kernel provides no random numbers");
  return fmt::format("{}-{:03}-{}-{:016x}", text.data(), time.tv_nsec / 1'000'000, ::getpid(), secret);
}

// "-j8", "-j 8", "--jobs=8" in MAKEFLAGS; nothing without one, 0 for -j without a number.
std::optional<unsigned> jobs_in_makeflags(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ' ');
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view number;
    if (words[i].starts_with("--jobs=")) {
      number = words[i].substr(7);
    } else if (words[i] == "-j" && i + 1 < words.size()) {
      number = words[i + 1];
    } else if (words[i].starts_with("-j")) {
      number = words[i].substr(2);
    } else {
      continue;
    }
    return static_cast<unsigned>(std::min<std::uint64_t>(to_number(number).value_or(0), 1 << 20));
  }
  return std::nullopt;
}

std::filesystem::path policy_file_of(const std::filesystem::path& run_file) { return run_file.string() + ".policy"; }

}  // namespace

unsigned offered_jobs(unsigned cores) { return 2 * cores + 14; }

struct GovernedBuild::State {
  Options options;
  RunFile run;
  std::filesystem::path shims, run_file, shim_folder, program;
  Connection connection;
  Message status;
  double tried_at = 0;
  std::optional<cache::Broker> broker;

  // A build without a usable cache still works. "" or why there is none.
  std::string open_cache() {
    if (!options.cache.enabled) return "";
    // In a separate folder: sandboxed builds see it and nothing else of the runtime folder.
    const std::filesystem::path folder = run_file.string() + ".cache";
    try {
      sys::make_folders(folder);
      broker.emplace(options.cache, folder / "socket");
      run.cache = folder / "socket";
      return "";
    } catch (const Error& error) {
      sys::remove_tree(folder);
      return error.what();
    }
  }

  bool connect(double seconds) {
    tried_at = now();
    RunFile ours = run;
    if (ours.program.empty()) ours.program = program;
    connection = seconds > 0 ? connect_or_start(ours, seconds) : connect_to(run.runtime);
    return connection.is_open() && connection.send({Word::hello, {{"run", run_file.string()}}});
  }
};

GovernedBuild::GovernedBuild(const store::Store& store, Options options) : m_state(std::make_unique<State>()) {
  State& state = *m_state;
  const std::string id = new_id();
  state.options = std::move(options);
  state.run.id = id;
  state.run.name = state.options.name;
  state.run.jobs = state.options.jobs;
  state.run.cores = state.options.cores;
  state.run.memory = state.options.memory;
  state.run.parts = state.options.parts;
  const std::filesystem::path logs = store.folder("logs");
  state.run.record = std::filesystem::absolute(
      state.options.record.empty() ? logs / fmt::format("compiles-{}.jsonl", id) : state.options.record);
  state.run.units = store.folder("units");
  state.run.runtime = runtime_folder();
  state.program = state.options.program.empty() ? sys::own_executable() : state.options.program;
  if (state.options.confined.empty()) state.run.program = state.program;
  state.run.versions = state.options.confined;
  state.shims = store.folder("shims");
  state.run_file = state.run.runtime / fmt::format("run-{}", id);
  if (!state.options.nodes.empty()) state.run.exchange = state.options.exchange;
  const std::string cache_problem = state.open_cache();
  state.run.write(state.run_file);
  document::Table line;
  line["event"] = "build";
  line["at"] = sys::unix_seconds();
  line["schema"] = 1;
  line["id"] = id;
  line["name"] = state.options.name;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread sets it
  if (const char* node = std::getenv("SLURMD_NODENAME"); node != nullptr) line["node"] = node;
  line["jobs"] = state.run.jobs;
  line["cores"] = state.run.cores == 0 ? usable_threads() : state.run.cores;
  line["memory"] = state.run.memory;
  if (!state.options.nodes.empty()) {
    document::Array nodes;
    for (const NodeRoom& node : state.options.nodes) nodes.emplace_back(node.name);
    line["other_nodes"] = std::move(nodes);
  }
  if (!cache_problem.empty()) line["cache_problem"] = cache_problem;
  ::unlink(state.run.record.c_str());  // left by another build
  if (!append_record(state.run.record, line)) {
    throw Error(fmt::format("cannot write the compile record {}", printable(state.run.record.string())));
  }
  if (!state.connect(10)) throw Error("cannot start the governor; is " + state.run.runtime.string() + " writable?");
}

GovernedBuild::~GovernedBuild() {
  ::unlink(m_state->run_file.c_str());
  if (!m_state->options.nodes.empty()) {
    ::unlink(nodes_file_of(m_state->run_file).c_str());
    ::unlink(policy_file_of(m_state->run_file).c_str());
  }
  m_state->broker.reset();
  std::error_code error;
  if (!m_state->run.cache.empty()) std::filesystem::remove(m_state->run.cache.parent_path(), error);
}

void GovernedBuild::govern(sys::Environment& environment) {
  State& state = *m_state;
  const ShimFolder folder(state.shims, environment, state.program);
  folder.enter(environment);
  state.shim_folder = folder.path();
  environment[k_run_variable] = state.run_file.string();

  // A user's setting is the upper limit; otherwise build systems get a number that always leaves the governor several
  // compiles to choose from.
  unsigned most = state.run.jobs;
  const auto bound = [&most](unsigned jobs) {
    if (jobs != 0) most = most == 0 ? jobs : std::min(most, jobs);
  };
  for (const char* name : {"MAX_JOBS", "CMAKE_BUILD_PARALLEL_LEVEL"}) {
    if (const auto found = environment.find(name); found != environment.end())
      bound(static_cast<unsigned>(std::min<std::uint64_t>(to_number(found->second).value_or(0), 1 << 20)));
  }
  const auto flags = environment.find("MAKEFLAGS");
  const auto make_jobs = flags == environment.end() ? std::nullopt : jobs_in_makeflags(flags->second);
  if (make_jobs) bound(*make_jobs);
  unsigned cores = state.run.cores == 0 ? usable_threads() : state.run.cores;
  for (const NodeRoom& node : state.options.nodes) cores += node.cores;
  const unsigned offered = most != 0 ? most : offered_jobs(cores);
  environment["MAX_JOBS"] = environment["CMAKE_BUILD_PARALLEL_LEVEL"] = std::to_string(offered);
  if (!make_jobs) {
    std::string& words = environment["MAKEFLAGS"];
    words += fmt::format("{}-j{}", words.empty() ? "" : " ", offered);
  }
  if (most != state.run.jobs) {
    state.run.jobs = most;
    state.run.write(state.run_file);
    state.connection.send({Word::hello, {{"run", state.run_file.string()}}});
  }
}

const Message& GovernedBuild::status() {
  State& state = *m_state;
  Message message;
  for (;;) {
    const Connection::Got got = state.connection.receive(message, 0);
    if (got == Connection::Got::message) {
      if (message.word == Word::status) state.status = message;
    } else if (got == Connection::Got::nothing) {
      break;
    } else {
      // It was killed. Shims start the next one when they need it; without shims, we do.
      const double since = now() - state.tried_at;
      if (since > 0.5) state.connect(since > 3 ? 1 : 0);
      break;
    }
  }
  return state.status;
}

Places GovernedBuild::places() const {
  const State& state = *m_state;
  Places places;
  places.readable = {state.run_file, socket_path(state.run.runtime).parent_path()};
  if (!state.shim_folder.empty()) places.readable.push_back(state.shim_folder);
  if (!state.run.cache.empty()) places.readable.push_back(state.run.cache.parent_path());
  return places;
}

Places GovernedBuild::places_elsewhere() const {
  Places places;
  if (!m_state->shim_folder.empty()) places.readable.push_back(m_state->shim_folder);
  return places;
}

void GovernedBuild::confine_elsewhere(const sys::SandboxPolicy& policy) {
  State& state = *m_state;
  if (state.options.nodes.empty()) return;
  const sys::Command command =
      sys::in_sandbox({.argv = {sys::own_executable().string(), "node-compile"}, .input = ""}, policy);
  NodesFile file;
  file.nodes = state.options.nodes;
  file.launcher = sys::find_program("srun").string();
  if (file.launcher.empty()) throw Error("there is no program srun in PATH, which starts compiles on other nodes");
  file.command = command.argv;
  for (const auto& [name, value] : sys::current_environment()) {
    if (slurm::is_srun_variable(name)) file.environment.push_back(fmt::format("{}={}", name, value));
  }
  if (!command.input.empty()) {
    file.input = policy_file_of(state.run_file);
    sys::write_private_file(file.input, command.input);
  }
  file.write(nodes_file_of(state.run_file));
  const bool private_tmp = policy.mode == sys::SandboxMode::namespaces;
  if (state.run.private_tmp != private_tmp) {
    state.run.private_tmp = private_tmp;
    state.run.write(state.run_file);
  }
  state.connection.send({Word::hello, {{"run", state.run_file.string()}}});
}

const sys::Fd& GovernedBuild::news() const { return m_state->connection.fd(); }
const std::filesystem::path& GovernedBuild::record() const { return m_state->run.record; }

std::optional<std::set<std::string>> GovernedBuild::files_read(const Summary& summary) const {
  const bool all_seen = summary.compiles != 0 && summary.failed == 0 && summary.unreported == 0 &&
                        summary.ungoverned == 0 && summary.unreached.empty();
  if (!m_state->broker || !all_seen) return std::nullopt;
  cache::FilesRead read = m_state->broker->files_read();
  if (!read.complete || read.digests.empty()) return std::nullopt;
  return std::move(read.digests);
}

Summary GovernedBuild::finish(int exit) {
  State& state = *m_state;
  if (state.connection.send({Word::end, {}})) {
    Message message;
    const double until = now() + 2;
    while (now() < until && message.word != Word::ended &&
           state.connection.receive(message, 200) != Connection::Got::end) {}
  }
  state.connection.close();
  if (!state.options.earlier.empty()) {
    for (const document::Table& line : kept_lines(state.run.record, state.options.earlier))
      append_record(state.run.record, line);
  }
  if (!state.run.cache.empty()) {
    const CacheCounts counts = summarize(state.run.record).cache;
    document::Value cache = counts.to_value();
    (*cache.table())["event"] = "cache";
    if (counts.any()) append_record(state.run.record, *cache.table());
  }
  document::Table line;
  line["event"] = "end";
  line["at"] = sys::unix_seconds();
  line["exit"] = exit;
  append_record(state.run.record, line);
  return summarize(state.run.record);
}

int run_command(const std::vector<std::string>& argv, const sys::Environment& environment, GovernedBuild& governed) {
  const auto path = environment.find("PATH");
  const std::filesystem::path program =
      sys::find_program(argv.front(), path == environment.end() ? "/bin:/usr/bin" : path->second);
  if (program.empty()) {
    std::fprintf(stderr, "wheelsmith: error: %s not found\n", printable(argv.front()).c_str());
    return 127;
  }
  sys::ForegroundCommand command{program, argv, {}};
  for (const auto& [name, value] : environment) command.environment.push_back(name + "=" + value);
  command.default_signals = {SIGTERM, SIGPIPE};
  // An interrupt from the keyboard also reaches the command, which decides how to react.
  for (const int number : {SIGINT, SIGQUIT}) {
    if (::signal(number, SIG_IGN) != SIG_IGN) command.default_signals.push_back(number);
  }
  sys::ForegroundProcess process(command);
  if (const int error = process.start_error(); error != 0)
    std::fprintf(stderr, "wheelsmith: error: cannot start %s: %s\n", program.c_str(), std::strerror(error));
  sys::install_interrupt_flag();
  ::signal(SIGINT, SIG_IGN);
  for (bool told = false;;) {
    if (const auto exit = process.poll()) return exit->code;
    if (sys::interrupted() && !std::exchange(told, true)) process.signal(SIGTERM);
    std::array<sys::Waiting, 2> waiting{{{&process.end()}, {&governed.news()}}};
    sys::wait_readable(waiting, process.end().is_open() ? 500 : 20);
    governed.status();
  }
}

}  // namespace wheelsmith::governor
