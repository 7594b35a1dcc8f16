#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Platform policies: what a wheel with a platform tag may expect of the machine it is installed on (PEP 600, PEP
// 656).

namespace wheelsmith::pep {

// "2.5" (first and last are the same) or "3.4.1..3.4.8", a range over the last number.
struct VersionRange {
  std::string first;
  std::string last;
};

// Symbol versions that a policy adds to what the policy it extends allows.
struct VersionGrant {
  std::vector<std::string> machines;  // empty: all machines of the policy
  std::string family;                 // "GLIBC"
  std::vector<VersionRange> versions;
};

struct Policy {
  std::string name;                                        // "manylinux_2_28"
  std::vector<std::string> aliases;                        // "manylinux2014"
  int priority = 0;                                        // higher: runs on more machines; "linux" has 0
  std::vector<std::string> machines;                       // "x86_64"; empty: every machine
  std::set<std::string> libraries;                         // sonames (shell patterns) that the machine has
  std::map<std::string, std::set<std::string>> blacklist;  // soname -> symbols that may not be used
  std::vector<VersionGrant> grants;                        // its own only; see allows()
  std::shared_ptr<const Policy> base;                      // the policy it extends, or null

  [[nodiscard]] bool exists_for(std::string_view machine) const;
  // Whether the machine has "GLIBC_2.17". A family that no grant names is not restricted.
  [[nodiscard]] bool allows(std::string_view machine, std::string_view version) const;
  // The newest version of a family that it allows, "2.17"; "" if there is none.
  [[nodiscard]] std::string newest(std::string_view machine, std::string_view family) const;
  [[nodiscard]] bool has_library(std::string_view soname) const;
  // Whether this is the policy without guarantees: the tags "linux_x86_64" and so on.
  [[nodiscard]] bool is_linux() const { return priority == 0; }
};

enum class LibC { glibc, musl };

// All policies for one libc, best (widest) first, "linux" last. Read from data inside the program.
const std::vector<Policy>& builtin_policies(LibC libc);

// A user's own policies, TOML in the format of src/pep/data/manylinux.toml; they may extend built-in ones. Throws Error
// with file and line.
std::vector<Policy> parse_policies(std::string_view toml, std::string_view file_name);

// "manylinux_2_28", "manylinux2014", "manylinux_2_28_x86_64" -> the policy, or null.
const Policy* find_policy(const std::vector<Policy>& policies, std::string_view name);

// The policy for a tag of PEP 600 or PEP 656 that is not in the data, such as "manylinux_2_18" or "manylinux_2_43":
// the rules of the nearest older one, with glibc up to the version in the tag. Nothing for other names.
std::optional<Policy> derived_policy(std::string_view name);

// "GLIBC_2.17" -> "GLIBC"; the whole text if it has no underscore.
std::string_view version_family(std::string_view version);

}  // namespace wheelsmith::pep
