// The version of the packages of one build.
//
//   release            X.Y.Z
//   prerelease N       X.Y.ZrcN
//   nightly            X.Y.ZaDATE
//   nightly-bkc        X.Y.ZaBASE+bkc.DATE
//   ci, dev, dev-bkc   X.Y.Z.dev0+SHA
//
// A bkc build follows a nightly and precedes the next one, so it has that nightly's date, and its own after the plus.
// Versions that are not in normal form are rejected, because many tools compare them as text.

#include "rocm/version_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/request_error.h"
#include "base/text.h"
#include "pep/version.h"

namespace wheelsmith::rocm {

namespace {

bool all_of(std::string_view text, std::string_view digits) {
  return !text.empty() && text.find_first_not_of(digits) == text.npos;
}

void check_date(std::string_view what, const std::string& date) {
  constexpr int k_days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool good = date.size() == 8 && all_of(date, "0123456789");
  if (good) {
    const int year = std::stoi(date.substr(0, 4)), month = std::stoi(date.substr(4, 2)),
              day = std::stoi(date.substr(6));
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    good = year >= 2000 && month >= 1 && month <= 12 && day >= 1 && day <= k_days[month - 1] &&
           (month != 2 || day < 29 || leap);
  }
  if (!good)
    throw Error(date.empty() ? fmt::format("{} is missing: expected a date such as 20261115", what)
                             : fmt::format("{} is \"{}\": expected a date such as 20261115", what, printable(date)));
}

void check_sha(const std::string& sha) {
  if (sha.empty()) throw Error("a build of this type needs its git commit");
  if (sha.size() != 40 || !all_of(sha, "0123456789abcdef"))
    throw Error(fmt::format("\"{}\" is not a git commit of 40 hex digits", printable(sha)));
}

// The normalized form, which must be equal to the given one.
std::string checked(const std::string& version) {
  const auto parsed = pep::Version::try_parse(version);
  if (!parsed) throw Error(fmt::format("\"{}\" is not a valid Python package version", printable(version)));
  if (parsed->to_string() != version)
    throw Error(
        fmt::format("the version \"{}\" is not in its normal form {}", printable(version), parsed->to_string()));
  return version;
}

void check_base(const std::string& base) {
  const auto parts = split(base, '.');
  const bool good = parts.size() == 3 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
                      return all_of(part, "0123456789") && part.size() <= 9;
                    });
  if (!good)
    throw Error(base.empty() ? "the base version is missing: expected three numbers such as 7.10.0"
                             : fmt::format("the base version is \"{}\": expected three numbers such as 7.10.0",
                                           printable(base)));
}

// In the order of release_types().
enum class ReleaseType : std::uint8_t { ci, dev, dev_bkc, nightly, nightly_bkc, prerelease, release };

std::string of_type(ReleaseType type, const VersionWanted& wanted) {
  const std::string& base = wanted.base_version;
  if (type == ReleaseType::release) return base;
  if (type == ReleaseType::prerelease) {
    const std::string& number = wanted.prerelease_version;
    if (!all_of(number, "0123456789") || number.size() > 9)
      throw Error(number.empty()
                      ? "a prerelease needs its number: --prerelease-version N"
                      : fmt::format("the prerelease version is \"{}\": expected a number", printable(number)));
    return base + "rc" + number;
  }
  check_date("the build date", wanted.date);
  if (type == ReleaseType::nightly) return base + "a" + wanted.date;
  if (type == ReleaseType::dev_bkc || type == ReleaseType::nightly_bkc)
    check_date("the base date, which a bkc build needs,", wanted.base_date);
  if (type == ReleaseType::nightly_bkc) return fmt::format("{}a{}+bkc.{}", base, wanted.base_date, wanted.date);
  check_sha(wanted.git_sha);
  return base + ".dev0+" + wanted.git_sha;
}

}  // namespace

const std::vector<std::string>& release_types() {
  static const std::vector<std::string> types = {"ci",          "dev",        "dev-bkc", "nightly",
                                                 "nightly-bkc", "prerelease", "release"};
  return types;
}

std::string package_version(const VersionWanted& wanted) {
  const std::string& type = wanted.release_type;
  check_base(wanted.base_version);
  if (type.empty() == wanted.custom_suffix.empty()) throw Error("pass either a release type or a suffix");
  if (type.empty()) return checked(wanted.base_version + wanted.custom_suffix);
  const auto& types = release_types();
  const auto found = std::find(types.begin(), types.end(), type);
  if (found == types.end()) {
    const auto near = nearest(type, types);
    throw Error(fmt::format("unknown release type \"{}\"{}", printable(type),
                            near ? "; did you mean " + *near + "?" : "; valid types are " + join(types, ", ")));
  }
  const auto release_type = static_cast<ReleaseType>(found - types.begin());
  if (release_type != ReleaseType::prerelease && !wanted.prerelease_version.empty())
    throw Error(fmt::format("--prerelease-version requires the release type prerelease, not {}", type));
  return checked(of_type(release_type, wanted));
}

std::string wheel_version(const std::string& given, VersionWanted wanted, const std::string& artifacts) {
  if (wanted.base_version.empty()) wanted.base_version = artifacts;
  std::string version = given;
  if (version.empty()) {
    if (wanted.base_version.empty())
      throw RequestError(
          "the artifacts do not contain the ROCm version; pass --version, or "
          "--override-base-version with --release-type");
    const bool development = wanted.release_type.empty() && wanted.custom_suffix.empty();
    version = development ? wanted.base_version + ".dev0" : package_version(wanted);
  }
  const auto parsed = pep::Version::try_parse(version);
  if (!parsed) throw RequestError(fmt::format("{} is not a valid Python package version", printable(version)));
  return parsed->to_string();
}

std::string calendar_day(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) throw Error("the time is out of range");
  return fmt::format("{:04}{:02}{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

}  // namespace wheelsmith::rocm
