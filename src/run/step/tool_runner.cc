#include "run/step/tool_runner.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/parallel.h"
#include "base/text.h"
#include "diagnose/line.h"
#include "run/failure_finder.h"
#include "source/git/git.h"
#include "source/git/mirrors.h"
#include "source/worktree/history.h"
#include "sys/file.h"
#include "sys/files.h"
#include "toolchain/library/library.h"

namespace wheelsmith::run {

namespace data {
extern const std::string_view backend_py, parallel_py;
}

namespace {

constexpr std::size_t k_longest_line = 1 << 20;
constexpr std::array k_own_folders = {"source", "home", "tmp", "dist", "answer", "fetched", "versions"};

struct Backend {
  std::string name = "setuptools.build_meta:__legacy__";
  std::vector<std::string> path;
};

Backend read_backend(const std::filesystem::path& source) {
  Backend backend;
  const auto text = sys::read_file_if_there(source / "pyproject.toml", 16 << 20);
  if (!text) return backend;
  const document::Table pyproject = document::parse_toml(*text, "pyproject.toml");
  const document::Value* build_system = pyproject.find("build-system");
  if (build_system == nullptr) return backend;
  if (const std::string* name = (*build_system)["build-backend"].text()) backend.name = *name;
  backend.path = (*build_system)["backend-path"].texts();
  for (const std::string& folder : backend.path) {
    if (folder.starts_with('/') || folder.find("..") != folder.npos)
      throw Error(fmt::format("pyproject.toml: backend-path {} points outside the source", printable(folder)));
  }
  return backend;
}

// Collects a tool's output into whole lines: it may write a line in pieces.
class OutputReader {
 public:
  explicit OutputReader(bool verbose) : m_verbose(verbose) {}

  void feed(std::string_view text) {
    m_partial += text;
    const std::size_t end = m_partial.rfind('\n');
    if (end == m_partial.npos) {
      if (m_partial.size() > k_longest_line) m_partial.clear();
      return;
    }
    if (m_verbose) Reporter::tell({.kind = Event::Kind::output, .step = "", .text = m_partial.substr(0, end + 1)});
    std::optional<diagnose::Progress> newest;
    for (const std::string_view line : lines(std::string_view(m_partial).substr(0, end))) {
      if (const auto progress = diagnose::read_progress(line)) newest = progress;
    }
    m_partial.erase(0, end + 1);
    if (newest)
      Reporter::tell(
          {.kind = Event::Kind::progress, .step = "", .text = "", .done = newest->done, .total = newest->total});
  }

 private:
  bool m_verbose;
  std::string m_partial;
};

}  // namespace

ToolRunner::ToolRunner(const Job& job, const recipe::Rules& rules, const SourceTree& tree,
                       const BuildEnvironment& environment, const StepServices& services)
    : m_job(job),
      m_tree(tree),
      m_environment(environment),
      m_services(services),
      m_rules(rules),
      m_sandbox(job.spec.source.kind == source::Pin::Kind::program ? sys::SandboxMode::off : sandbox_mode(job.sandbox)),
      m_network_isolated(!job.spec.network && (m_sandbox == sys::SandboxMode::namespaces ||
                                               m_sandbox == sys::SandboxMode::landlock || sys::can_isolate_network())) {
  if (!job.mirrors.empty())
    m_git_variables = source::repositories_for(services.fetcher, services.store).build_variables();
  for (const char* folder : k_own_folders) sys::make_folders(tree.tree / folder);
  const std::string shortage = sandbox_shortage(m_sandbox, job.sandbox.mode != "auto");
  if (!shortage.empty() && job.spec.source.kind != source::Pin::Kind::program) services.report.note(shortage);
  // Packing this program compiles nothing.
  if (job.spec.source.kind != source::Pin::Kind::program) govern(rules);
}

ToolRunner::~ToolRunner() = default;

Confinement ToolRunner::confinement() const { return {m_sandbox, m_network_isolated}; }

// The step's own folders are writable one by one: their parent holds files that the package must not change, because
// later steps and runs trust them (the tree's state, compiler links, the driver).
sys::SandboxPolicy ToolRunner::policy(bool network, bool elsewhere) const {
  const plan::BuildSpec& spec = m_job.spec;
  PolicyMaker maker(m_job.sandbox, m_services.store.roots());
  maker.read(m_tree.tree);
  for (const char* folder : k_own_folders) maker.write(m_tree.tree / folder);
  if (spec.editable) {
    maker.write(m_tree.source);
    maker.write(spec.python.prefix);
  }
  // From the user's folder, not from the copy, which could have been changed.
  if (spec.source.incremental) {
    for (const std::filesystem::path& objects : source::borrowed_objects(spec.source.folder)) maker.read(objects);
  }
  maker.temporary(m_tree.tree / "tmp");
  maker.network(spec.network || network);
  maker.python(spec.python);
  maker.read(m_environment.environment.root);
  for (const std::filesystem::path& site : m_environment.sites) maker.site(site);
  if (!spec.environment.isolated) {
    for (const std::filesystem::path& site : spec.python.sites) maker.site(site);
  }
  if (!m_environment.toolkit.empty()) maker.read(m_environment.toolkit);
  if (!m_environment.rocm.empty()) maker.read(m_environment.rocm);
  // torch's own code reported torch's location, so it is trusted only inside paths that are visible anyway, or where
  // the user's own environment has it.
  if (m_environment.torch && m_environment.sites.empty() && !spec.environment.isolated)
    maker.read(m_environment.torch->folder);
  for (const std::string& tool : {spec.tools.cc, spec.tools.cxx}) maker.program(tool);
  for (const auto& [name, path] : spec.tools.programs) maker.program(path);
  for (const toolchain::Library& library : spec.tools.libraries) {
    if (!library.header.empty()) maker.read(toolchain::include_folder(library));
    if (!library.file.empty()) maker.read(library.file.parent_path());
  }
  for (const auto& [name, value] : spec.variables.loose) {
    if (name == "RUSTUP_HOME") maker.read(value);
  }
  for (const auto& [from, to] : m_job.mirrors) {
    if (source::is_local(to)) maker.read(source::local_folder(to));
  }
  if (const auto config = m_git_variables.find("GIT_CONFIG_GLOBAL"); config != m_git_variables.end())
    maker.read(config->second);
  if (m_governed) {
    const governor::Places places = elsewhere ? m_governed->places_elsewhere() : m_governed->places();
    for (const std::filesystem::path& path : places.readable) maker.read(path);
    for (const std::filesystem::path& path : places.writable) maker.write(path);
  }
  maker.opened_by_recipe(m_rules.open);
  sys::SandboxPolicy policy = maker.policy();
  policy.mode = m_sandbox;
  return policy;
}

toolchain::Host ToolRunner::confined_host() const {
  toolchain::Host host = m_services.host;
  if (m_sandbox != sys::SandboxMode::off)
    host.confine = [policy = policy(false)](const sys::Command& command) { return sys::in_sandbox(command, policy); };
  return host;
}

std::string ToolRunner::with_paths(std::string text) const {
  replace_all(text, "${rocm}", (m_tree.tree / "rocm").string());
  replace_all(text, "${tree}", m_tree.tree.string());
  replace_all(text, "${env}", m_environment.environment.root.string());
  replace_all(text, "${toolkit}", m_environment.toolkit.string());
  replace_all(text, "${torch}", m_environment.torch ? m_environment.torch->folder.string() : "");
  replace_all(text, "${store}", m_services.store.root().string());
  replace_all(text, "${jobs}", std::to_string(jobs()));
  return text;
}

sys::Environment ToolRunner::plain_variables(bool network) const {
  sys::Environment result;
  for (const auto& [name, value] : m_job.spec.variables.fixed) result[name] = with_paths(value);
  for (const auto& [name, value] : m_job.spec.variables.loose) result[name] = with_paths(value);
  const bool open = m_job.spec.network || network;
  if (!open && !m_network_isolated) {
    // The kernel forbids namespaces here. A dead proxy stops programs that honour proxies; the provenance records it.
    for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"})
      result[name] = "http://127.0.0.1:9";
  }
  if (open) {
    for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
                             "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "GOPROXY", "GOSUMDB",
                             "GONOSUMDB", "GOPRIVATE", "CARGO_HTTP_CAINFO", "CARGO_HTTP_PROXY"}) {
      const auto found = m_services.host.environment.find(name);
      if (found != m_services.host.environment.end()) result[name] = found->second;
    }
  }
  return result;
}

sys::Environment ToolRunner::governed_variables(bool network) {
  sys::Environment result = plain_variables(network);
  for (const auto& [name, value] : m_git_variables) result[name] = value;
  if (m_governed) m_governed->govern(result);
  return result;
}

// The folder that the failed command ran in. ninja prints commands relative to its folder and rarely prints the folder:
// then it is the one whose build.ninja has the product.
void ToolRunner::find_folder(FirstFailure& failure) const {
  const std::filesystem::path said = failure.folder.empty() ? std::filesystem::path() : m_tree.package / failure.folder;
  std::error_code ignored;
  failure.folder = !said.empty() && std::filesystem::is_directory(said, ignored) ? said.string() : "";
  if (failure.product.empty() || !failure.folder.empty()) return;
  const std::filesystem::path& root = m_job.spec.editable ? m_tree.source : m_tree.tree;
  for (const sys::TreeFile& file : sys::list_tree(root)) {
    if (file.link || base_name(file.name) != "build.ninja") continue;
    const std::filesystem::path path = root / file.name;
    const auto text = sys::read_file_if_there(path, 64 << 20);
    if (!text || text->find("build " + failure.product) == text->npos) continue;
    failure.folder = path.parent_path().string();
    return;
  }
}

void ToolRunner::run(const std::vector<std::string>& argv, const std::string& what, bool network) {
  sys::Command command;
  for (const std::string& word : argv) command.argv.push_back(with_paths(word));
  command.environment = governed_variables(network);
  command.folder = m_tree.package;
  command.no_network = m_network_isolated && !network && m_sandbox != sys::SandboxMode::landlock;
  m_services.report.log_line("running " + sys::shell_quoted(command.argv));
  FailureFinder finder;
  OutputReader reader(m_job.spec.verbose);
  const double allowed_silence = m_job.limits.silence_seconds;
  auto last_output = std::chrono::steady_clock::now();
  bool silent = false, full = false;
  const auto on_output = [&](std::string_view text) {
    last_output = std::chrono::steady_clock::now();
    m_services.report.log_text(text);
    finder.feed(text);
    reader.feed(text);
  };
  const auto stop = [&] {
    tell_compiles();
    const std::chrono::duration<double> quiet = std::chrono::steady_clock::now() - last_output;
    silent = allowed_silence > 0 && quiet.count() > allowed_silence;
    full = m_sandbox != sys::SandboxMode::off && sys::is_nearly_full(m_tree.tree);
    return silent || full || sys::interrupted();
  };
  sys::Command started = command;
  if (m_sandbox != sys::SandboxMode::off) {
    // Each command gets a new, empty /tmp, so none finds files that another left on purpose.
    sys::remove_tree(m_tree.tree / "tmp");
    sys::make_folders(m_tree.tree / "tmp");
    started = sys::in_sandbox(started, policy(network));
  }
  if (m_governed) m_governed->confine_elsewhere(policy(network, true));
  sys::Process process(started);
  const sys::Exit exit = process.wait(on_output, stop);
  sys::kill_descendants();
  if (sys::interrupted()) throw Error("interrupted");
  if (exit.good() && !silent && !full) return;
  if (full) {
    throw Error(fmt::format("stopped {}: the disk of {} is full ({} left)", what, m_tree.tree.string(),
                            human_bytes(sys::free_disk_bytes(m_tree.tree))));
  }
  std::optional<FirstFailure> first = finder.first();
  if (first) find_folder(*first);
  const std::string message =
      silent ? fmt::format("stopped {}: no output for {:.0f} s; --timeout sets the limit", what, allowed_silence)
             : fmt::format("{} failed: {}", what, sys::to_string(exit));
  throw CommandFailed(message, std::move(first), command, m_job.spec.network || network);
}

document::Value ToolRunner::call_hook(const plan::CallHook& call) {
  refuse_linked_package(m_tree);
  const Backend backend = read_backend(m_tree.package);
  const std::string hook(enum_name(call.hook));
  document::Table request;
  request["hook"] = hook;
  request["backend"] = backend.name;
  request["backend_path"] = document::Array(backend.path.begin(), backend.path.end());
  request["out"] = (m_tree.tree / "dist").string();
  document::Array config;
  for (const auto& [name, value] : call.config) config.emplace_back(document::Array{name, with_paths(value)});
  request["config"] = std::move(config);
  request["threads"] = static_cast<std::int64_t>(jobs());
  const std::filesystem::path driver = m_tree.tree / "driver";
  sys::make_folders(driver);
  sys::write_file(driver / "backend.py", data::backend_py);
  sys::write_file(driver / "parallel.py", data::parallel_py);
  sys::write_file(driver / "request.json", document::to_json(request));
  const std::filesystem::path answer = m_tree.tree / "answer";
  sys::remove_tree(answer);
  sys::make_folders(answer);
  run({m_environment.environment.python.string(), (driver / "backend.py").string(), (driver / "request.json").string(),
       (answer / "result.json").string()},
      fmt::format("the build backend {} ({})", backend.name, hook));
  const auto result = sys::read_file_if_there(answer / "result.json", 16 << 20);
  if (!result)
    throw Error(fmt::format("the build backend {} succeeded but returned no result for {}", backend.name, hook));
  return document::parse_json(*result, "the answer of the build backend")["value"];
}

std::filesystem::path ToolRunner::write_repeat_script(const CommandFailed& failed) const {
  const bool known = failed.failure && !failed.failure->command.empty();
  const std::filesystem::path folder = failed.failure && !failed.failure->folder.empty()
                                           ? std::filesystem::path(failed.failure->folder)
                                           : failed.command_run.folder;
  std::string script = "#!/bin/bash\n# Runs the first failed command again, with the same environment.\n";
  script += "cd " + sys::shell_quoted(folder.string()) + " || exit\n";
  script += "exec env -i \\\n";
  for (const auto& [name, value] : plain_variables(failed.had_network))  // run by hand, it needs no admission
    script += "  " + sys::shell_quoted(name + "=" + value) + " \\\n";
  script += "  ";
  script +=
      known ? "bash -c " + sys::shell_quoted(failed.failure->command) : sys::shell_quoted(failed.command_run.argv);
  const std::filesystem::path path = m_tree.tree / "repeat.sh";
  try {
    sys::AtomicFile file(path, {}, 0700);  // the variables may contain secrets from --env
    file.write(script + "\n");
    file.commit();
  } catch (const Error& error) {  // for example a full disk; the failure itself matters more
    m_services.report.log_line(error.what());
    return {};
  }
  return path;
}

}  // namespace wheelsmith::run
