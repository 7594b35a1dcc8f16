#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "pep/policy.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

class FileRoles;
struct RequiredPackages;

// What keeps a wheel from a wider platform tag.
struct Obstacle {
  std::string policy;   // the policy it breaks, "manylinux_2_17"
  std::string subject;  // the member
  std::string what;     // "needs GLIBC_2.28 of libc.so.6 (manylinux_2_17 has 2.17)"
};

struct Platform {
  std::string tag;                  // "manylinux_2_28_x86_64"; "linux_x86_64"; "any" without ELF files
  std::vector<Obstacle> obstacles;  // against the next wider policy: why not a broader one
};

struct PlatformOptions {
  std::vector<pep::Policy> policies;  // a user's own, tried before the built-in ones of the same libc
  std::vector<std::string> tags;      // the platform tags that the wheel claims by its name, if any
  std::vector<std::string> excluded;  // sonames (shell patterns) that count as provided by others
  bool trust_others = false;          // libraries that others are known to provide count as provided too
  // The packages that the wheel requires, and which of its files it can do without; null where nothing is known.
  const RequiredPackages* packages = nullptr;
  const FileRoles* roles = nullptr;
};

// The widest tag that all ELF files of a wheel deserve, by auditwheel's rules. `files` in RECORD or path order. Throws
// Error when following their dependencies takes more steps than any real wheel's would.
Platform deserved_platform(const std::vector<ElfFacts>& files, const PlatformOptions& options);

// Findings for every rule of `policy` that the files break: symbol versions, libraries, symbols, machine.
std::vector<Finding> check_policy(const std::vector<ElfFacts>& files, const pep::Policy& policy,
                                  const std::string& machine, const PlatformOptions& options);

// Whether the library comes from elsewhere than the wheel and is known to: the CUDA driver, torch, the nvidia-* wheels,
// ROCm. The answer is who provides it ("the NVIDIA driver"), or "". Some libraries come with a package only for those
// that require it: `required` are the normalized names of what the wheel requires.
std::string provided_by_others(const std::string& soname, const std::vector<std::string>& required = {});

// Whether the library belongs to a desktop: to its graphics driver, or to a service that runs there.
bool is_desktop_library(std::string_view soname);

}  // namespace wheelsmith::wheel
