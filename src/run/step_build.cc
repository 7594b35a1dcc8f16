// The phase that runs foreign code: the package's own build, in an environment made from nothing.

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "diagnose/line.h"
#include "pep/wheel_name.h"
#include "run/step_runner.h"
#include "source/git/git.h"
#include "source/patches/patch.h"
#include "sys/file.h"

namespace wheelsmith::run {

namespace data {
extern const std::string_view backend_py;
}

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

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
      throw Error(fmt::format("pyproject.toml: backend-path {} leaves the source", printable(folder)));
  }
  return backend;
}

std::vector<std::filesystem::path> wheels_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> wheels;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".whl") wheels.push_back(entry.path());
  }
  return wheels;
}

}  // namespace

std::string StepRunner::with_paths(std::string text) const {
  replace_all(text, "${rocm}", (m_tree / "rocm").string());
  replace_all(text, "${tree}", m_tree.string());
  replace_all(text, "${env}", m_environment.root.string());
  replace_all(text, "${toolkit}", m_toolkit.string());
  replace_all(text, "${torch}", m_torch ? m_torch->folder.string() : "");
  replace_all(text, "${store}", m_store.root().string());
  replace_all(text, "${jobs}", std::to_string(jobs()));
  return text;
}

sys::Environment StepRunner::plain_environment() const {
  sys::Environment environment;
  for (const auto& [name, value] : m_job.step.environment) environment[name] = with_paths(value);
  for (const auto& [name, value] : m_job.step.volatile_environment) environment[name] = with_paths(value);
  if (!m_job.step.network && !m_network_isolated) {
    // The kernel forbids namespaces here. A proxy that answers nobody stops what honours proxies; the provenance says
    // so.
    for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"})
      environment[name] = "http://127.0.0.1:9";
  }
  if (m_job.step.network) {
    for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
                             "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"}) {
      const auto found = m_host.environment.find(name);
      if (found != m_host.environment.end()) environment[name] = found->second;
    }
  }
  return environment;
}

sys::Environment StepRunner::tool_environment() {
  sys::Environment environment = plain_environment();
  for (const auto& [name, value] : m_git_variables) environment[name] = value;
  if (m_governed) m_governed->govern(environment);
  return environment;
}

// Where the command that failed ran. ninja prints commands as they are in its folder, and seldom which folder that is:
// then it is the one whose build.ninja makes the product.
void StepRunner::find_folder(FirstFailure& failure) const {
  const std::filesystem::path said = failure.folder.empty() ? std::filesystem::path() : m_source / failure.folder;
  std::error_code ignored;
  failure.folder = !said.empty() && std::filesystem::is_directory(said, ignored) ? said.string() : "";
  if (failure.product.empty() || !failure.folder.empty()) return;
  for (const sys::TreeFile& file : sys::list_tree(m_tree)) {
    if (file.link || base_name(file.name) != "build.ninja") continue;
    const std::filesystem::path path = m_tree / file.name;
    const auto text = sys::read_file_if_there(path, 64 << 20);
    if (!text || text->find("build " + failure.product) == text->npos) continue;
    failure.folder = path.parent_path().string();
    return;
  }
}

void StepRunner::run_tool(sys::Command command, const std::string& what) {
  command.environment = tool_environment();
  command.folder = m_source;
  command.no_network = m_network_isolated;
  m_log.line("running " + sys::shell_quoted(command.argv));
  FailureFinder finder;
  std::string partial;
  auto last_output = std::chrono::steady_clock::now();
  bool silent = false;
  const auto on_output = [&](std::string_view text) {
    last_output = std::chrono::steady_clock::now();
    m_log.write(text);
    finder.feed(text);
    partial += text;
    const std::size_t end = partial.rfind('\n');
    if (end == partial.npos) {
      if (partial.size() > (1 << 20)) partial.clear();
      return;
    }
    // Whole lines only: a tool may write a line in many pieces.
    if (m_job.step.verbose) emit_event({.kind = Event::Kind::output, .step = "", .text = partial.substr(0, end + 1)});
    std::optional<diagnose::Progress> newest;
    for (const std::string_view line : lines(std::string_view(partial).substr(0, end))) {
      if (const auto progress = diagnose::read_progress(line)) newest = progress;
    }
    partial.erase(0, end + 1);
    if (!newest) return;
    Event event;
    event.kind = Event::Kind::progress;
    event.done = newest->done;
    event.total = newest->total;
    emit_event(event);
  };
  const auto stop = [&] {
    tell_memory();
    const std::chrono::duration<double> quiet = std::chrono::steady_clock::now() - last_output;
    silent = m_job.silence_seconds > 0 && quiet.count() > m_job.silence_seconds;
    return silent || sys::interrupted();
  };
  sys::Command started = command;
  if (m_relay) started.argv = m_relay->wrapped(command.argv);
  sys::Process process(started);
  const sys::Exit exit = process.wait(on_output, stop);
  sys::kill_descendants();
  if (sys::interrupted()) throw Error("interrupted");
  if (exit.good() && !silent) return;
  std::optional<FirstFailure> first = finder.first();
  if (first) find_folder(*first);
  if (silent) {
    throw CommandFailed(
        fmt::format("{} printed nothing for {:.0f} s and was stopped; --timeout sets how long it may be silent", what,
                    m_job.silence_seconds),
        std::move(first), command);
  }
  throw CommandFailed(fmt::format("{} failed: {}", what, sys::to_string(exit)), std::move(first), command);
}

document::Value StepRunner::call_hook(const std::string& hook) {
  const Backend backend = read_backend(m_source);
  document::Table request;
  request["hook"] = hook;
  request["backend"] = backend.name;
  document::Array path(backend.path.begin(), backend.path.end());
  request["backend_path"] = std::move(path);
  request["out"] = (m_tree / "dist").string();
  document::Array config;
  for (const auto& [name, value] : m_job.step.config) config.emplace_back(document::Array{name, with_paths(value)});
  for (const std::string& option : m_job.step.options)
    config.emplace_back(document::Array{"--build-option", with_paths(option)});
  request["config"] = std::move(config);
  const std::filesystem::path driver = m_tree / "driver";
  sys::make_folders(driver);
  sys::write_file(driver / "backend.py", data::backend_py);
  sys::write_file(driver / "request.json", document::to_json(request));
  std::error_code ignored;
  std::filesystem::remove(driver / "result.json", ignored);
  sys::Command command;
  command.argv = {m_environment.python.string(), (driver / "backend.py").string(), (driver / "request.json").string(),
                  (driver / "result.json").string()};
  run_tool(command, fmt::format("the build backend {} ({})", backend.name, hook));
  const auto result = sys::read_file_if_there(driver / "result.json");
  if (!result) throw Error(fmt::format("the build backend {} ended well but gave no answer to {}", backend.name, hook));
  return document::parse_json(*result, "the answer of the build backend")["value"];
}

// Requirements that only the backend knows (setup_requires, a cmake that scikit-build-core misses). Whether there were
// any, and the environment is another one now.
bool StepRunner::add_hook_requirements() {
  if (m_rules.backend != recipe::Rules::Backend::pep517) return false;
  std::vector<std::string> more;
  for (const std::string& requirement : call_hook("get_requires_for_build_wheel").texts()) {
    const pep::Requirement parsed = pep::Requirement::parse(requirement);
    const auto same = [&](const std::string& name) { return pep::same_name(name, parsed.name); };
    const bool dropped = std::any_of(m_rules.drop_requires.begin(), m_rules.drop_requires.end(), same) ||
                         std::any_of(m_rules.not_from_pip.begin(), m_rules.not_from_pip.end(),
                                     [&](const auto& pair) { return same(pair.first); });
    if (!dropped && m_lock.find(parsed.name) == nullptr) more.push_back(requirement);
  }
  if (more.empty()) return false;
  note("the backend also wants " + join(more, ", "));
  std::vector<std::string> requirements = m_lock.requirements.empty() ? m_job.step.requirements : m_lock.requirements;
  requirements.insert(requirements.end(), more.begin(), more.end());
  env::ResolveOptions options;
  options.offline = m_job.offline;
  options.wheelhouses = m_job.step.torch.wheelhouses;
  for (const NeededWheel& need : m_job.needs) {
    if (!need.direct) options.constraints.push_back(need.requirement());
  }
  options.index_urls = m_job.step.torch.index_urls;
  options.prereleases = m_job.step.torch.prereleases;
  m_lock = env::resolve(requirements, m_job.step.python, m_fetcher, m_store, options);
  m_environment = env::make_environment(m_job.step.python, m_lock, m_torch_sites, m_fetcher, m_store);
  return true;
}

std::filesystem::path StepRunner::build() {
  start_phase("build");
  if (m_job.step.source.incremental) remove_stale_copies();
  const std::filesystem::path dist = m_tree / "dist";
  sys::remove_tree(dist);
  sys::make_folders(dist);
  if (m_rules.backend == recipe::Rules::Backend::setup_py) {
    sys::Command command;
    command.argv = {m_environment.python.string(), "setup.py", "bdist_wheel", "--dist-dir", dist.string()};
    for (const std::string& option : m_job.step.options) command.argv.push_back(with_paths(option));
    run_tool(command, "setup.py bdist_wheel");
  } else {
    (void)call_hook("build_wheel");
  }
  const std::vector<std::filesystem::path> wheels = wheels_in(dist);
  if (wheels.size() == 1) return wheels.front();
  throw Error(wheels.empty() ? "the build ended well but left no wheel"
                             : fmt::format("the build left {} wheels instead of one", wheels.size()));
}

void StepRunner::write_repeat_script(const CommandFailed& failed) {
  const bool known = failed.failure && !failed.failure->command.empty();
  std::string script = "#!/bin/bash\n# Repeats the first command that failed, in the environment it had.\n";
  const std::filesystem::path folder = failed.failure && !failed.failure->folder.empty()
                                           ? std::filesystem::path(failed.failure->folder)
                                           : failed.command_run.folder;
  script += "cd " + sys::shell_quoted(folder.string()) + " || exit\n";
  script += "exec env -i \\\n";
  for (const auto& [name, value] : plain_environment())  // by hand nobody has to be asked
    script += "  " + sys::shell_quoted(name + "=" + value) + " \\\n";
  script +=
      "  " +
      (known ? "bash -c " + sys::shell_quoted(failed.failure->command) : sys::shell_quoted(failed.command_run.argv)) +
      "\n";
  const std::filesystem::path path = m_tree / "repeat.sh";
  try {
    sys::write_file(path, script);
    ::chmod(path.c_str(), 0700);  // the variables may hold a secret of --env
    m_outcome.repeat_script = path;
  } catch (const Error& error) {  // a full disk: the failure itself is what must be told
    m_log.line(error.what());
  }
}

}  // namespace wheelsmith::run
