// Memory, disks and the sandbox. The numbers in the recipe (`known`) are measured: flash-attention's largest unit
// uses 6.43 GB, so two of them on a machine with 8 GB are killed by the kernel, an hour into the build.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/case.h"

namespace wheelsmith::doctor {

namespace {

constexpr std::uint64_t k_megabyte = 1'000'000, k_gigabyte = 1000 * k_megabyte;
// An installed torch with its CUDA libraries uses 5.4 GB, plus the downloaded wheels.
constexpr std::uint64_t k_torch_gpu = 9 * k_gigabyte, k_torch_cpu = 2 * k_gigabyte;
constexpr std::uint64_t k_toolkit = 2 * k_gigabyte;
constexpr std::uint64_t k_little = 256 * k_megabyte;
constexpr std::uint64_t k_most = 1ull << 60;  // recipes are untrusted; sums must not overflow

std::uint64_t environment_bytes(const Case& c) {
  std::uint64_t bytes = 0;
  const bool fetched = !c.facts.torch || c.facts.torch->folder.empty();
  if (c.rules.requires_versions.uses_torch && fetched)
    bytes += c.variant == recipe::Variant::cpu ? k_torch_cpu : k_torch_gpu;
  if (c.toolkit.from == Toolkit::From::registry) bytes += k_toolkit;
  return bytes;
}

std::string elsewhere(const BuildFolder& place) {
  if (place.name == "store") return "--store DIR, on a disk with more room";
  if (place.name == "out") return "--out DIR, on a disk with more room";
  return "TMPDIR=DIR, on a disk with more room";
}

std::uint64_t wanted_in(const BuildFolder& place, const Case& c) {
  const recipe::Estimate& known = c.rules.known;
  const std::uint64_t wheel = std::min(known.wheel_size, k_most);
  if (place.name == "store") return std::max(std::min(known.disk, k_most) + wheel, k_little);
  return place.name == "out" ? wheel : k_little;
}

Check check_place(const BuildFolder& place, const Case& c) {
  const std::uint64_t needed = wanted_in(place, c);
  const std::uint64_t perhaps = place.name == "store" ? needed + environment_bytes(c) : needed;
  Check check{.id = "disk-" + place.name,
              .found = fmt::format("{} free in {}", human_bytes(place.free), place.folder.string()),
              .wanted = needed == 0 ? "a writable folder" : human_bytes(perhaps)};
  if (!place.problem.empty()) {
    check.state = State::bad;
    check.found = place.problem;
    check.wanted = "a writable folder";
    check.why =
        place.name == "store" ? "results, environments and build trees are kept there" : "the build writes there";
    check.fix = place.name == "temporary" ? "TMPDIR=DIR" : fmt::format("--{} DIR", place.name);
  } else if (place.free < needed) {
    check.state = State::bad;
    check.why = place.name == "store" && c.rules.known.disk != 0
                    ? fmt::format("a build of {} uses {}, as measured", c.recipe.name, human_bytes(needed))
                    : "a build needs disk space";
    check.fix = elsewhere(place);
  } else if (place.free < perhaps) {
    check.state = State::unknown;
    check.why = fmt::format("{} of it is for torch and the toolkit, if they are not in the store yet",
                            human_bytes(environment_bytes(c)));
    check.fix = elsewhere(place);
  }
  return check;
}

}  // namespace

std::optional<Check> check_memory(const Case& c) {
  const std::uint64_t per_job = std::min(c.rules.known.memory_per_job, k_most);
  if (per_job == 0 || c.facts.memory.total == 0) return std::nullopt;
  const sys::Memory& memory = c.facts.memory;
  const std::uint64_t fitting = memory.total / per_job;
  Check check{.id = "memory",
              .found = fmt::format("{}, {} free", human_bytes(memory.total), human_bytes(memory.available)),
              .wanted = human_bytes(per_job) + " per compile job"};
  if (fitting == 0) {
    check.state = State::bad;
    check.why = "not even one job fits: the kernel would kill it";
    check.fix = "fallocate -l 16G /swapfile && chmod 600 /swapfile && mkswap /swapfile && swapon /swapfile";
  } else if (c.facts.jobs > fitting) {
    check.state = State::bad;
    check.why = fmt::format("{} jobs would use {}", c.facts.jobs,
                            human_bytes(std::min(per_job, k_most / c.facts.jobs) * c.facts.jobs));
    check.fix = fmt::format("--jobs {}", fitting);
  } else if (memory.available < per_job) {
    check.state = State::unknown;
    check.why = "other programs use the memory that a job needs";
    check.fix = "stop other programs, or wait for them";
  } else {
    check.why = fmt::format("enough for {} in parallel", counted(memory.available / per_job, "job"));
  }
  return check;
}

std::vector<Check> check_places(const Case& c) {
  std::vector<Check> checks;
  for (const BuildFolder& place : c.facts.places) checks.push_back(check_place(place, c));
  return checks;
}

std::optional<Check> check_isolation(const Case& c) {
  if (c.rules.network) return std::nullopt;
  Check check{.id = "isolation", .found = "a separate network namespace", .wanted = "no network while compiling"};
  if (c.facts.isolates_network) return check;
  check.state = State::unknown;
  check.found = "namespaces are not allowed on this machine";
  check.why =
      "instead, the proxy variables point to an address where nothing listens; a build that ignores them can still "
      "download files";
  check.fix = "sysctl -w kernel.unprivileged_userns_clone=1; in a container: --cap-add SYS_ADMIN";
  return check;
}

// Not bad: --sandbox off may be in the settings.
std::optional<Check> sandbox_check(const Facts& facts) {
  if (facts.sandbox_problem.empty()) return std::nullopt;
  return Check{.id = "sandbox",
               .state = State::unknown,
               .found = facts.sandbox_problem,
               .wanted = "a sandbox for build scripts and tests",
               .why = "a build stops unless you let these run with all of your permissions",
               .fix = "--sandbox off, or a machine whose processor is not emulated by qemu's user mode"};
}

std::optional<Check> check_sandbox(const Case& c) { return sandbox_check(c.facts); }

}  // namespace wheelsmith::doctor
