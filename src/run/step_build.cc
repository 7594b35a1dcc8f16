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
#include "source/git.h"
#include "source/patch.h"
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

void link(const std::filesystem::path& target, const std::filesystem::path& name) {
  std::error_code error;
  std::filesystem::remove(name, error);
  std::filesystem::create_symlink(target, name, error);
  if (error) sys::throw_sys_error(error.value(), "link", name);
}

// Whether ccache, called by that name, would find this very compiler: it looks the name up beside it.
bool is_plain_compiler(const std::filesystem::path& compiler, const char* name) {
  std::error_code error;
  return std::filesystem::equivalent(compiler.parent_path() / name, compiler, error) && !error;
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
      const auto found = m_surroundings.environment.find(name);
      if (found != m_surroundings.environment.end()) environment[name] = found->second;
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

// Compilers start when there is memory for them. A build is never worse off without: then the number of jobs is what
// the memory of this moment seems to allow.
void StepRunner::govern() {
  if (!m_job.governed || m_governed) return;
  try {
    governor::Options options;
    options.name = m_job.step.id;
    options.jobs = m_job.most_jobs;
    options.memory = m_job.memory;
    m_governed.emplace(m_store, options);
  } catch (const Error& error) {
    note(fmt::format("compilers are not governed: {}", error.what()));
  }
}

// What build systems are told: enough that the governor always has several to choose from.
unsigned StepRunner::jobs() const {
  if (!m_governed) return m_job.jobs;
  return m_job.most_jobs != 0 ? m_job.most_jobs : 2 * usable_threads() + 14;
}

void StepRunner::tell_memory() {
  const auto now = std::chrono::steady_clock::now();
  if (!m_governed || now - m_told_memory < std::chrono::seconds(1)) return;
  m_told_memory = now;
  const governor::Message& status = m_governed->status();
  if (status.number("running") == 0 && status.number("waiting") == 0) return;
  std::string text = fmt::format("{} compiling, {} used, {} reserved of {}", status.number("running"),
                                 human_bytes(status.number("used")), human_bytes(status.number("reserved")),
                                 human_bytes(status.number("limit")));
  if (const std::uint64_t waiting = status.number("waiting"); waiting != 0)
    text += fmt::format("; {} wait for {}", waiting, status.text("why").empty() ? "their turn" : status.text("why"));
  emit_event({.kind = Event::Kind::memory, .step = "", .text = text});
}

// What the governor had to do, where it had to do something.
void StepRunner::end_governing(int exit) {
  if (!m_governed) return;
  try {
    const governor::Summary summary = m_governed->finish(exit);
    const bool busy = summary.tried_again + summary.set_back + summary.paused + summary.ungoverned != 0 ||
                      summary.waited_for_memory >= 1 || !summary.unreached.empty();
    if (summary.compiles == 0) {
      m_log.line("no compiler was seen");
    } else if (busy) {
      note(summary.to_text());
    } else {
      m_log.line(summary.to_text());
    }
  } catch (const Error& error) {  // it is only told
    m_log.line(error.what());
  }
  m_governed.reset();
}

void StepRunner::prepare_tools() {
  const plan::Step& step = m_job.step;
  govern();
  const std::filesystem::path bin = m_tree / "bin";
  m_network_isolated = !step.network && sys::can_isolate_network();
  if (!m_job.mirrors.empty()) m_git_variables = source::repositories_for(m_fetcher, m_store).build_variables();
  // A folder that is being worked on is compiled through the compile cache, for backends that compile all of it again.
  const auto cache = step.source.incremental && m_job.ccache != "off"
                         ? toolchain::find_program("ccache", m_surroundings)
                         : std::nullopt;
  if (step.source.incremental && m_job.ccache == "on" && !cache)
    throw Error("--ccache on, but there is no ccache here: apt-get install ccache");
  const bool cached = cache && is_plain_compiler(step.cc, "cc") && is_plain_compiler(step.cxx, "c++");
  const auto compiler = [&](const std::string& real, const char* plain, const char* own) {
    if (real.empty()) return;
    const std::string target = cached ? cache->path.string() : real;
    link(target, bin / plain);
    link(target, bin / own);
  };
  const bool clang = step.compiler_family == "clang";
  compiler(step.cc, "cc", clang ? "clang" : "gcc");
  compiler(step.cxx, "c++", clang ? "clang++" : "g++");
  if (cached) {
    m_job.step.volatile_environment.emplace_back("CCACHE_DIR", "${store}/ccache");
    m_job.step.volatile_environment.emplace_back("CCACHE_BASEDIR", "${tree}");
    m_job.step.volatile_environment.emplace_back("CCACHE_PATH", std::filesystem::path(step.cxx).parent_path().string());
  }
  for (const auto& [name, path] : step.programs) link(path, bin / name);
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
  sys::Process process(command);
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
    const auto same = [&](const std::string& name) {
      return pep::normalized_name(name) == pep::normalized_name(parsed.name);
    };
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

// setuptools copies Python files into build/lib and packs what is there: what the source no longer has would stay in
// the wheel. Libraries may stay; they are made again when what they are made of changed.
void StepRunner::remove_stale_copies() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(m_source / "build", error)) {
    if (!entry.path().filename().string().starts_with("lib") || entry.is_symlink() || !entry.is_directory()) continue;
    for (const sys::TreeFile& file : sys::list_tree(entry.path())) {
      if (!file.name.ends_with(".so")) sys::remove_tree(entry.path() / file.name);
    }
  }
}

// What the recipe writes into the source and runs there, once for a tree: such commands rewrite it (hipify), and a
// second time would touch what was compiled since.
void StepRunner::prepare_build() {
  for (const auto& [name, text] : m_job.step.files) {
    const std::filesystem::path path = m_source / name;
    const std::string wanted = with_paths(text);
    if (sys::read_file_if_there(path, 16 << 20) == wanted) continue;
    sys::make_folders(path.parent_path());
    sys::write_file(path, wanted);
    note("wrote " + name);
  }
  std::string done;
  const std::filesystem::path mark = m_tree / "prepared";
  for (const std::vector<std::string>& words : m_job.step.prepare) done += join(words, " ") + "\n";
  if (m_job.step.prepare.empty() || sys::read_file_if_there(mark, 1 << 20) == done) return;
  start_phase("prepare");
  std::vector<source::Patch> late;
  std::copy_if(m_job.step.patches.begin(), m_job.step.patches.end(), std::back_inserter(late),
               [](const source::Patch& patch) { return patch.late; });
  bool hipify = !m_rules.checkout.hipify.empty();  // the first command
  for (const std::vector<std::string>& words : m_job.step.prepare) {
    sys::Command command;
    for (const std::string& word : words) command.argv.push_back(with_paths(word));
    run_tool(command, words.front().find('/') == std::string::npos ? words.front() : join(words, " "));
    if (std::exchange(hipify, false)) source::apply_patches(m_tree / "source", late);
  }
  sys::write_file(mark, done);
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
