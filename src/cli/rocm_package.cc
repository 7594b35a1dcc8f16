// wheelsmith rocm package: ROCm artifacts to the `rocm` source distribution and the rocm-sdk wheels.

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "base/error.h"
#include "base/text.h"
#include "cli/rocm_commands.h"
#include "document/finding_value.h"
#include "pep/version.h"
#include "rocm/package.h"
#include "rocm/version_rules.h"
#include "sys/process.h"

namespace wheelsmith::cli {

namespace {

using document::Array;
using document::Table;

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

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// SOURCE_DATE_EPOCH, or nothing where it is not set.
std::optional<std::int64_t> source_date() {
  const std::string text = variable("SOURCE_DATE_EPOCH");
  if (text.empty()) return std::nullopt;
  const auto number = to_number(text);
  if (!number || *number > 253'402'300'799ULL)  // the year 9999
    throw UsageError(fmt::format("SOURCE_DATE_EPOCH is {}, no number of seconds since 1970", printable(text)));
  return static_cast<std::int64_t>(*number);
}

std::string day_of(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) throw Error("the time is none that a calendar knows");
  return fmt::format("{:04}{:02}{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

// "gfx94X-dcgpu;gfx1151" or with commas; the empty text is no family at all.
std::vector<std::string> families(const std::string& text) {
  std::vector<std::string> result;
  for (const std::string_view some : split(text, ';')) {
    for (const std::string_view word : split(some, ',')) {
      if (!trim(word).empty()) result.emplace_back(trim(word));
    }
  }
  return result;
}

std::string version_of(const PackageCommand& command, const std::string& base) {
  rocm::VersionWanted wanted = command.wanted;
  if (wanted.base_version.empty()) wanted.base_version = base;
  std::string version = command.version;
  if (version.empty()) {
    if (wanted.base_version.empty()) {
      throw UsageError(
          "the artifacts do not say which version of ROCm they are; give --version, or "
          "--override-base-version with --release-type");
    }
    if (wanted.release_type.empty() && wanted.custom_suffix.empty()) {
      version = wanted.base_version + ".dev0";
    } else {
      if (wanted.git_sha.empty()) wanted.git_sha = variable("GITHUB_SHA");
      wanted.date = day_of(source_date().value_or(std::time(nullptr)));
      version = rocm::package_version(wanted);
    }
  }
  const auto parsed = pep::Version::try_parse(version);
  if (!parsed) throw UsageError(fmt::format("{} is no version of a Python package", printable(version)));
  return parsed->to_string();
}

void report(const PackageCommand& command, const rocm::Packaged& done) {
  if (command.output.json) {
    Table document;
    document["schema"] = 1;
    document["mode"] = done.kpack ? "kpack" : "family";
    document["version"] = done.version;
    document["targets"] = Array(done.targets.begin(), done.targets.end());
    Array packages;
    for (const rocm::WrittenWheel& wheel : done.packages) {
      Table item;
      item["name"] = wheel.name;
      item["path"] = wheel.path.string();
      item["size"] = wheel.size;
      item["files"] = wheel.files;
      packages.emplace_back(std::move(item));
    }
    document["packages"] = std::move(packages);
    Array findings;
    for (const Finding& finding : done.findings) findings.push_back(document::to_value(finding));
    document["findings"] = std::move(findings);
    print(document::to_json(document) + "\n");
    return;
  }
  std::string text;
  std::size_t notes = 0;
  for (const Finding& finding : done.findings) {
    const bool note = finding.severity == Severity::note;
    notes += note ? 1 : 0;
    if (note && !command.output.all) continue;
    text += fmt::format("{}: {}: {}\n", to_string(finding.severity), printable(finding.subject), finding.what);
  }
  std::uint64_t size = 0;
  for (const rocm::WrittenWheel& wheel : done.packages) {
    size += wheel.size;
    text += fmt::format("{:>9}  {:>6} files  {}\n", human_bytes(wheel.size), wheel.files, wheel.path.string());
  }
  text += fmt::format("ROCm {} for {}: {} packages, {}\n", done.version, join(done.targets, ", "), done.packages.size(),
                      human_bytes(size));
  if (notes > 0 && !command.output.all)
    text += fmt::format("{} links and run paths were left out; --all lists them\n", notes);
  print(text);
}

int package(const PackageCommand& command) {
  rocm::PackageOptions options;
  options.artifacts = command.artifacts;
  options.destination = command.destination;
  options.version = [&](const std::string& base) { return version_of(command, base); };
  options.suffix = command.suffix;
  if (command.has_linux_families) options.linux_families = families(command.linux_families);
  if (command.has_windows_families) options.windows_families = families(command.windows_families);
  options.wheel_compression = command.wheel_compression;
  options.devel_compression = command.devel_compression;
  options.platform_tag = variable("ROCM_SDK_WHEEL_PLATFORM_TAG");
  options.time = source_date().value_or(options.time);
  options.threads = thread_count(command.threads);
  if (!command.output.json) {
    options.on_progress = [](const std::string& text) { std::fputs((printable(text) + "\n").c_str(), stderr); };
  }
  sys::install_interrupt_flag();  // files that are only half written go
  report(command, rocm::package(options));
  return k_fine;
}

void add_version_options(CLI::App& sub, PackageCommand& command) {
  CLI::Option* version = sub.add_option("--version", command.version, "Version of all packages");
  CLI::Option* type = sub.add_option("--release-type", command.wanted.release_type,
                                     "Make the version by the rules for ci, dev, nightly, prerelease, release …");
  type->check(CLI::IsMember(rocm::release_types()))->excludes(version);
  sub.add_option("--custom-version-suffix", command.wanted.custom_suffix, "Put this behind the base version")
      ->excludes(version)
      ->excludes(type);
  sub.add_option("--prerelease-version", command.wanted.prerelease_version, "Number of the prerelease");
  sub.add_option("--override-base-version", command.wanted.base_version, "7.10.0 [what the artifacts say]");
  sub.add_option("--override-git-sha", command.wanted.git_sha, "Commit of ci and dev versions [$GITHUB_SHA]");
  sub.add_option("--base-date", command.wanted.base_date, "Day of the nightly that a bkc build is of: YYYYMMDD");
}

}  // namespace

void add_rocm_package(CLI::App& group, Outcome& outcome) {
  auto command = std::make_shared<PackageCommand>();
  CLI::App* sub = group.add_subcommand("package", "Make the rocm-sdk wheels and the rocm sdist from ROCm's artifacts");
  sub->footer(
      "Reads artifacts, folders NAME_COMPONENT_TARGET or archives of them (.tar.zst, .tar.xz), and writes DEST/dist.\n"
      "Nothing is compiled, and the same artifacts always give the same bytes.\n\n"
      "Examples:\n"
      "  wheelsmith rocm package --artifact-dir artifacts --dest-dir out --version 7.10.0\n"
      "  wheelsmith rocm package --artifact-dir artifacts --dest-dir out --release-type nightly\n"
      "Environment: SOURCE_DATE_EPOCH dates the wheels; ROCM_SDK_WHEEL_PLATFORM_TAG tags them.");
  sub->add_option("--artifact-dir", command->artifacts, "Folder of the artifacts")->required();
  sub->add_option("--dest-dir", command->destination, "Where dist is made")->required();
  add_version_options(*sub, *command);
  sub->add_option("--version-suffix", command->suffix, "Put this behind the names of the folders of native files");
  sub->add_option_function<std::string>(
      "--linux-amdgpu-families",
      [command](const std::string& text) {
        command->linux_families = text;
        command->has_linux_families = true;
      },
      "Families that a release has on Linux, with ; or , between them");
  sub->add_option_function<std::string>(
      "--windows-amdgpu-families",
      [command](const std::string& text) {
        command->windows_families = text;
        command->has_windows_families = true;
      },
      "Families that it has on Windows");
  sub->add_flag("--wheel-compression,!--no-wheel-compression", command->wheel_compression, "Deflate the wheels [yes]");
  sub->add_flag("--devel-tarball-compression,!--no-devel-tarball-compression", command->devel_compression,
                "Pack the devel tree by xz inside its wheel [no]");
  sub->add_option("--threads", command->threads, "Threads; 0: as many as there are cores")->capture_default_str();
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return package(*command); }; });
}

}  // namespace wheelsmith::cli
