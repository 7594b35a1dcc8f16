#include "source/worktree/work_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "source/git/git_command.h"
#include "source/worktree/git_folder.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

using document::Array;
using document::Table;
using document::Value;

constexpr const char* k_file = "wheelsmith.json";

WorkState from_value(const Value& value) {
  WorkState state;
  state.recipe = value["recipe"].text_or();
  state.variant = value["variant"].text_or();
  state.origin = value["origin"].text_or();
  state.ref = value["ref"].text_or();
  state.ref_kind = enum_named<RefKind>(value["ref_kind"].text_or()).value_or(RefKind::branch);
  state.commit = value["commit"].text_or();
  state.version = value["version"].text_or();
  state.patchset = value["patchset"].text_or();
  if (value["submodules"].array() != nullptr) state.submodules = value["submodules"].texts();
  state.hipify = value["hipify"].text_or();
  state.commit_hipify = value["commit_hipify"].boolean_or(true);
  if (const Array* patches = value["patches"].array()) {
    for (const Value& patch : *patches)
      state.patches.push_back({.part = patch["part"].text_or(),
                               .name = patch["name"].text_or(),
                               .sha256 = patch["sha256"].text_or(),
                               .hipified = patch["hipified"].boolean_or(false)});
  }
  if (const Array* parts = value["parts"].array()) {
    for (const Value& part : *parts)
      state.parts.push_back({.path = part["path"].text_or(),
                             .name = part["name"].text_or(),
                             .upstream = part["upstream"].text_or(),
                             .made = part["made"].text_or(),
                             .worked = part["worked"].text_or()});
  }
  for (const PartState& part : state.parts) {
    if (!is_commit(part.made) || !is_commit(part.upstream) || (!part.worked.empty() && !is_commit(part.worked)))
      throw Error("the record contains an invalid commit");
  }
  if (state.parts.empty() || !state.parts.front().path.empty()) throw Error("the record has no root");
  return state;
}

}  // namespace

const PartState* WorkState::part(const std::string& path) const {
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const PartState& part) { return part.path == path; });
  return found == parts.end() ? nullptr : &*found;
}

bool WorkState::same_request(const WorkState& other) const {
  return commit == other.commit && origin == other.origin && submodules == other.submodules && hipify == other.hipify &&
         commit_hipify == other.commit_hipify && patches == other.patches;
}

Value WorkState::to_value() const {
  Table document;
  document["schema"] = 1;
  document["recipe"] = recipe;
  document["variant"] = variant;
  document["origin"] = origin;
  document["ref"] = ref;
  document["ref_kind"] = to_string(ref_kind);
  document["commit"] = commit;
  document["version"] = version;
  document["patchset"] = patchset;
  document["submodules"] = submodules ? Value(Array(submodules->begin(), submodules->end())) : Value();
  document["hipify"] = hipify;
  document["commit_hipify"] = commit_hipify;
  Array all_patches;
  for (const AppliedPatch& patch : patches) {
    Table item;
    item["part"] = patch.part;
    item["hipified"] = patch.hipified;
    item["name"] = patch.name;
    item["sha256"] = patch.sha256;
    all_patches.emplace_back(std::move(item));
  }
  document["patches"] = std::move(all_patches);
  Array all_parts;
  for (const PartState& part : parts) {
    Table item;
    item["path"] = part.path;
    item["name"] = part.name;
    item["upstream"] = part.upstream;
    item["made"] = part.made;
    item["worked"] = part.worked;
    all_parts.emplace_back(std::move(item));
  }
  document["parts"] = std::move(all_parts);
  return document;
}

std::optional<WorkState> read_work_state(const std::filesystem::path& root) {
  const sys::Captured folder = GitFolder(root).run({"rev-parse", "--absolute-git-dir"});
  if (!folder.exit.good()) return {};
  const std::filesystem::path file = std::filesystem::path(trim(folder.output)) / k_file;
  const auto text = sys::read_file_if_there(file, 16 << 20);
  if (!text) return {};
  // Treating it as a foreign checkout would lose its record of patches and hipified files.
  try {
    return from_value(document::parse_json(*text, "its record"));
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}; remove it to treat the folder as an ordinary repository", printable(file.string()),
                            error.what()));
  }
}

void write_work_state(const std::filesystem::path& git_folder, const WorkState& state) {
  sys::write_file(git_folder / k_file, document::to_json(state.to_value()) + "\n");
}

}  // namespace wheelsmith::source
