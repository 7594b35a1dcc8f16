// Compares the requested platform tag with the C and C++ libraries of this machine. Code compiled against glibc 2.36
// may need GLIBC_2.34 symbols or none newer than 2.2.5, depending on the functions that it calls. So a newer library is
// not yet a failure: the check after the build decides. An older or equal library is always fine.

#include <fmt/format.h>

#include "doctor/case.h"
#include "pep/policy.h"

namespace wheelsmith::doctor {

namespace {

struct Wanted {
  std::string problem;  // the tag itself is invalid
  bool linux = false;   // plain linux tag, without guarantees
  std::string glibc, glibcxx;
};

Wanted wanted_by(const std::string& platform, const std::string& machine) {
  Wanted wanted;
  const bool musl = platform.starts_with("musllinux");
  const std::vector<pep::Policy>& policies = pep::builtin_policies(musl ? pep::LibC::musl : pep::LibC::glibc);
  const pep::Policy* policy = pep::find_policy(policies, platform);
  const std::optional<pep::Policy> derived = policy == nullptr ? pep::derived_policy(platform) : std::nullopt;
  if (policy == nullptr && !derived) {
    wanted.problem = "unknown platform tag";
    return wanted;
  }
  const pep::Policy& one = policy == nullptr ? *derived : *policy;
  wanted.linux = one.is_linux();
  if (!one.exists_for(machine)) wanted.problem = "the tag does not exist for " + machine;
  if (musl) wanted.problem = "the compiler of this machine links with glibc, not musl";
  wanted.glibc = one.newest(machine, "GLIBC");
  wanted.glibcxx = one.newest(machine, "GLIBCXX");
  return wanted;
}

Check compare(const char* id, const std::string& library, const std::string& found, const std::string& newest,
              const std::string& platform) {
  Check check{.id = id,
              .found = found.empty() ? library + " of unknown version" : library + " " + found,
              .wanted = fmt::format("at most {} {}, for {}", library, newest, platform)};
  if (!found.empty() && !is_older(newest, found)) return check;
  check.state = State::unknown;
  check.why = "it depends on the functions that the code uses; the check after the build decides";
  check.fix = "to be sure: --sysroot DIR of an older system, or build in a container of " + platform;
  return check;
}

}  // namespace

std::optional<Check> check_platform_glibc(const Case& c) {
  const std::string& platform = c.facts.platform;
  if (platform.empty()) return std::nullopt;
  const Wanted wanted = wanted_by(platform, c.python.machine());
  if (!wanted.problem.empty()) {
    return Check{.id = "platform",
                 .state = State::bad,
                 .found = platform,
                 .wanted = "a platform tag that a wheel built here can have",
                 .why = wanted.problem,
                 .fix = "--platform manylinux_2_28, manylinux_2_34 or linux"};
  }
  if (wanted.linux || wanted.glibc.empty() || !c.facts.compiler) return std::nullopt;
  return compare("platform-glibc", "glibc", c.facts.compiler->glibc, wanted.glibc, platform);
}

std::optional<Check> check_platform_libstdcxx(const Case& c) {
  const std::string& platform = c.facts.platform;
  if (platform.empty() || !c.facts.compiler) return std::nullopt;
  const Wanted wanted = wanted_by(platform, c.python.machine());
  if (!wanted.problem.empty() || wanted.linux || wanted.glibcxx.empty()) return std::nullopt;
  return compare("platform-libstdc++", "GLIBCXX", c.facts.compiler->glibcxx, wanted.glibcxx, platform);
}

}  // namespace wheelsmith::doctor
