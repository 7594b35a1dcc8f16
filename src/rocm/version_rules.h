#pragma once

#include <cstdint>
#include <string>
#include <vector>

// The kind of a build, as its version shows it.

namespace wheelsmith::rocm {

// Dates and hashes are arguments, so that the result depends on the arguments only.
struct VersionWanted {
  std::string release_type;        // one of release_types(); "" with custom_suffix
  std::string base_version;        // "7.10.0"
  std::string prerelease_version;  // of a prerelease: "2"
  std::string base_date;           // of the nightly that a bkc build is of: YYYYMMDD
  std::string date;                // of the build: YYYYMMDD
  std::string git_sha;             // 40 digits
  std::string custom_suffix;       // put behind the base version as it is
};

// ci, dev, dev-bkc, nightly, nightly-bkc, prerelease, release
const std::vector<std::string>& release_types();
// Throws Error for values that contradict each other.
std::string package_version(const VersionWanted& wanted);

// The version of all packages of a run: `given` if the user gave one, else by the rules; without a release type a
// development version of the base version. `artifacts` is the base version in the artifacts, "" for none. Throws
// RequestError if there is no base version, and for a version that is not valid for Python packages.
std::string wheel_version(const std::string& given, VersionWanted wanted, const std::string& artifacts);

// "20261115", in UTC, of seconds since 1970.
std::string calendar_day(std::int64_t seconds);

}  // namespace wheelsmith::rocm
