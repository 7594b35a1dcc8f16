// `rocm package`: makes the `rocm` source distribution and the rocm-sdk wheels from ROCm artifacts.

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "base/text.h"
#include "cli/rocm/rocm_commands.h"
#include "report/rocm.h"
#include "rocm/package.h"
#include "rocm/version_rules.h"
#include "sys/process/process.h"

namespace wheelsmith::cli {

namespace {

struct PackageCommand {
  std::string artifacts, destination;
  std::string version, suffix;
  rocm::VersionWanted wanted;
  std::string linux_families, windows_families;
  bool has_linux_families = false, has_windows_families = false;
  bool wheel_compression = true, devel_compression = false;
  unsigned threads = 0;
  OutputOptions output;
};

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// SOURCE_DATE_EPOCH, if it is set.
std::optional<std::int64_t> source_date() {
  const std::string text = environment_text("SOURCE_DATE_EPOCH");
  if (text.empty()) return std::nullopt;
  const auto number = to_number(text);
  if (!number || *number > 253'402'300'799ULL)  // the year 9999
    throw UsageError(
        fmt::format("SOURCE_DATE_EPOCH is {}, which is not a number of seconds since 1970", printable(text)));
  return static_cast<std::int64_t>(*number);
}

rocm::PackageOptions package_options(const PackageCommand& command) {
  rocm::VersionWanted wanted = command.wanted;
  if (wanted.git_sha.empty()) wanted.git_sha = environment_text("GITHUB_SHA");
  wanted.date = rocm::calendar_day(source_date().value_or(std::time(nullptr)));
  rocm::PackageOptions options;
  options.artifacts = command.artifacts;
  options.destination = command.destination;
  options.version = [given = command.version, wanted](const std::string& base) {
    return rocm::wheel_version(given, wanted, base);
  };
  options.suffix = command.suffix;
  if (command.has_linux_families) options.linux_families = rocm::family_list(command.linux_families);
  if (command.has_windows_families) options.windows_families = rocm::family_list(command.windows_families);
  options.wheel_compression = command.wheel_compression;
  options.devel_compression = command.devel_compression;
  options.platform_tag = environment_text("ROCM_SDK_WHEEL_PLATFORM_TAG");
  options.time = source_date().value_or(options.time);
  options.threads = thread_count(command.threads);
  if (!command.output.json) options.on_progress = [](const std::string& text) { print_status(printable(text) + "\n"); };
  return options;
}

int package(const PackageCommand& command) {
  const rocm::PackageOptions options = package_options(command);
  sys::install_interrupt_flag();  // so that half-written files are removed
  const rocm::Packaged done = rocm::package(options);
  print(command.output.json ? report::packaged_json(done) : report::packaged_text(done, command.output.style()));
  return k_fine;
}

void add_version_options(CLI::App& sub, PackageCommand& command) {
  CLI::Option* version = sub.add_option("--version", command.version, "Version of all packages");
  CLI::Option* type = sub.add_option("--release-type", command.wanted.release_type,
                                     "Derive the version by the rules for ci, dev, nightly, prerelease, release …");
  type->check(CLI::IsMember(rocm::release_types()))->excludes(version);
  sub.add_option("--custom-version-suffix", command.wanted.custom_suffix, "Suffix of the base version")
      ->excludes(version)
      ->excludes(type);
  sub.add_option("--prerelease-version", command.wanted.prerelease_version, "Prerelease number");
  sub.add_option("--override-base-version", command.wanted.base_version,
                 "Base version, such as 7.10.0; default: the version of the artifacts");
  sub.add_option("--override-git-sha", command.wanted.git_sha, "Commit in ci and dev versions [$GITHUB_SHA]");
  sub.add_option("--base-date", command.wanted.base_date, "Date of the nightly that a bkc build is based on: YYYYMMDD");
}

}  // namespace

void add_rocm_package(CLI::App& group, Outcome& outcome) {
  auto command = std::make_shared<PackageCommand>();
  CLI::App* sub = group.add_subcommand("package", "Make the rocm-sdk wheels and the rocm sdist from ROCm artifacts");
  sub->footer(
      "Reads artifacts, folders NAME_COMPONENT_TARGET or archives of them (.tar.zst, .tar.xz), and writes DEST/dist.\n"
      "Compiles nothing; the same artifacts always produce the same bytes.\n\n"
      "Examples:\n"
      "  wheelsmith rocm package --artifact-dir artifacts --dest-dir out --version 7.10.0\n"
      "  wheelsmith rocm package --artifact-dir artifacts --dest-dir out --release-type nightly\n"
      "Environment: SOURCE_DATE_EPOCH dates the wheels; ROCM_SDK_WHEEL_PLATFORM_TAG tags them.");
  sub->add_option("--artifact-dir", command->artifacts, "Folder of the artifacts")->required();
  sub->add_option("--dest-dir", command->destination, "Parent folder of dist")->required();
  add_version_options(*sub, *command);
  sub->add_option("--version-suffix", command->suffix, "Suffix for the names of the folders with native files");
  sub->add_option_function<std::string>(
      "--linux-amdgpu-families",
      [command](const std::string& text) {
        command->linux_families = text;
        command->has_linux_families = true;
      },
      "GPU families of the release on Linux, separated by ; or ,");
  sub->add_option_function<std::string>(
      "--windows-amdgpu-families",
      [command](const std::string& text) {
        command->windows_families = text;
        command->has_windows_families = true;
      },
      "GPU families of the release on Windows");
  sub->add_flag("--wheel-compression,!--no-wheel-compression", command->wheel_compression, "Compress the wheels [yes]");
  sub->add_flag("--devel-tarball-compression,!--no-devel-tarball-compression", command->devel_compression,
                "Compress the devel tree in its wheel with xz [no]");
  sub->add_option("--threads", command->threads, "Number of threads; 0: one per core")->capture_default_str();
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return package(*command); }; });
}

}  // namespace wheelsmith::cli
