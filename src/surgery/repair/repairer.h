#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "elf/edit.h"
#include "surgery/draft.h"
#include "surgery/publish.h"
#include "surgery/repair/graft_plan.h"
#include "surgery/repair/repair.h"
#include "surgery/repair/system_packages.h"
#include "sys/file.h"
#include "wheel/read/file_roles.h"
#include "wheel/tags/platform_survey.h"
#include "wheel/tags/required_packages.h"

// The stages of `repair`, which share what is known of the wheel. repair.cc has the essay.

namespace wheelsmith::surgery {

class Repairer {
 public:
  Repairer(InputWheel& input, const RepairRequest& request, const LibrarySource& source, const WriteOptions& options);
  void run(Item& item);

 private:
  // repair.cc: what is there, and what the policy makes of it
  void read_wheel();
  void find_libraries();
  void add_explicit_grafts();
  void leave_outside();
  void choose_policy();
  [[nodiscard]] std::vector<const pep::Policy*> candidates();
  [[nodiscard]] PlanInputs plan_inputs();
  [[nodiscard]] bool try_policy(const pep::Policy& policy);
  [[nodiscard]] std::string why_not(const pep::Policy& policy) const;
  void set_tags();
  [[nodiscard]] wheel::PlatformOptions platform_options() const;

  // outside.cc: libraries of other packages
  [[nodiscard]] bool is_others(const wheel::ElfFacts& by, const std::string& soname) const;
  void plan_siblings();
  void add_sibling(const wheel::ElfFacts& file, const std::string& folder);

  // repair_edits.cc: the new members
  void move_programs();
  void edit_members();
  void add_grafts();
  void add_licenses();
  void add_sbom();
  [[nodiscard]] elf::Edit edit_for(const wheel::ElfFacts& file) const;
  [[nodiscard]] std::string place_of(const std::string& member) const;

  InputWheel& m_input;
  const RepairRequest& m_request;
  const LibrarySource& m_source;
  const WriteOptions& m_options;
  Draft m_draft;
  std::string m_libs;  // "demo.libs"
  wheel::Scan m_scan;
  std::vector<wheel::ElfFacts> m_files;  // of the wheel's machine and libc
  wheel::RequiredPackages m_required;
  wheel::FileRoles m_roles;
  std::set<std::string> m_own_folders;
  std::string m_machine;
  pep::LibC m_libc = pep::LibC::glibc;
  const wheel::LoaderMachine* m_loader = nullptr;
  LibrarySearch m_search;
  std::map<std::string, std::string> m_hashes;              // real path -> SHA-256
  std::set<std::string> m_explicit;                         // real paths of --graft
  std::map<std::string, std::set<std::string>> m_siblings;  // member -> folders below site-packages
  std::optional<pep::Policy> m_own_policy;                  // one that is derived from the request
  const pep::Policy* m_policy = nullptr;
  const pep::Policy* m_wider = nullptr;
  std::set<std::string> m_left_outside;  // SONAMEs that were not found and fit a required package
  GraftPlan m_plan;
  std::map<std::string, std::string> m_moved;  // programs: member -> new member
  std::map<std::string, SystemPackage> m_owners;
  std::unique_ptr<sys::TempDir> m_stripped;
};

}  // namespace wheelsmith::surgery
