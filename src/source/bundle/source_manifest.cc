#include "source/bundle/source_manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive/archive.h"
#include "base/error.h"
#include "base/text.h"
#include "source/worktree/work_tree.h"

namespace wheelsmith::source {

namespace {

using document::Array;
using document::Table;
using document::Value;

class ProjectReader {
 public:
  ProjectReader(const Value& value, const std::string& place) : m_value(value), m_place(place) {}

  [[noreturn]] void refuse(const std::string& what) const { throw Error(m_place + ": " + what); }

  std::string text(std::string_view key, bool needed = false) const {
    const Value& value = m_value[key];
    if (value.text() == nullptr && !value.is_null()) refuse(fmt::format("{} is {}, not a string", key, value.kind()));
    const std::string result = value.text_or();
    if (needed && result.empty()) refuse(fmt::format("{} is missing", key));
    if (result.starts_with('-')) refuse(fmt::format("{} begins with -", key));
    return result;
  }

  std::string hash(std::string_view key, bool needed) const {
    const std::string result = text(key, needed);
    if (!result.empty() && !is_commit(result))
      refuse(fmt::format("{} \"{}\" is not a commit (40 hex digits)", key, printable(result)));
    return result;
  }

  std::map<std::string, std::string> hashes(std::string_view key) const {
    std::map<std::string, std::string> result;
    const Value& value = m_value[key];
    if (value.is_null()) return result;
    if (value.table() == nullptr) refuse(fmt::format("{} is {}, not a table", key, value.kind()));
    for (const auto& [path, one] : *value.table()) {
      check_path(path);
      if (!is_commit(one.text_or())) refuse(fmt::format("{} of {} is not a commit", key, printable(path)));
      result[path] = one.text_or();
    }
    return result;
  }

  void check_path(const std::string& path) const {
    if (!archive::is_plain_name(path)) refuse(fmt::format("\"{}\" is not a valid submodule path", printable(path)));
  }

  std::vector<AppliedPatch> patches() const {
    std::vector<AppliedPatch> result;
    const Value& value = m_value["patches"];
    if (value.is_null()) return result;
    if (value.array() == nullptr) refuse("patches is not a list");
    for (const Value& one : *value.array()) {
      AppliedPatch patch{one["part"].text_or(), one["name"].text_or(), one["sha256"].text_or(),
                         one["hipified"].boolean_or(false)};
      if (patch.name.empty() || patch.sha256.size() != 64) refuse("a patch has no name or no sha256");
      result.push_back(std::move(patch));
    }
    return result;
  }

 private:
  const Value& m_value;
  const std::string& m_place;
};

Value text_table(const std::map<std::string, std::string>& texts) {
  Table table;
  for (const auto& [name, text] : texts) table[name] = text;
  return table;
}

}  // namespace

std::vector<ManifestProject> parse_manifest(std::string_view text, std::string_view file_name) {
  const std::string file = printable(file_name);
  const Value document = document::parse_json(text, file_name);
  if (document.table() == nullptr) throw Error(fmt::format("{}: it is {}, not a table", file, document.kind()));
  if (const Value& schema = document["schema_version"]; !schema.is_null() && schema.integer_or(0) != 1)
    throw Error(fmt::format("{}: schema_version is not 1; a newer wheelsmith may support it", file));
  std::vector<ManifestProject> result;
  for (const auto& [name, value] : *document.table()) {
    if (name == "schema_version") continue;
    const std::string place = fmt::format("{}: {}", file, printable(name));
    const ProjectReader reader(value, place);
    if (value.table() == nullptr) reader.refuse(fmt::format("it is {}, not a table", value.kind()));
    reader.check_path(name);
    if (name.find('/') != std::string::npos) reader.refuse("not a valid project name");
    ManifestProject project;
    project.name = name;
    project.repo = reader.text("repo", true);
    project.commit = reader.hash("commit", true);
    project.branch = reader.text("branch");
    project.version = reader.text("version");
    project.recipe = reader.text("recipe");
    project.variant = reader.text("variant");
    project.patchset = reader.text("patchset");
    project.hipify = reader.text("hipify");
    if (!project.hipify.empty()) reader.check_path(project.hipify);
    project.commit_hipify = value["commit_hipify"].boolean_or(true);
    if (value["wanted_submodules"].array() != nullptr) project.wanted_submodules = value["wanted_submodules"].texts();
    project.patches = reader.patches();
    project.submodules = reader.hashes("submodules");
    project.tree = reader.hash("tree", false);
    project.trees = reader.hashes("trees");
    result.push_back(std::move(project));
  }
  if (result.empty()) throw Error(fmt::format("{}: it lists no project", file));
  return result;
}

std::string to_json(const std::vector<ManifestProject>& projects) {
  Table document;
  document["schema_version"] = 1;
  for (const ManifestProject& project : projects) {
    Table item;
    item["repo"] = project.repo;
    item["commit"] = project.commit;
    if (!project.branch.empty()) item["branch"] = project.branch;
    if (!project.version.empty()) item["version"] = project.version;
    item["recipe"] = project.recipe;
    if (!project.variant.empty()) item["variant"] = project.variant;
    if (!project.patchset.empty()) item["patchset"] = project.patchset;
    Array patches;
    for (const AppliedPatch& patch : project.patches) {
      Table one;
      one["part"] = patch.part;
      one["hipified"] = patch.hipified;
      one["name"] = patch.name;
      one["sha256"] = patch.sha256;
      patches.emplace_back(std::move(one));
    }
    if (!patches.empty()) item["patches"] = std::move(patches);
    if (!project.hipify.empty()) {
      item["hipify"] = project.hipify;
      item["commit_hipify"] = project.commit_hipify;
    }
    if (project.wanted_submodules)
      item["wanted_submodules"] = Array(project.wanted_submodules->begin(), project.wanted_submodules->end());
    item["submodules"] = text_table(project.submodules);
    item["tree"] = project.tree;
    item["trees"] = text_table(project.trees);
    document[project.name] = std::move(item);
  }
  return document::to_json(document) + "\n";
}

ManifestProject project_of(const std::filesystem::path& root) {
  const std::string shown = printable(root.string());
  GitFolder::refuse_locked(root);
  if (!GitFolder::is_one(root)) throw Error(fmt::format("{} is not a checkout", shown));
  const std::optional<WorkState> state = read_work_state(root);
  if (!state) throw Error(fmt::format("{} was not made by `wheelsmith checkout`", shown));
  refuse_changes(root, "commit them, then save them with `wheelsmith patches save`");
  ManifestProject project;
  project.name = project.recipe = state->recipe;
  project.repo = state->origin;
  project.commit = state->commit;
  if (state->ref_kind != RefKind::commit) project.branch = state->ref;
  project.version = state->version;
  project.variant = state->variant;
  project.patchset = state->patchset;
  project.patches = state->patches;
  project.hipify = state->hipify;
  project.commit_hipify = state->commit_hipify;
  project.wanted_submodules = state->submodules;
  for (const PartState& part : state->parts) {
    if (!GitFolder::is_one(root / part.path))
      throw Error(fmt::format("{}: {} no longer exists", shown, shown_part(part.path)));
    const GitFolder git(root / part.path);
    if (git.head() != part.made)
      throw Error(fmt::format("{}: {} has commits that are not saved as patches; run `wheelsmith patches save`", shown,
                              shown_part(part.path)));
    const std::string tree = git.tree(part.worked.empty() ? part.made : part.worked);
    if (part.path.empty()) {
      project.tree = tree;
      continue;
    }
    project.submodules[part.path] = part.upstream;
    project.trees[part.path] = tree;
  }
  return project;
}

void compare(const ManifestProject& project, const WorkState& state, const std::vector<std::string>& trees) {
  const auto differs = [&](const std::string& what, const std::string& wanted, const std::string& got) {
    throw Error(fmt::format("{}: {} is {}, but the manifest says {}", printable(project.name), what, got, wanted));
  };
  for (std::size_t i = 0; i < state.parts.size() && i < trees.size(); ++i) {
    const PartState& part = state.parts[i];
    const auto tree = project.trees.find(part.path);
    const std::string wanted = part.path.empty() ? project.tree : tree == project.trees.end() ? "" : tree->second;
    if (!wanted.empty() && wanted != trees[i]) differs("the tree of " + shown_part(part.path), wanted, trees[i]);
    const auto commit = project.submodules.find(part.path);
    if (commit != project.submodules.end() && commit->second != part.upstream)
      differs("the commit of " + shown_part(part.path), commit->second, part.upstream);
  }
  for (const auto& [path, commit] : project.submodules) {
    if (state.part(path) == nullptr) differs("submodule " + printable(path), commit, "missing");
  }
}

void compare_patches(const ManifestProject& project, const PatchSet& set) {
  std::vector<AppliedPatch> here;
  for (const PatchFile& patch : set.files()) here.push_back({patch.part, patch.name, patch.sha256, patch.hipified});
  for (const AppliedPatch& patch : project.patches) {
    const auto found = std::find_if(here.begin(), here.end(), [&](const AppliedPatch& one) {
      return one.part == patch.part && one.name == patch.name && one.hipified == patch.hipified;
    });
    if (found == here.end())
      throw Error(fmt::format("{}: patch {} of set {} is not in {}; pass the folder of patch sets with --patch-dir",
                              printable(project.name), printable(patch.name), printable(project.patchset),
                              printable(set.folder().string())));
    if (found->sha256 != patch.sha256)
      throw Error(fmt::format("{}: patch {} of set {} has sha256 {}, but the manifest says {}", printable(project.name),
                              printable(patch.name), printable(project.patchset), found->sha256, patch.sha256));
  }
  if (here.size() != project.patches.size())
    throw Error(fmt::format("{}: set {} has {} patches here, but {} in the manifest", printable(project.name),
                            printable(project.patchset), here.size(), project.patches.size()));
}

}  // namespace wheelsmith::source
