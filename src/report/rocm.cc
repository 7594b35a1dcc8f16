#include "report/rocm.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "document/finding_value.h"
#include "report/json_document.h"
#include "sys/process/process.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Table;

Array lock_array(const env::Lock& lock) {
  Array wheels;
  for (const env::PinnedWheel& wheel : lock.wheels) {
    Table item;
    item["name"] = wheel.name;
    item["version"] = wheel.version;
    item["file"] = wheel.file_name;
    item["sha256"] = wheel.sha256;
    wheels.emplace_back(std::move(item));
  }
  return wheels;
}

std::uint64_t known_bytes(const rocm::ChosenRun& run) {
  std::uint64_t bytes = 0;
  for (const rocm::ChosenFile& file : run.files) bytes += file.size.value_or(0);
  return bytes;
}

struct Downloads {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

Downloads downloads_of(const FetchedRun& run) {
  Downloads downloads;
  for (const rocm::FetchedFile& file : run.files) {
    downloads.files += file.downloaded ? 1 : 0;
    downloads.bytes += file.downloaded ? file.size : 0;
  }
  return downloads;
}

}  // namespace

std::string installed_rocm_text(const env::InstalledRocm& installed) {
  std::string text;
  for (const env::PinnedWheel& wheel : installed.lock.wheels)
    text += fmt::format("{} {} {}\n", installed.dry_run ? "would install" : "installed", wheel.name, wheel.version);
  if (!installed.rocm) return text;
  text += fmt::format("ROCm {} in {}\n", installed.version, installed.rocm->root.string());
  for (const auto& [name, value] : env::rocm_variables(*installed.rocm))
    text += fmt::format("export {}={}\n", name, sys::shell_quoted(value));
  return text;
}

std::string installed_rocm_json(const env::InstalledRocm& installed) {
  Table document = new_document();
  document["version"] = installed.version;
  document["index"] = installed.index;
  document["family"] = installed.family;
  document["environment"] = installed.python.prefix.string();
  document["dry_run"] = installed.dry_run;
  document["wheels"] = lock_array(installed.lock);
  Table variables;
  if (installed.rocm) {
    document["root"] = installed.rocm->root.string();
    document["targets"] = text_array(installed.rocm->targets);
    for (const auto& [name, value] : env::rocm_variables(*installed.rocm)) variables[name] = value;
  }
  document["variables"] = std::move(variables);
  return document_text(document);
}

std::string chosen_run_text(const rocm::ChosenRun& run) {
  std::string text;
  for (const rocm::ChosenFile& file : run.files)
    text += fmt::format("{}{}\n", printable(file.file), file.size ? "  " + human_bytes(*file.size) : "");
  const std::uint64_t bytes = known_bytes(run);
  return text +
         fmt::format("{}{}\n", counted(run.files.size(), "archive"), bytes == 0 ? "" : ", " + human_bytes(bytes));
}

std::string chosen_run_json(const rocm::ChosenRun& run) {
  Table document = new_document();
  document["run"] = run.key;
  document["dry_run"] = true;
  Array files;
  for (const rocm::ChosenFile& file : run.files) {
    Table item;
    item["file"] = file.file;
    item["size"] = file.size ? document::Value(*file.size) : document::Value();
    files.emplace_back(std::move(item));
  }
  document["files"] = std::move(files);
  document["bytes"] = known_bytes(run);
  return document_text(document);
}

std::size_t FetchedRun::failed() const {
  return static_cast<std::size_t>(
      std::count_if(files.begin(), files.end(), [](const rocm::FetchedFile& file) { return !file.error.empty(); }));
}

std::string fetched_run_text(const FetchedRun& run) {
  const Downloads downloads = downloads_of(run);
  const std::size_t failed = run.failed();
  return fmt::format("{}: {} fetched ({}), {} already present{}\n", counted(run.files.size(), "artifact"),
                     downloads.files, human_bytes(downloads.bytes), run.files.size() - downloads.files - failed,
                     failed == 0 ? "" : fmt::format(", {} failed", failed));
}

std::string fetched_run_json(const FetchedRun& run) {
  Table document = new_document();
  document["run"] = run.key;
  document["folder"] = run.folder.string();
  Array files;
  for (const rocm::FetchedFile& file : run.files) {
    Table item;
    item["file"] = file.file;
    item["path"] = file.path.string();
    item["sha256"] = file.sha256;
    item["size"] = file.size;
    item["downloaded"] = file.downloaded;
    if (!file.error.empty()) item["error"] = file.error;
    files.emplace_back(std::move(item));
  }
  document["files"] = std::move(files);
  const Downloads downloads = downloads_of(run);
  document["downloaded"] = downloads.files;
  document["bytes"] = downloads.bytes;
  document["failed"] = run.failed();
  return document_text(document);
}

std::string packaged_text(const rocm::Packaged& packaged, const Style& style) {
  std::string text;
  std::size_t notes = 0;
  for (const Finding& finding : packaged.findings) {
    const bool note = finding.severity == Severity::note;
    notes += note ? 1 : 0;
    if (note && !style.details) continue;
    text += fmt::format("{}: {}: {}\n", to_string(finding.severity), printable(finding.subject), finding.what);
  }
  std::uint64_t size = 0;
  for (const rocm::WrittenWheel& wheel : packaged.packages) {
    size += wheel.size;
    text += fmt::format("{:>9}  {:>6} files  {}\n", human_bytes(wheel.size), wheel.files, wheel.path.string());
  }
  text += fmt::format("ROCm {} for {}: {}, {}\n", packaged.version, join(packaged.targets, ", "),
                      counted(packaged.packages.size(), "package"), human_bytes(size));
  if (notes > 0 && !style.details)
    text += fmt::format("{} links and run paths were dropped; use --all to list them\n", notes);
  return text;
}

std::string packaged_json(const rocm::Packaged& packaged) {
  Table document = new_document();
  document["mode"] = packaged.kpack ? "kpack" : "family";
  document["version"] = packaged.version;
  document["targets"] = text_array(packaged.targets);
  Array packages;
  for (const rocm::WrittenWheel& wheel : packaged.packages) {
    Table item;
    item["name"] = wheel.name;
    item["path"] = wheel.path.string();
    item["size"] = wheel.size;
    item["files"] = wheel.files;
    packages.emplace_back(std::move(item));
  }
  document["packages"] = std::move(packages);
  Array findings;
  for (const Finding& finding : packaged.findings) findings.push_back(document::to_value(finding));
  document["findings"] = std::move(findings);
  return document_text(document);
}

}  // namespace wheelsmith::report
