#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "pep/metadata/metadata.h"
#include "pep/scanner.h"
#include "pep/wheel_name.h"

namespace wheelsmith::pep {

namespace {

void check_wheel_version(const Headers& wheel, const std::string& subject, std::vector<Finding>& findings) {
  const std::string text(trim(wheel.get("Wheel-Version")));
  if (text.empty()) {
    findings.push_back({"wheel-version-missing", Severity::error, subject, "there is no Wheel-Version field",
                        "pip rejects a wheel without a format version", "write \"Wheel-Version: 1.0\""});
    return;
  }
  const std::vector<std::string_view> parts = split(text, '.');
  const auto major = to_number(parts[0]);
  const auto minor = parts.size() == 2 ? to_number(parts[1]) : std::nullopt;
  if (!major || !minor || *major != 1) {
    findings.push_back({"wheel-version-unknown", Severity::error, subject,
                        fmt::format("Wheel-Version is {}; only 1.0 is defined", quoted_text(text)),
                        "pip rejects wheels with another major version", "write \"Wheel-Version: 1.0\""});
  } else if (*minor != 0) {
    findings.push_back({"wheel-version-newer", Severity::warning, subject,
                        fmt::format("Wheel-Version is {}, newer than 1.0", quoted_text(text)),
                        "pip warns at every installation", "write \"Wheel-Version: 1.0\""});
  }
}

void check_purelib(const Headers& wheel, const std::string& subject, std::vector<Finding>& findings) {
  const std::string value = to_lower(trim(wheel.get("Root-Is-Purelib")));
  if (value == "true" || value == "false") return;
  findings.push_back({"wheel-root-is-purelib", Severity::error, subject,
                      value.empty() ? "there is no Root-Is-Purelib field"
                                    : fmt::format("Root-Is-Purelib is {}, neither true nor false", quoted_text(value)),
                      "uv rejects it, and pip assumes false; it decides where the files are installed",
                      "write \"Root-Is-Purelib: false\" if the wheel has compiled code, else true"});
}

void check_tag(const std::string& text, const std::string& subject, std::vector<Finding>& findings) {
  try {
    if (Tag::expand(text).size() == 1) return;
    findings.push_back({"wheel-tag-compressed", Severity::note, subject,
                        fmt::format("the Tag {} is a compressed set of tags", quoted_text(text)),
                        "the format requires one Tag line per tag, and tools that compare them with the file name fail",
                        "write one Tag line for each"});
  } catch (const Error& error) {
    findings.push_back({"wheel-tag-malformed", Severity::error, subject, error.what(),
                        "installers that compare the tags with the file name reject the wheel",
                        "write each Tag as python-abi-platform"});
  }
}

void check_tags(const Headers& wheel, const std::string& subject, std::vector<Finding>& findings) {
  const std::vector<std::string> tags = wheel.all("Tag");
  if (tags.empty()) {
    // Some versions of scikit-build and auditwheel left an empty line before the tags.
    const bool in_body = ("\n" + wheel.body).find("\nTag:") != std::string::npos;
    findings.push_back(
        {"wheel-tag-missing", Severity::warning, subject,
         in_body ? "the Tag fields follow an empty line, which ends the fields" : "there is no Tag field",
         "installers use the file name, but pip check reports the installed package as unsupported",
         in_body ? "remove the empty line" : "write one Tag line for each tag of the file name"});
  }
  std::set<std::string> seen;
  for (const std::string& tag : tags) {
    const std::string text(trim(tag));
    check_tag(text, subject, findings);
    if (seen.insert(text).second) continue;
    findings.push_back({"wheel-tag-repeated", Severity::note, subject,
                        fmt::format("the Tag {} occurs twice", quoted_text(text)),
                        "it is harmless, but shows that the file was edited by hand", "write each Tag once"});
  }
}

void check_build(const Headers& wheel, const std::string& subject, std::vector<Finding>& findings) {
  const std::vector<std::string> builds = wheel.all("Build");
  const bool valid = std::all_of(builds.begin(), builds.end(), [](const std::string& value) {
    const std::string_view build = trim(value);
    return !build.empty() && is_digit(build.front()) && build.find_first_of("-/ ") == std::string_view::npos;
  });
  if (valid && builds.size() <= 1) return;
  findings.push_back({"wheel-build", Severity::error, subject,
                      builds.size() > 1 ? std::string("there are several Build fields")
                                        : fmt::format("the Build number {} is not valid", quoted_text(builds[0])),
                      "it orders wheels of the same version; tools cannot parse it",
                      "write one Build field that begins with a digit, as in the file name"});
}

}  // namespace

std::vector<Finding> check_wheel_file(const Headers& wheel, const std::string& subject) {
  std::vector<Finding> findings;
  if (wheel.has_byte_order_mark) {
    findings.push_back({"wheel-byte-order-mark", Severity::error, subject, "the file begins with a byte order mark",
                        "pip reads everything as the body and finds no fields", "save the file without the mark"});
  }
  check_wheel_version(wheel, subject, findings);
  check_purelib(wheel, subject, findings);
  check_tags(wheel, subject, findings);
  check_build(wheel, subject, findings);
  return findings;
}

}  // namespace wheelsmith::pep
