// A policy describes what a machine guarantees, and newer policies guarantee more: manylinux_2_28 has all that
// manylinux_2_17 has. So a policy stores only its additions and refers to the one it extends. Expanded for every
// machine and family the built-in policies are about 15,000 version names; as differences they are 11 kB of text, read
// in a fraction of a millisecond on first use.

#include "pep/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/text.h"
#include "pep/policy_toml.h"

namespace wheelsmith::pep {

namespace data {
extern const std::string_view manylinux_toml;
extern const std::string_view musllinux_toml;
}  // namespace data

namespace {

using Numbers = std::vector<std::uint64_t>;

std::optional<Numbers> to_numbers(std::string_view version) {
  Numbers numbers;
  for (const std::string_view part : split(version, '.')) {
    const auto number = to_number(part);
    if (!number) {
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

bool contains(const VersionRange& range, std::string_view version) {
  if (version == range.first || version == range.last) {
    return true;
  }
  if (range.first == range.last) {
    return false;
  }
  const auto first = to_numbers(range.first);
  const auto last = to_numbers(range.last);
  const auto wanted = to_numbers(version);
  return first && last && wanted && wanted->size() == first->size() && wanted->size() == last->size() &&
         std::equal(wanted->begin(), wanted->end() - 1, first->begin()) && *first <= *wanted && *wanted <= *last;
}

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Calls `use` with each grant for the machine and family, including those of extended policies, until it returns
// stop.
template <class Use>
void for_each_grant(const Policy& policy, std::string_view machine, std::string_view family, Use use) {
  for (const Policy* at = &policy; at != nullptr; at = at->base.get()) {
    if (!at->exists_for(machine)) {
      continue;
    }
    for (const VersionGrant& grant : at->grants) {
      if (grant.family == family && (grant.machines.empty() || has(grant.machines, machine)) && !use(grant)) {
        return;
      }
    }
  }
}

std::vector<Policy> read_builtin(LibC libc) {
  const bool glibc = libc == LibC::glibc;
  std::vector<Policy> policies = read_policies(glibc ? data::manylinux_toml : data::musllinux_toml,
                                               glibc ? "manylinux.toml" : "musllinux.toml", {});
  std::sort(policies.begin(), policies.end(), [](const Policy& a, const Policy& b) { return a.priority > b.priority; });
  Policy& linux_policy = policies.emplace_back();
  linux_policy.name = "linux";
  return policies;
}

}  // namespace

std::string_view version_family(std::string_view version) { return version.substr(0, version.find('_')); }

bool Policy::exists_for(std::string_view machine) const { return machines.empty() || has(machines, machine); }

bool Policy::allows(std::string_view machine, std::string_view version) const {
  const std::string_view family = version_family(version);
  const std::string_view rest = version.substr(std::min(version.size(), family.size() + 1));
  bool restricted = false;
  bool found = false;
  for_each_grant(*this, machine, family, [&](const VersionGrant& grant) {
    restricted = true;
    found = std::any_of(grant.versions.begin(), grant.versions.end(),
                        [&](const VersionRange& range) { return contains(range, rest); });
    return !found;
  });
  return found || !restricted;
}

std::string Policy::newest(std::string_view machine, std::string_view family) const {
  std::string newest;
  Numbers best;
  for_each_grant(*this, machine, family, [&](const VersionGrant& grant) {
    for (const VersionRange& range : grant.versions) {
      auto numbers = to_numbers(range.last);
      if (numbers && *numbers > best) {
        best = std::move(*numbers);
        newest = range.last;
      }
    }
    return true;
  });
  return newest;
}

bool Policy::has_library(std::string_view soname) const {
  return libraries.contains(std::string(soname)) ||
         std::any_of(libraries.begin(), libraries.end(), [&](const std::string& pattern) {
           return pattern.find_first_of("*?[") != std::string::npos && glob_match(pattern, soname);
         });
}

const std::vector<Policy>& builtin_policies(LibC libc) {
  if (libc == LibC::musl) {
    static const std::vector<Policy> musl = read_builtin(LibC::musl);
    return musl;
  }
  static const std::vector<Policy> glibc = read_builtin(LibC::glibc);
  return glibc;
}

std::vector<Policy> parse_policies(std::string_view toml, std::string_view file_name) {
  std::vector<const Policy*> extendable;
  for (const LibC libc : {LibC::glibc, LibC::musl}) {
    for (const Policy& policy : builtin_policies(libc)) {
      extendable.push_back(&policy);
    }
  }
  return read_policies(toml, file_name, extendable);
}

const Policy* find_policy(const std::vector<Policy>& policies, std::string_view name) {
  const auto is_called = [](const Policy& policy, std::string_view text) {
    return policy.name == text || has(policy.aliases, text);
  };
  for (const Policy& policy : policies) {
    if (is_called(policy, name)) {
      return &policy;
    }
  }
  // Followed by a machine, whose name may contain an underscore, too (x86_64).
  for (std::size_t end = name.rfind('_'); end != std::string_view::npos && end > 0; end = name.rfind('_', end - 1)) {
    const std::string_view machine = name.substr(end + 1);
    for (const Policy& policy : policies) {
      const bool known = policy.machines.empty() ? !machine.empty() : has(policy.machines, machine);
      if (known && is_called(policy, name.substr(0, end))) {
        return &policy;
      }
    }
  }
  return nullptr;
}

std::optional<Policy> derived_policy(std::string_view name) {
  constexpr std::uint64_t k_highest_minor = 999;
  const auto parts = split(name, '_');
  if (parts.size() != 3 || (parts[0] != "manylinux" && parts[0] != "musllinux")) return std::nullopt;
  const auto major = to_number(parts[1]);
  const auto minor = to_number(parts[2]);
  if (!major || !minor || *minor > k_highest_minor) return std::nullopt;
  // The newest listed policy that is older: policies are listed from the widest, which is the oldest.
  const Policy* older = nullptr;
  std::uint64_t older_minor = 0;
  for (const Policy& policy : builtin_policies(parts[0] == "musllinux" ? LibC::musl : LibC::glibc)) {
    const auto words = split(policy.name, '_');
    if (words.size() != 3 || to_number(words[1]) != major) continue;
    const std::uint64_t listed = to_number(words[2]).value_or(k_highest_minor + 1);
    if (listed < *minor && (older == nullptr || listed > older_minor)) {
      older = &policy;
      older_minor = listed;
    }
  }
  if (older == nullptr) return std::nullopt;
  Policy policy = *older;
  policy.base = std::make_shared<const Policy>(*older);
  policy.name = std::string(name);
  policy.aliases.clear();
  policy.grants.clear();
  if (parts[0] == "manylinux") {
    VersionGrant grant{{}, "GLIBC", {}};
    for (std::uint64_t at = older_minor + 1; at <= *minor; ++at) {
      const std::string version = fmt::format("{}.{}", *major, at);
      grant.versions.push_back({version, version});
    }
    policy.grants.push_back(std::move(grant));
  }
  return policy;
}

}  // namespace wheelsmith::pep
