// The step's tree belongs to its identity. A state file records the key it was made for and how far the build got: a
// later run with the same key resumes in it; another key starts clean. An incremental folder keeps its tree while its
// files change.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "document/fields.h"
#include "plan/step/spec_fields.h"
#include "run/step/phases.h"
#include "source/worktree/history.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace {

enum class Stage : std::uint8_t { source, preparing, prepared };

}  // namespace

}  // namespace wheelsmith::run

template <>
struct wheelsmith::EnumNames<wheelsmith::run::Stage> {
  static constexpr std::array list = {"source", "preparing", "prepared"};
};

namespace wheelsmith::run {

namespace {

struct TreeState {
  std::string key, id;
  std::string switches;  // inputs other than the source's files
  std::string prepare;   // how the prepare phase changes the source
  std::string tools;     // compilers, libraries and image; variables name them by paths in the tree
  Stage stage = Stage::source;
};

std::filesystem::path state_file(const std::filesystem::path& tree) { return tree / "state.json"; }

std::string digest_of_actions(const plan::BuildSpec& spec, plan::Phase phase) {
  std::string text;
  for (const plan::Action& action : spec.actions) {
    if (action.phase == phase) text += document::canonical_json(document::to_document(action)) + "\n";
  }
  return to_hex(sha256(Bytes(text)));
}

TreeState state_of(const plan::BuildSpec& spec, Stage stage) {
  std::string switches;
  for (const auto& [name, value] : spec.variables.fixed) switches += fmt::format("{}={}\n", name, value);
  switches += digest_of_actions(spec, plan::Phase::build);
  std::string tools;
  for (const auto& [name, value] : spec.manifest.inputs()) {
    if (name.starts_with("tool:") || name.starts_with("library:") || name == "container")
      tools += fmt::format("{}={}\n", name, value);
  }
  return {spec.key,
          spec.id,
          to_hex(sha256(Bytes(switches))),
          digest_of_actions(spec, plan::Phase::prepare),
          to_hex(sha256(Bytes(tools))),
          stage};
}

void write_state(const TreeState& state, const std::filesystem::path& tree) {
  document::Table table;
  table["key"] = state.key;
  table["id"] = state.id;
  table["switches"] = state.switches;
  table["prepare"] = state.prepare;
  table["tools"] = state.tools;
  table["stage"] = enum_name(state.stage);
  sys::write_file(state_file(tree), document::to_json(table));
}

// Nothing for a missing tree or unreadable state: the build can write there, too.
std::optional<TreeState> read_state(const std::filesystem::path& tree) {
  const auto text = sys::read_file_if_there(state_file(tree), 1 << 20);
  if (!text) return std::nullopt;
  try {
    const document::Value value = document::parse_json(*text, state_file(tree).string());
    const auto stage = enum_named<Stage>(value["stage"].text_or());
    if (!stage) return std::nullopt;
    return TreeState{value["key"].text_or(),     value["id"].text_or(),    value["switches"].text_or(),
                     value["prepare"].text_or(), value["tools"].text_or(), *stage};
  } catch (const Error&) {  // a tree in an unknown state is recreated
    return std::nullopt;
  }
}

bool changes_source(const plan::Action& action) {
  return std::holds_alternative<plan::RunCommand>(action.what) || std::holds_alternative<plan::ApplyPatch>(action.what);
}

// Whether the prepare phase has commands that must not run twice.
bool prepares_once(const plan::BuildSpec& spec) {
  return std::any_of(spec.actions.begin(), spec.actions.end(), [](const plan::Action& action) {
    return action.phase == plan::Phase::prepare && changes_source(action);
  });
}

// Whether the source has files with future timestamps because the clock was set back. Compiler outputs among them look
// newer than any file changed from now on, so build systems would not rebuild them.
bool is_from_the_future(const std::filesystem::path& source) {
  namespace fs = std::filesystem;
  constexpr auto k_skew = std::chrono::seconds(5);  // between this machine and a file server
  const fs::file_time_type latest = fs::file_time_type::clock::now() + k_skew;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(source, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;  // a dangling link has no time
    if (!entry->is_symlink(ignored) && entry->last_write_time(ignored) > latest && !ignored) return true;
  }
  return static_cast<bool>(error);  // do not resume from an unreadable tree
}

// Why the tree of an earlier run cannot be reused; "" when it can.
std::string why_clean(const TreeState& before, const TreeState& now, const Job& job,
                      const std::filesystem::path& source) {
  if (job.clean) return "--clean";
  const bool incremental = job.spec.source.incremental;
  if (before.stage == Stage::preparing) return "the last run was interrupted while preparing the source";
  if (!incremental && before.key != now.key) return "the tree was made for other inputs";
  if (before.tools != now.tools) return "the compilers, the libraries or the container image changed";
  if (incremental && before.stage == Stage::prepared && before.prepare != now.prepare && prepares_once(job.spec))
    return "the recipe's preparation of the source changed";
  if (is_from_the_future(source)) return "the clock was set back since the last build";
  return "";
}

// Remnants of an earlier build inside an archive. A folder is removed as a whole: setuptools treats an empty *.egg-info
// as a package without a name and fails.
void remove_matching(const std::filesystem::path& folder, const std::vector<std::string>& patterns) {
  for (const sys::TreeFile& file : sys::list_tree(folder)) {
    for (std::size_t end = file.name.find('/');; end = file.name.find('/', end + 1)) {
      const std::string part = file.name.substr(0, end);
      const bool matches = std::any_of(patterns.begin(), patterns.end(),
                                       [&](const std::string& pattern) { return glob_match(pattern, part); });
      if (matches) sys::remove_tree(folder / part);
      if (matches || end == file.name.npos) break;
    }
  }
}

void remove_stale(const plan::BuildSpec& spec, const std::filesystem::path& package) {
  for (const plan::RemoveFiles* action : spec.all<plan::RemoveFiles>(plan::Phase::source))
    remove_matching(package, action->patterns);
}

void unpack(const plan::BuildSpec& spec, const SourceTree& tree, const StepServices& services) {
  std::vector<source::Patch> patches;
  for (const plan::ApplyPatch* action : spec.all<plan::ApplyPatch>(plan::Phase::source))
    patches.push_back(action->patch);
  source::materialize(spec.source, patches, services.fetcher, services.store, tree.source);
  refuse_linked_package(tree);
  remove_stale(spec, tree.package);
}

// Each checkout is complete or absent: it is renamed into place.
void fetch_sources(const plan::BuildSpec& spec, const SourceTree& tree, const StepServices& services) {
  for (const plan::FetchSource* fetch : spec.all<plan::FetchSource>(plan::Phase::source)) {
    const std::filesystem::path folder = tree.tree / "fetched" / fetch->name;
    if (sys::is_folder(folder)) continue;
    services.report.note(fmt::format("fetching {} {}", fetch->name, fetch->pin.git_ref));
    source::materialize(fetch->pin, {}, services.fetcher, services.store, folder);
  }
}

// The user's folder is the source: nothing in it is written or removed here. The step's own folder holds everything
// else a build needs.
SourceTree source_in_place(const plan::BuildSpec& spec, const StepServices& services) {
  if (!sys::is_folder(spec.source.folder)) throw Error(fmt::format("{} no longer exists", spec.source.folder.string()));
  SourceTree tree;
  tree.tree = services.store.tree(spec.identity);
  tree.source = spec.source.folder;
  tree.package = spec.subfolder.empty() ? tree.source : tree.source / spec.subfolder;
  const TreeState now = state_of(spec, Stage::source);
  const std::optional<TreeState> before = read_state(tree.tree);
  if (before && (before->switches != now.switches || before->tools != now.tools))
    services.report.note(
        fmt::format("warning: variables or settings have changed since the last build in {}; a build system that "
                    "caches its configuration may ignore the change until you remove its build folder",
                    tree.source.string()));
  for (const char* folder : {"home", "tmp", "bin", "dist"}) sys::make_folders(tree.tree / folder);
  fetch_sources(spec, tree, services);
  write_state(now, tree.tree);
  return tree;
}

}  // namespace

void refuse_linked_package(const SourceTree& tree) {
  std::error_code error, of_source;  // for example, a link to itself
  const std::filesystem::path package = std::filesystem::weakly_canonical(tree.package, error);
  if (!error && sys::is_within(package, std::filesystem::weakly_canonical(tree.source, of_source)) && !of_source)
    return;
  throw Error(fmt::format("the package's folder {} is a symbolic link that points outside its source",
                          printable(tree.package.lexically_relative(tree.source).string())));
}

SourceTree get_source(const Job& job, const StepServices& services) {
  services.report.phase(plan::Phase::source);
  const plan::BuildSpec& spec = job.spec;
  if (spec.editable) return source_in_place(spec, services);
  SourceTree tree;
  tree.tree = services.store.tree(spec.identity);
  tree.source = tree.tree / "source";
  tree.package = spec.subfolder.empty() ? tree.source : tree.source / spec.subfolder;
  TreeState now = state_of(spec, Stage::source);
  const std::optional<TreeState> before = read_state(tree.tree);
  const std::string clean = before ? why_clean(*before, now, job, tree.source) : "";
  if (before && clean.empty()) {
    services.report.note("resuming in the tree of the last attempt");
    tree.prepared = before->stage == Stage::prepared && before->prepare == now.prepare;
    // CMake and setuptools would reuse an existing configuration and silently ignore the new options.
    refuse_linked_package(tree);
    if (spec.source.incremental && before->switches != now.switches) remove_stale(spec, tree.package);
  } else {
    if (before) services.report.note("starting clean: " + clean);
    sys::remove_tree(tree.tree);
    sys::make_folders(tree.tree);
    if (!spec.source.incremental) unpack(spec, tree, services);
  }
  if (spec.source.incremental) {
    sys::make_folders(tree.source);
    source::synchronize(spec.source.folder, tree.source);
    source::bring_history(spec.source.folder, tree.source, services.store);
  }
  for (const char* folder : {"home", "tmp", "bin", "dist"}) sys::make_folders(tree.tree / folder);
  fetch_sources(spec, tree, services);
  now.stage = tree.prepared ? Stage::prepared : Stage::source;
  write_state(now, tree.tree);
  return tree;
}

void mark_preparing(const plan::BuildSpec& spec, const SourceTree& tree) {
  if (prepares_once(spec)) write_state(state_of(spec, Stage::preparing), tree.tree);
}

void mark_prepared(const plan::BuildSpec& spec, SourceTree& tree) {
  tree.prepared = true;
  write_state(state_of(spec, Stage::prepared), tree.tree);
}

}  // namespace wheelsmith::run
