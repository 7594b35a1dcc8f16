// One step, from its source to a wheel in the store.
//
//   source       unpacked and patched into the step's tree; or, of a folder that is being worked on, brought up to date
//   environment  a venv with the locked wheels; torch is asked what it is
//   build        the backend's hook, inside the tree, in an environment made from nothing
//   finish       tags that the binaries deserve, provenance, the archive written anew in canonical form
//   check        our own checks on those bytes, with the plan's architectures, policy and torch
//   test         the recipe's tests in a fresh environment outside the tree
//   publish      into the store, then into the wheelhouse
//
// The tree belongs to the step's identity. Its state file says for which key it was made: with the same key a later run
// goes on in it, with another it starts clean.

#include "run/step_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "run/deliver.h"
#include "sys/file.h"

namespace wheelsmith::run {

namespace {

toolchain::Host host(store::Store& store) {
  toolchain::Host where;
  where.environment = sys::current_environment();
  where.memo.find = [&store](std::string_view kind, std::string_view subject, std::string_view fingerprint) {
    return store.remembered(kind, subject, fingerprint);
  };
  where.memo.keep = [&store](std::string_view kind, std::string_view subject, std::string_view fingerprint,
                             std::string_view facts) { store.remember(kind, subject, fingerprint, facts); };
  return where;
}

fetch::FetchOptions fetch_options(const Job& job) {
  fetch::FetchOptions options;
  options.index = fetch::read_pip_settings(sys::current_environment(), job.step.python.prefix);
  options.offline = job.offline;
  options.python = job.step.python.executable;
  options.mirrors = job.mirrors;
  options.stop = [] { return sys::interrupted(); };
  options.on_progress = [](const fetch::Progress& progress) {
    Event event;
    event.kind = Event::Kind::progress;
    event.text = progress.what;
    event.done = progress.done;
    event.total = progress.total;
    if (progress.total != 0) emit_event(event);
  };
  return options;
}

// What an archive carries of a build that ended long ago. A folder goes as a whole: an empty *.egg-info is one without
// a name to setuptools, and fatal.
void remove_matching(const std::filesystem::path& source, const std::vector<std::string>& patterns) {
  if (patterns.empty()) return;
  for (const sys::TreeFile& file : sys::list_tree(source)) {
    for (std::size_t end = file.name.find('/');; end = file.name.find('/', end + 1)) {
      const std::string part = file.name.substr(0, end);
      const bool matches = std::any_of(patterns.begin(), patterns.end(),
                                       [&](const std::string& pattern) { return glob_match(pattern, part); });
      if (matches) sys::remove_tree(source / part);
      if (matches || end == file.name.npos) break;
    }
  }
}

// What decides the result besides the source's files: a folder that is worked on keeps its tree while they change.
std::string switches_of(const plan::Step& step) {
  std::string text;
  for (const auto& [name, value] : step.environment) text += fmt::format("{}={}\n", name, value);
  for (const auto& [name, value] : step.config) text += fmt::format("{}: {}\n", name, value);
  for (const std::string& option : step.options) text += option + "\n";
  return to_hex(sha256(Bytes(text)));
}

}  // namespace

StepRunner::StepRunner(Job job)
    : m_job(std::move(job)),
      m_store(m_job.store),
      m_log(m_job.log),
      m_recipe(recipe::parse_recipe(m_job.step.recipe_text, m_job.step.recipe_origin)),
      m_rules(m_recipe.rules(m_job.step.variant, m_job.step.target)),
      m_host(host(m_store)),
      m_fetcher(m_store, fetch_options(m_job)),
      m_tree(m_store.tree(m_job.step.identity)),
      m_lock(m_job.step.lock) {
  m_outcome.id = m_job.step.id;
  m_outcome.package = m_job.step.package;
  m_outcome.key = m_job.step.key;
  m_outcome.reason = m_job.step.reason;
  m_outcome.log = m_job.log;
}

StepOutcome StepRunner::run() {
  try {
    m_store.note_try(m_job.step.identity, m_job.step.manifest);
    std::filesystem::path built;
    if (m_job.step.source.kind == source::Pin::Kind::program) {
      built = pack_program();
    } else {
      prepare_source();
      prepare_environment();
      built = build();
    }
    end_governing(0);
    finish(built);
    check();
    test();
    publish();
    m_outcome.outcome = "built";
    if (!m_job.step.uncacheable) sys::remove_tree(m_tree);
  } catch (const CommandFailed& failed) {
    m_outcome.failure = failed.failure;
    write_repeat_script(failed);
    finish_failure(failed.what());
  } catch (const Error& error) {
    finish_failure(error.what());
  }
  m_outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_started).count();
  return m_outcome;
}

void StepRunner::finish_failure(const std::string& cause) {
  end_governing(1);
  m_outcome.outcome = "failed";
  m_outcome.cause = sys::interrupted() ? "interrupted; the same command goes on from here" : cause;
  m_log.line(fmt::format("failed in phase {}: {}", m_outcome.phase, m_outcome.cause));
}

void StepRunner::start_phase(const std::string& name) {
  if (sys::interrupted()) throw Error("interrupted");
  m_outcome.phase = name;
  m_log.line("phase " + name);
  Event event;
  event.kind = Event::Kind::phase;
  event.text = name;
  emit_event(event);
}

void StepRunner::note(const std::string& text) {
  m_log.line(text);
  Event event;
  event.kind = Event::Kind::note;
  event.text = text;
  emit_event(event);
}

void StepRunner::prepare_source() {
  start_phase("source");
  const plan::Step& step = m_job.step;
  const std::filesystem::path state = m_tree / "state.json";
  m_source = m_tree / "source";
  const std::string switches = switches_of(step);
  std::string made_for, switches_before;
  try {
    if (const auto text = sys::read_file_if_there(state, 1 << 20)) {
      const document::Value before = document::parse_json(*text, state.string());
      made_for = before["key"].text_or();
      switches_before = before["switches"].text_or();
    }
  } catch (const Error& error) {  // the build can write there, too; nothing is known of such a tree
    note(fmt::format("starting clean: {}", error.what()));
  }
  const bool go_on = !m_job.clean && (step.source.incremental ? !made_for.empty() : made_for == step.key);
  if (!go_on) {
    if (!made_for.empty())
      note(m_job.clean ? "starting clean, as asked" : "starting clean: the tree was made for other inputs");
    sys::remove_tree(m_tree);
    sys::make_folders(m_tree);
    if (!step.source.incremental) {
      std::vector<source::Patch> early;
      std::copy_if(step.patches.begin(), step.patches.end(), std::back_inserter(early),
                   [](const source::Patch& patch) { return !patch.late; });
      source::materialize(step.source, early, m_fetcher, m_store, m_source);
      remove_matching(m_source / m_recipe.source.subfolder, m_rules.clean);
    }
  } else {
    note("going on in the tree of the last try");
    // A configuration that is there would be taken for this one, and the new switches be ignored without a word.
    if (step.source.incremental && switches_before != switches)
      remove_matching(m_source / m_recipe.source.subfolder, m_rules.clean);
  }
  if (step.source.incremental) {
    sys::make_folders(m_source);
    source::synchronize(step.source.folder, m_source);
  }
  for (const char* folder : {"home", "tmp", "bin", "dist"}) sys::make_folders(m_tree / folder);
  fetch_companions();
  document::Table table;
  table["key"] = step.key;
  table["id"] = step.id;
  table["switches"] = switches;
  sys::write_file(state, document::to_json(table));
  if (!m_recipe.source.subfolder.empty()) m_source /= m_recipe.source.subfolder;
}

// What the package's configuration would clone by itself. Each is whole or not there: a checkout is renamed into place.
void StepRunner::fetch_companions() {
  for (const plan::FetchedSource& fetched : m_job.step.fetches) {
    const std::filesystem::path folder = m_tree / "fetched" / fetched.name;
    if (sys::is_folder(folder)) continue;
    note(fmt::format("bringing {} {}", fetched.name, fetched.pin.git_ref));
    source::materialize(fetched.pin, {}, m_fetcher, m_store, folder);
  }
}

void StepRunner::prepare_environment() {
  start_phase("environment");
  const plan::Step& step = m_job.step;
  if (step.needs.size() > step.companions.size()) {
    env::ResolveOptions options;
    options.offline = m_job.offline;
    options.wheelhouses = step.torch.wheelhouses;
    options.index_urls = step.torch.index_urls;
    options.prereleases = step.torch.prereleases;
    std::vector<std::string> requirements = step.requirements;
    for (const NeededWheel& need : m_job.needs)
      (need.direct ? requirements : options.constraints).push_back(need.requirement());
    m_lock = env::resolve(requirements, step.python, m_fetcher, m_store, options);
  }
  if (step.torch.kind == plan::TorchChoice::Kind::environment) {
    const toolchain::Python other = toolchain::find_python(step.torch.python.string(), m_host);
    m_torch_sites = {other.purelib};
    if (other.platlib != other.purelib) m_torch_sites.push_back(other.platlib);
  }
  prepare_rocm();
  m_environment = env::make_environment(step.python, m_lock, m_torch_sites, m_fetcher, m_store);
  look_at_environment();
  prepare_tools();
  prepare_build();
  if (add_hook_requirements()) look_at_environment();
}

// What follows from the wheels that the environment has.
void StepRunner::look_at_environment() {
  const plan::Step& step = m_job.step;
  if (m_rules.requires_versions.uses_torch) check_torch();
  if (!step.registry_cuda.empty()) m_toolkit = env::make_toolkit(m_environment, m_store);
  if (!step.cuda_root.empty()) m_toolkit = step.cuda_root;
}

// What arrived, not what was asked for: an index that has no GPU build for this Python hands out a CPU build in
// silence.
void StepRunner::check_torch() {
  m_torch = toolchain::find_torch(m_environment.python, true, m_host);
  const std::string where = "the build environment";
  if (!m_torch) throw Error("torch is not in " + where + " although the recipe builds against it");
  if (!m_torch->problem.empty())
    throw Error(fmt::format("torch {} in {} cannot be imported: {}", m_torch->version, where, m_torch->problem));
  const std::string& wanted = m_job.step.torch_version;
  if (!wanted.empty() && m_torch->version != wanted && !m_torch->version.starts_with(wanted + "+"))
    throw Error(fmt::format("torch {} arrived in {}, but {} was planned", m_torch->version, where, wanted));
  const std::string variant(recipe::to_string(m_job.step.variant));
  if (m_job.step.variant == recipe::Variant::cuda && (m_torch->cuda.empty() || !m_torch->has_cuda_macros)) {
    throw Error(fmt::format("torch {} in {} is a {} build without CUDA's headers; a {} build is wanted",
                            m_torch->version, where, m_torch->variant(), variant));
  }
  note(fmt::format("torch {} ({})", m_torch->version, m_torch->variant()));
}

void StepRunner::publish() {
  start_phase("publish");
  const std::uint64_t size = std::filesystem::file_size(m_wheel);
  const std::string name = m_wheel.filename().string();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_started).count();
  std::string sha256;
  if (m_job.step.uncacheable) {
    sha256 = to_hex(wheelsmith::sha256(sys::map_file(m_wheel).bytes));
  } else {
    store::StepRecord record;
    record.key = m_job.step.key;
    record.identity = m_job.step.identity;
    record.package = m_job.step.package;
    record.version = m_job.step.version;
    record.manifest = m_job.step.manifest;
    record.wheel_name = name;
    record.wheel_sha256 = sha256 = m_store.put_blob(m_wheel);
    record.wheel_size = size;
    record.seconds = seconds;
    record.finished =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    record.provenance = m_provenance;
    record.tests = m_outcome.to_value()["tests"];
    m_store.put_step(record);
  }
  m_store.note_cost(m_job.step.identity, {seconds, size, 0});
  m_outcome.wheel = m_job.out / name;
  m_outcome.replaced = deliver(m_wheel, sha256, m_outcome.wheel, m_store);
}

namespace {

// The log of a build that was kept from the network reads like that of a machine that has none.
void explain_closed_network(diagnose::Cause& cause) {
  cause.what =
      "The build wanted the network, and has none while it compiles unless its recipe or --network asks for it.";
  cause.fixes = {"the same command with --network on",
                 "or say in its recipe: [build] network = true and network-why = \"…\""};
}

// A failed command's log says more than its exit status.
void diagnose_failure(StepOutcome& outcome, bool network) {
  if (outcome.outcome != "failed" || !outcome.failure || outcome.log.empty()) return;
  try {
    diagnose::Diagnoser diagnoser(diagnose::builtin_knowledge());
    sys::read_pieces(outcome.log, [&](std::string_view piece) { diagnoser.feed(piece); });
    outcome.diagnosis = diagnoser.finish(machine_for_remedies()).cause;
    if (!network && outcome.phase != "test" && outcome.diagnosis && outcome.diagnosis->kind == "network")
      explain_closed_network(*outcome.diagnosis);
  } catch (const Error&) {  // the failure itself is what must be told
  }
}

}  // namespace

int run_step(const std::filesystem::path& job_file) {
  sys::become_subreaper(true);
  sys::install_interrupt_flag();
  StepOutcome outcome;
  bool network = true;
  try {
    Job job = Job::from_value(document::parse_json(sys::read_file(job_file), job_file.string()));
    network = job.step.network;
    // One at a time in a tree and in its log, whoever started it.
    store::Store store(job.store);
    std::optional<sys::FileLock> tree = store.try_lock(store::tree_lock(job.step.identity));
    if (!tree) {
      emit_event({.kind = Event::Kind::phase, .step = "", .text = "waiting for another build of the same step"});
      tree = store.lock(store::tree_lock(job.step.identity));
    }
    // Another runner may have built it while we waited for the tree.
    std::optional<StepOutcome> there;
    if (!job.step.uncacheable) there = take_from_store(job.step.key, job.out, store);
    outcome = there ? std::move(*there) : StepRunner(std::move(job)).run();
  } catch (const std::filesystem::filesystem_error& error) {  // the disk, or somebody who works in our folders
    outcome.outcome = "failed";
    outcome.cause = error.what();
  } catch (const Error& error) {  // one step becomes an outcome
    outcome.outcome = "failed";
    outcome.cause = error.what();
  }
  sys::kill_descendants();
  diagnose_failure(outcome, network);
  Event event;
  event.kind = Event::Kind::finished;
  event.outcome = &outcome;
  emit_event(event);
  return outcome.outcome == "failed" ? 1 : 0;
}

}  // namespace wheelsmith::run
