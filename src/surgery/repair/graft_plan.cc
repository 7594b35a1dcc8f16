#include "surgery/repair/graft_plan.h"

// Which libraries go into a wheel depends on the policy: a library that every machine of the policy has must stay
// outside. What the policy's libraries need is their own affair, so the walk from the wheel's binaries stops at them.
//
// Two binaries may have found different files for one SONAME. Names with a hash keep both apart, so the plan is made by
// file, not by SONAME.

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace wheelsmith::surgery {

namespace {

bool is_program_loader(std::string_view soname) {
  return soname.starts_with("ld-linux") || soname.starts_with("ld64.so") || soname.starts_with("ld-musl") ||
         soname.starts_with("linux-vdso");
}

class Planner {
 public:
  Planner(const PlanInputs& inputs, const pep::Policy& policy) : m_inputs(inputs), m_policy(policy) {}

  GraftPlan run() {
    for (const wheel::ElfFacts& file : *m_inputs.files) plan_member(file);
    // Grafts bring needs of their own.
    while (!m_queue.empty()) {
      const std::string path = m_queue.back();
      m_queue.pop_back();
      std::map<std::string, std::string> renames;
      for (const LibraryNeed& need : needs_of(path)) {
        if (const std::string name = graft_for(need, path); !name.empty() && name != need.soname)
          renames.emplace(need.soname, name);
      }
      m_plan.grafts.at(path).renames = std::move(renames);
    }
    return std::move(m_plan);
  }

 private:
  const std::vector<LibraryNeed>& needs_of(const std::string& id) const {
    static const std::vector<LibraryNeed> k_none;
    const auto found = m_inputs.search->needs.find(id);
    return found == m_inputs.search->needs.end() ? k_none : found->second;
  }

  void plan_member(const wheel::ElfFacts& file) {
    BinaryChange change;
    for (const LibraryNeed& need : needs_of(file.path)) {
      if (m_inputs.is_interpreter(need.soname)) {
        // A program that embeds Python needs it; a module is loaded by a process that has it.
        if (file.interpreter.empty()) change.removed.push_back(need.soname);
        continue;
      }
      const std::string name = graft_for(need, file.path);
      if (name.empty()) continue;
      change.uses_grafts = true;
      if (name != need.soname) change.renames.emplace(need.soname, name);
    }
    if (change.uses_grafts || !change.removed.empty()) m_plan.members.emplace(file.path, std::move(change));
  }

  // The name of the graft, "" where the library stays outside.
  std::string graft_for(const LibraryNeed& need, const std::string& by) {
    if (need.inside || is_program_loader(need.soname) || m_policy.has_library(need.soname)) return "";
    if (m_inputs.is_interpreter(need.soname)) return "";
    if (!need.library) {
      m_plan.missing.push_back({by, need.soname});
      return "";
    }
    const ExternalLibrary& library = *need.library;
    const auto [graft, is_new] = m_plan.grafts.try_emplace(library.real_path);
    if (is_new) {
      graft->second.library = need.library;
      const bool own_name = m_inputs.by_own_name.contains(library.real_path);
      graft->second.name = own_name ? need.soname : m_inputs.hashed_name(library);
      m_queue.push_back(library.real_path);
    }
    return graft->second.name;
  }

  const PlanInputs& m_inputs;
  const pep::Policy& m_policy;
  std::vector<std::string> m_queue;
  GraftPlan m_plan;
};

void rename(wheel::ElfFacts& facts, const std::map<std::string, std::string>& renames) {
  for (std::string& soname : facts.needed) {
    if (const auto found = renames.find(soname); found != renames.end()) soname = found->second;
  }
  for (const auto& [from, to] : renames) {
    auto node = facts.versions_needed.extract(from);
    if (node.empty()) continue;
    node.key() = to;
    facts.versions_needed.insert(std::move(node));
  }
}

}  // namespace

GraftPlan make_graft_plan(const PlanInputs& inputs, const pep::Policy& policy) { return Planner(inputs, policy).run(); }

std::string name_with_hash(const std::string& file_name, const std::string& hash) {
  const std::size_t dot = std::min(file_name.find('.'), file_name.size());
  const std::string stem = file_name.substr(0, dot);
  return stem.ends_with("-" + hash) ? file_name : stem + "-" + hash + file_name.substr(dot);
}

std::string folder_of_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

std::string origin_path(const std::string& from, const std::string& to) {
  const std::string relative =
      std::filesystem::path(to.empty() ? "." : to).lexically_relative(from.empty() ? "." : from).generic_string();
  return relative == "." ? "$ORIGIN" : "$ORIGIN/" + relative;
}

std::vector<wheel::ElfFacts> planned_files(const std::vector<wheel::ElfFacts>& files, const GraftPlan& plan,
                                           const std::string& libs) {
  std::vector<wheel::ElfFacts> result = files;
  for (wheel::ElfFacts& facts : result) {
    const auto change = plan.members.find(facts.path);
    if (change == plan.members.end()) continue;
    rename(facts, change->second.renames);
    for (const std::string& name : change->second.removed) std::erase(facts.needed, name);
    if (!change->second.uses_grafts) continue;
    std::vector<std::string>& paths = facts.runpath.empty() ? facts.rpath : facts.runpath;
    // From the place in the wheel, as the rules about platforms read run paths.
    paths.push_back(origin_path(folder_of_path(facts.path), libs));
  }
  for (const auto& [path, graft] : plan.grafts) {
    wheel::ElfFacts facts = graft.library->facts;
    facts.path = libs + "/" + graft.name;
    facts.soname = graft.name;
    rename(facts, graft.renames);
    facts.rpath = {"$ORIGIN"};
    facts.runpath.clear();
    result.push_back(std::move(facts));
  }
  return result;
}

}  // namespace wheelsmith::surgery
