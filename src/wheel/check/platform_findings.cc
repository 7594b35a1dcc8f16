// Turns violated policy rules into findings with a fix. The tag a wheel qualifies for is strict: a library outside the
// policy disqualifies it, no matter what provides the library. But "libcuda.so.1 is not in manylinux_2_28" is expected
// for a CUDA wheel, so libraries with a known provider are notes, and libraries inside the wheel but off the run path
// are warnings, because Python code may load them first.

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "wheel/read/file_roles.h"
#include "wheel/read/symbol_names.h"
#include "wheel/tags/platform.h"
#include "wheel/tags/platform_survey.h"
#include "wheel/tags/required_packages.h"

namespace wheelsmith::wheel {
namespace {

constexpr std::size_t k_most_names = 3;

using FilesByName = std::unordered_map<std::string_view, const ElfFacts*>;

// "GLIBC_2.28 (fcntl64), GLIBC_2.34 (dlopen, dlsym and 2 more)"
std::string versions_with_symbols(const Violation& violation) {
  std::vector<std::string> parts;
  for (const std::string& version : violation.names) {
    std::vector<std::string> symbols;  // only the listed ones are demangled
    for (const UndefinedSymbol& symbol : violation.file->undefined) {
      if (symbol.version != version || symbol.file != violation.library) continue;
      symbols.push_back(symbols.size() < k_most_names ? printable(readable(symbol.name)) : "");
    }
    parts.push_back(symbols.empty() ? printable(version)
                                    : fmt::format("{} ({})", printable(version), list_some(symbols, k_most_names)));
  }
  return join(parts, ", ");
}

std::string limits(const Violation& violation, const pep::Policy& policy, const std::string& machine) {
  std::vector<std::string> parts;
  for (const std::string& version : violation.names) {
    const std::string family(pep::version_family(version));
    const std::string newest = policy.newest(machine, family);
    std::string part = newest.empty() ? fmt::format("no {}", printable(family)) : fmt::format("{}_{}", family, newest);
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) {
      parts.push_back(std::move(part));
    }
  }
  return join(parts, ", ");
}

// "libssl.so.3, libcuda.so.1 (from the NVIDIA driver)"
std::string libraries_with_providers(const std::vector<std::string>& sonames) {
  std::vector<std::string> parts;
  for (const std::string& soname : sonames) {
    const std::string who = provided_by_others(soname);
    parts.push_back(who.empty() ? printable(soname) : fmt::format("{} (from {})", printable(soname), who));
  }
  return join(parts, ", ");
}

std::string instructions_of(const ElfFacts& file) {
  return fmt::format("x86_64_v{}", (file.x86_isa_needed & 8) != 0 ? 4 : (file.x86_isa_needed & 4) != 0 ? 3 : 2);
}

// The most compatible built-in tag that has these versions, among those newer than `policy`; "" if none.
std::string tag_that_allows(const Violation& violation, const pep::Policy& policy, const std::string& machine) {
  for (const pep::Policy& other : pep::builtin_policies(pep::LibC::glibc)) {
    if (!other.is_linux() && other.priority < policy.priority && other.exists_for(machine) &&
        std::all_of(
            violation.names.begin(), violation.names.end(),
            [&](const std::string& version) { return other.allows(machine, version); })) {
      return fmt::format("{}_{}", other.name, machine);
    }
  }
  return "";
}

Finding version_finding(const Violation& violation, const pep::Policy& policy, const std::string& machine) {
  Finding finding{
      "platform-symbol-version",
      Severity::error,
      violation.file->path,
      describe(violation, policy, machine),
      fmt::format("on the oldest systems that {} allows, loading fails with \"version not found\"", policy.name),
      fmt::format("build it in the {} image, or on a system whose libraries are as old", policy.name)};
  if (const std::string tag = tag_that_allows(violation, policy, machine); !tag.empty()) {
    finding.fix += fmt::format(", or retag it as {}", tag);
  }
  return finding;
}

// Why the absence of a library is acceptable. Libraries of one file with the same reason share one finding.
struct Absence {
  Severity severity = Severity::error;
  std::string what, why, fix;

  friend auto operator<=>(const Absence&, const Absence&) = default;
};

// Facts from the wheel about its libraries.
struct WheelContext {
  FilesByName own_files;
  std::set<std::string> own_folders;
  RequiredPackages packages;
  FileRoles roles;
};

std::optional<Absence> provided_elsewhere(const Violation& violation, const std::string& soname,
                                          const WheelContext& context) {
  if (const std::string who = provided_by_others(soname, context.packages.required); !who.empty()) {
    return Absence{Severity::note, fmt::format("from {}", who),
                   "it works where that is installed; the wheel need not bundle it",
                   who.starts_with("the wheel ") ? fmt::format("add {} to Requires-Dist", who.substr(10)) : ""};
  }
  if (const auto own = context.own_files.find(soname); own != context.own_files.end()) {
    return Absence{
        Severity::warning, fmt::format("in the wheel ({}), but not on its run path", printable(own->second->path)),
        "it loads only if that library is already loaded", "add the library's folder to RUNPATH, relative to $ORIGIN"};
  }
  if (is_desktop_library(soname)) {
    return Absence{
        Severity::warning, "from the desktop or its graphics driver",
        "servers and containers without a desktop cannot load the file; a wheel must not bundle the library, because "
        "it must match the graphics driver or service",
        "do not link it into modules that are used without a display, and document which system packages to install"};
  }
  const auto found = find_required(context.packages, *violation.file, soname, context.own_folders);
  if (!found) return std::nullopt;
  if (found->certain) {
    return Absence{Severity::note, fmt::format("from the wheel {}, which it requires", printable(found->package)),
                   "it is installed with the wheel, and found by a run path or loaded by Python code", ""};
  }
  return Absence{Severity::warning,
                 fmt::format("perhaps from the wheel {}, which it requires", printable(found->package)),
                 "no run path reaches it, and no Python code loads it",
                 fmt::format("pass that wheel with --against to check it: {}", printable(found->package))};
}

Absence absence(const Violation& violation, const std::string& soname, const pep::Policy& policy,
                const WheelContext& context) {
  if (auto elsewhere = provided_elsewhere(violation, soname, context)) return *std::move(elsewhere);
  const std::string what = fmt::format("neither in the wheel nor in {}", policy.name);
  if (violation.stray) {
    const std::string why = context.roles.why_optional(violation.file->path);
    return {Severity::warning, what,
            fmt::format("the file cannot be loaded without it, but the package works: {}",
                        why.empty() ? "nothing in the wheel uses the file" : why),
            "exclude the file, or bundle the library"};
  }
  return {Severity::error, what, "on a machine without it, loading fails with \"cannot open shared object file\"",
          "copy it into the wheel (`wheelsmith repair`), link it statically, or pass --exclude if the environment "
          "provides it"};
}

void add_library_findings(const Violation& violation, const pep::Policy& policy, const WheelContext& context,
                          std::vector<Finding>& findings) {
  std::map<Absence, std::vector<std::string>> groups;
  for (const std::string& soname : violation.names) {
    groups[absence(violation, soname, policy, context)].push_back(printable(soname));
  }
  for (const auto& [reason, sonames] : groups) {
    findings.push_back({"platform-external-library", reason.severity, violation.file->path,
                        fmt::format("needs {}: {}", join(sonames, ", "), reason.what), reason.why, reason.fix});
  }
}

Finding to_finding(const Violation& violation, const pep::Policy& policy, const std::string& machine) {
  switch (violation.kind) {
    case Violation::Kind::version: return version_finding(violation, policy, machine);
    case Violation::Kind::symbol:
      return {
          "platform-forbidden-symbol",
          Severity::error,
          violation.file->path,
          describe(violation, policy, machine),
          fmt::format("not every {} has these symbols: they are internal or newer than the policy", violation.library),
          fmt::format("build against an older {0}, such as the one in the {1} image, or link {0} statically",
                      violation.library, policy.name)};
    case Violation::Kind::instructions:
      return {"platform-machine",
              Severity::error,
              violation.file->path,
              describe(violation, policy, machine),
              "on older processors the loader rejects it, or it dies with an illegal instruction",
              "compile without -march, and select faster code at run time"};
    case Violation::Kind::library:  // add_library_findings
    case Violation::Kind::fpectl: break;
  }
  return {"platform-forbidden-symbol",
          Severity::error,
          violation.file->path,
          describe(violation, policy, machine),
          "only Pythons configured with fpectl have it; Python 3.7 removed it",
          "build with a Python configured without fpectl"};
}

void add_private_versions(const Survey& found, const pep::Policy& policy, std::vector<Finding>& findings) {
  const auto entry = found.versions.find("GLIBC_PRIVATE");
  if (entry == found.versions.end() || !policy.allows(found.machine, "GLIBC_PRIVATE")) {
    return;  // absent, or reported by the policy
  }
  for (const auto& [file, library] : entry->second) {
    const Violation violation{Violation::Kind::version, file, library, {"GLIBC_PRIVATE"}, false};
    findings.push_back({"platform-symbol-version", Severity::error, file->path,
                        fmt::format("needs {} of {}", versions_with_symbols(violation), printable(library)),
                        "glibc changes its private symbols without notice, so the file loads with one glibc build only",
                        "do not link parts of glibc statically or bundle them"});
  }
}

void add_foreign_files(const Survey& found, const std::string& machine, std::vector<Finding>& findings) {
  for (const ElfFacts* file : found.foreign) {
    // An extension for another machine cannot be imported, and a wheel with no file for its own machine has the wrong
    // tag; a single mismatched file may be data for a remote target.
    const bool is_wrong = file->python_extension || found.counted.empty();
    findings.push_back({"platform-machine", is_wrong ? Severity::error : Severity::warning, file->path,
                        fmt::format("is for {}, the wheel is for {}", file->machine, machine),
                        fmt::format("a {} process cannot load it", machine),
                        fmt::format("build it for {}, or exclude it", machine)});
  }
}

WheelContext context_of(const std::vector<ElfFacts>& files, const Survey& found, const PlatformOptions& options) {
  WheelContext context;
  context.own_folders = folders_of(files);
  for (const ElfFacts* file : found.counted) context.own_files.emplace(base_name(file->path), file);
  if (options.packages != nullptr) context.packages = *options.packages;
  if (options.roles != nullptr) context.roles = *options.roles;
  return context;
}

// The file violates the tag, but users of the wheel do not depend on it.
void soften(Finding& finding, const FileRoles& roles) {
  finding.severity = Severity::warning;
  finding.why += fmt::format("; the package works without it: {}", roles.why_optional(finding.subject));
}

}  // namespace

std::string describe(const Violation& violation, const pep::Policy& policy, const std::string& machine) {
  const std::string library = printable(violation.library);
  switch (violation.kind) {
    case Violation::Kind::version:
      return fmt::format("needs {} of {}; {} has {}", versions_with_symbols(violation), library, policy.name,
                         limits(violation, policy, machine));
    case Violation::Kind::library:
      return fmt::format("needs {}: neither in the wheel nor in {}", libraries_with_providers(violation.names),
                         policy.name);
    case Violation::Kind::symbol:
      return fmt::format("uses {} of {}, which {} forbids", list_some(violation.names, k_most_names), library,
                         policy.name);
    case Violation::Kind::instructions:
      return fmt::format("is marked as needing {} instructions, which {} does not guarantee",
                         instructions_of(*violation.file), machine);
    case Violation::Kind::fpectl: break;
  }
  return "uses PyFPE_jbuf, which most Pythons do not have";
}

std::vector<Finding> check_policy(const std::vector<ElfFacts>& files, const pep::Policy& policy,
                                  const std::string& machine, const PlatformOptions& options) {
  std::vector<Finding> findings;
  // Tags distinguish versions of 32-bit ARM; the ELF machine number does not.
  const bool is_arm = machine == "armv6l" || machine == "armv8l";
  Survey found = survey(files, options, is_arm ? "armv7l" : machine, LibcRule::any);
  if (!machine.empty() && !policy.exists_for(machine)) {
    findings.push_back({"platform-machine", Severity::error, fmt::format("{}_{}", policy.name, machine),
                        fmt::format("{} does not exist for {}", policy.name, machine),
                        "installers do not know the tag and skip the wheel",
                        "use a tag that exists for this architecture"});
    return findings;
  }
  add_foreign_files(found, machine.empty() ? found.machine : machine, findings);
  if (found.counted.empty()) {
    return findings;
  }
  const WheelContext context = context_of(files, found, options);
  for (const Violation& violation : violations(found, policy)) {
    if (context.roles.is_test(violation.file->path)) continue;
    if (violation.kind == Violation::Kind::library) {
      add_library_findings(violation, policy, context, findings);
    } else {
      findings.push_back(to_finding(violation, policy, found.machine));
      if (context.roles.is_optional(violation.file->path)) soften(findings.back(), context.roles);
    }
  }
  add_private_versions(found, policy, findings);
  return findings;
}

}  // namespace wheelsmith::wheel
