// pip reports what it would install as a JSON document (report version "1", pip 22.2 and later):
//
//   {"version": "1", "install": [{"metadata": {"name", "version"},
//                                 "download_info": {"url", "archive_info": {"hashes": {"sha256": …}}}}]}
//
// pip before 23.0 has "hash": "sha256=…" instead of "hashes". It explains failures in prose, of which some lines are
// the reason and most are not: an unreachable network ends as "no matching distribution", and only a warning further up
// says so.

#include "env/pip_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "pep/project/project_page.h"
#include "pep/wheel_name.h"

namespace wheelsmith::env {

namespace {

constexpr std::size_t k_most_conflict_lines = 12;

std::string file_name_of(std::string_view url) {
  const std::string_view place = url.substr(0, url.find_first_of("?#"));
  return pep::percent_decoded(base_name(place));
}

std::string hash_of(const document::Value& archive) {
  std::string hash = archive["hashes"]["sha256"].text_or();
  if (const std::string old = archive["hash"].text_or(); hash.empty() && old.starts_with("sha256=")) {
    hash = old.substr(7);
  }
  hash = to_lower(hash);
  const bool is_hex = hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  return hash.size() == 64 && is_hex ? hash : "";
}

// The rest of the line after the word.
std::string_view behind(std::string_view line, std::string_view word) {
  return line.starts_with(word) ? line.substr(word.size()) : std::string_view();
}

bool tells_of_network(std::string_view line) {
  for (const std::string_view sign :
       {"after connection broken by", "NewConnectionError", "Failed to establish a new connection",
        "Temporary failure in name resolution", "Could not fetch URL", "Connection refused", "ReadTimeoutError",
        "ConnectTimeoutError", "SSLError", "ProxyError", "MaxRetryError"}) {
    if (line.find(sign) != std::string_view::npos) return true;
  }
  return false;
}

// "Could not find a version that satisfies the requirement X (from versions: none)" -> "X".
std::string requirement_in(std::string_view text) {
  const std::size_t end = std::min(text.find(" (from"), text.size());
  return std::string(trim(text.substr(0, end)));
}

std::string conflict_in(const std::vector<std::string_view>& all, std::size_t at) {
  std::string conflict;
  std::size_t count = 0;
  for (std::size_t i = at + 1; i < all.size() && count < k_most_conflict_lines; ++i) {
    const std::string_view line = trim(all[i]);
    if (line.empty()) break;
    conflict += (conflict.empty() ? "" : "; ") + printable(line);
    ++count;
  }
  return conflict;
}

}  // namespace

std::vector<PinnedWheel> parse_pip_report(std::string_view text) {
  const document::Value report = document::parse_json(text, "pip's report");
  const document::Array* installs = report["install"].array();
  if (installs == nullptr || report["version"].text_or() != "1") throw Error("pip's report has an unknown version");
  std::vector<PinnedWheel> wheels;
  for (const document::Value& install : *installs) {
    PinnedWheel wheel;
    wheel.name =
        pep::is_safe_file_name(install["metadata"]["name"].text_or()) ? install["metadata"]["name"].text_or() : "";
    wheel.version = install["metadata"]["version"].text_or();
    wheel.url = install["download_info"]["url"].text_or();
    wheel.url = wheel.url.substr(0, wheel.url.find('#'));
    wheel.file_name = file_name_of(wheel.url);
    wheel.sha256 = hash_of(install["download_info"]["archive_info"]);
    if (wheel.name.empty() || wheel.version.empty() || wheel.url.empty()) {
      throw Error("pip's report contains a project without name, version or URL");
    }
    if (!wheel.file_name.ends_with(".whl") || !pep::is_safe_file_name(wheel.file_name)) {
      throw Error(fmt::format("{} {} is only available as {}, not as a wheel; environments are made from wheels only",
                              printable(wheel.name), printable(wheel.version), printable(wheel.file_name)));
    }
    // Normalized before sorting: a lock's order must not depend on how a project spells its name.
    wheel.name = pep::normalized_name(wheel.name);
    wheels.push_back(std::move(wheel));
  }
  std::ranges::sort(wheels, {}, &PinnedWheel::name);
  return wheels;
}

PipFailure read_pip_failure(std::string_view output) {
  PipFailure failure;
  std::string_view network, first_error;
  const auto all = lines(output);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view line = trim(all[i]);
    if (network.empty() && tells_of_network(line)) network = line;
    if (line.find("no such option: --report") != std::string_view::npos) failure.kind = PipFailure::Kind::old_pip;
    if (line.starts_with("The conflict is caused by:") && failure.kind == PipFailure::Kind::other) {
      failure.kind = PipFailure::Kind::conflict;
      failure.reason = "conflicting requirements: " + conflict_in(all, i);
    }
    const std::string_view error = trim(behind(line, "ERROR:"));
    if (error.empty()) continue;
    if (first_error.empty()) first_error = error;
    if (const auto unmet = behind(error, "Could not find a version that satisfies the requirement "); !unmet.empty()) {
      failure.kind = PipFailure::Kind::no_match;
      failure.requirement = requirement_in(unmet);
      failure.reason = "no matching distribution found for " + printable(unmet);
    }
  }
  const bool nothing_seen = failure.reason.find("(from versions: none)") != std::string::npos;
  if (!network.empty() && (failure.kind == PipFailure::Kind::other || nothing_seen)) {
    failure.kind = PipFailure::Kind::network;
    failure.reason = "cannot reach the package index: " + printable(network);
  }
  if (failure.reason.empty()) failure.reason = first_error.empty() ? "pip gave no reason" : printable(first_error);
  return failure;
}

}  // namespace wheelsmith::env
