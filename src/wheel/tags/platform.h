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

// A violation that prevents a more compatible platform tag.
struct Obstacle {
  std::string policy;   // the policy it breaks, "manylinux_2_17"
  std::string subject;  // the member
  std::string what;     // "needs GLIBC_2.28 of libc.so.6 (manylinux_2_17 has 2.17)"
};

struct Platform {
  std::string tag;                  // "manylinux_2_28_x86_64"; "linux_x86_64"; "any" without ELF files
  std::vector<Obstacle> obstacles;  // violations of the next more compatible policy
};

struct PlatformOptions {
  std::vector<pep::Policy> policies;  // a user's own, tried before the built-in ones of the same libc
  std::vector<std::string> tags;      // the platform tags in the wheel's name, if any
  std::vector<std::string> excluded;  // sonames (shell patterns) that count as provided by the environment
  bool trust_others = false;          // libraries with a known provider count as provided too
  // The packages that the wheel requires, and its optional files; null if unknown.
  const RequiredPackages* packages = nullptr;
  const FileRoles* roles = nullptr;
};

// The most compatible tag that all ELF files of a wheel qualify for, by auditwheel's rules. `files` in RECORD or path
// order. Throws Error if following their dependencies takes more steps than in any real wheel.
Platform deserved_platform(const std::vector<ElfFacts>& files, const PlatformOptions& options);

// Findings for every rule of `policy` that the files violate: symbol versions, libraries, symbols, machine.
std::vector<Finding> check_policy(const std::vector<ElfFacts>& files, const pep::Policy& policy,
                                  const std::string& machine, const PlatformOptions& options);

// The known provider of a library outside the wheel: the CUDA driver, torch, the nvidia-* wheels, ROCm. The result is
// its name ("the NVIDIA driver"), or "". Some libraries are provided only to packages that require their provider:
// `required` holds the normalized names of the wheel's requirements.
std::string provided_by_others(const std::string& soname, const std::vector<std::string>& required = {});

// Whether the library belongs to a desktop: to its graphics driver or one of its services.
bool is_desktop_library(std::string_view soname);

}  // namespace wheelsmith::wheel
