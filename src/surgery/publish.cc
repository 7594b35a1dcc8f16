#include "surgery/publish.h"

// Writes a draft to its final file.
//
// The new wheel is written under a temporary name in the target folder, checked as `check` does it, and renamed. A
// process that is killed leaves a hidden temporary file and no wheel. Errors that the input has already do not stop an
// operation: a broken RECORD is reported by `check`, not by `retag`. So if the
// new wheel has errors, the input is checked as well, and only the difference counts.
//
// The check does not read members that were copied unread: their lines of RECORD are those of the input, and the facts
// of the binaries come from the scan that the operation made.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/hash.h"
#include "base/request_error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/page_trimmer.h"

namespace wheelsmith::surgery {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_shown = 5;

// The facts of carried binaries under their names in the new wheel.
wheel::Scan renamed_scan(const wheel::Scan& scan, const Draft& draft) {
  wheel::Scan result = scan;
  for (wheel::ElfFacts& facts : result.elf) {
    for (Finding& finding : facts.layout) finding.subject = draft.new_name(finding.subject);
    facts.path = draft.new_name(facts.path);
  }
  for (wheel::DeviceFile& file : result.device_files) file.path = draft.new_name(file.path);
  for (Finding& finding : result.unreadable) finding.subject = draft.new_name(finding.subject);
  return result;
}

// Python files are always read: the rules for binaries depend on what they load and import.
bool is_read_anyway(const std::string& member, bool all_binaries) {
  return all_binaries && (member.ends_with(".py") || member.ends_with(".pyi"));
}

wheel::Verdict verdict_on(const std::string& name, Bytes bytes, const wheel::CarriedMembers& carried,
                          const PublishCheck& check, unsigned threads) {
  wheel::CheckOptions options;
  options.threads = threads;
  options.platform = check.platform;
  options.carried = &carried;
  return wheel::check_wheel(name, bytes, options);
}

std::vector<Finding> errors_of_new(const Draft& draft, Bytes written, const KnownBinaries& known,
                                   const PublishCheck& check, unsigned threads) {
  const std::map<std::string, std::string> carried = draft.carried();
  std::set<std::string> old_names;
  for (const auto& [new_name, old_name] : carried) old_names.insert(old_name);
  const wheel::Scan scan = known.scan != nullptr ? renamed_scan(*known.scan, draft) : wheel::Scan();
  const wheel::CarriedMembers after{
      [&](const std::string& name) { return carried.contains(name) && !is_read_anyway(name, known.all); }, &scan,
      known.all};
  const wheel::Verdict verdict = verdict_on(draft.name().to_string(), written, after, check, threads);
  if (verdict.is_good()) return {};
  const InputWheel& input = draft.input();
  const wheel::CarriedMembers before{
      [&](const std::string& name) {
        const bool is_binary = known.all && known.scan != nullptr &&
                               std::ranges::any_of(known.scan->elf, [&](const auto& one) { return one.path == name; });
        return (old_names.contains(name) || is_binary) && !is_read_anyway(name, known.all);
      },
      known.scan, known.all};
  return new_errors(verdict_on(std::string(base_name(input.path())), input.bytes(), before, check, threads), verdict,
                    draft);
}

// On one line: the terminal shows a newline in an error as \x0a, since errors may quote hostile names.
std::string shown_errors(const std::vector<Finding>& errors) {
  std::string text;
  for (std::size_t i = 0; i < errors.size() && i < k_most_shown; ++i)
    text += fmt::format("{}{}: {}: {}", i == 0 ? "" : "; ", errors[i].id, printable(errors[i].subject),
                        printable(errors[i].what));
  if (errors.size() > k_most_shown) text += fmt::format("; and {} more", errors.size() - k_most_shown);
  return text;
}

}  // namespace

void refuse_second(const fs::path& target, const WriteOptions& options) {
  if (options.written->contains(target))
    throw Error(fmt::format("{} was already written for another input; use another --out DIR for one of them",
                            printable(target.string())));
}

std::vector<Finding> new_errors(const wheel::Verdict& before, const wheel::Verdict& after, const Draft& draft) {
  const std::string old_file(base_name(draft.input().path()));
  const auto old_subject = [&](std::string subject) {
    if (subject == draft.name().to_string()) return old_file;
    const std::string& folder = draft.dist_info();
    if (subject == folder || subject.starts_with(folder + "/"))
      subject = draft.input().distribution().dist_info + subject.substr(folder.size());
    return subject;
  };
  std::set<std::pair<std::string, std::string>> known;
  for (const Finding& finding : before.findings) {
    if (finding.severity == Severity::error) known.emplace(finding.id, finding.subject);
  }
  std::vector<Finding> result;
  for (const Finding& finding : after.findings) {
    if (finding.severity == Severity::error && !known.contains({finding.id, old_subject(finding.subject)}))
      result.push_back(finding);
  }
  return result;
}

void publish(const Draft& draft, const KnownBinaries& known, const WriteOptions& options, Item& item) {
  publish(draft, known, PublishCheck(), options, item);
}

void publish(const Draft& draft, const KnownBinaries& known, const PublishCheck& check, const WriteOptions& options,
             Item& item) {
  const std::string file_name = draft.name().to_string();
  if (pep::WheelName::parse(file_name) != draft.name())
    throw RequestError(fmt::format("{} is not a valid wheel file name", printable(file_name)));
  const fs::path target = options.out / file_name;
  std::error_code ignored;  // a missing file is not the same file
  if (fs::equivalent(target, draft.input().path(), ignored))
    throw RequestError(
        fmt::format("{} would replace the input; choose another folder with --out DIR", printable(target.string())));
  refuse_second(target, options);
  // A dry run leaves no folder behind, and the folder may be one that only a later run can write to.
  std::unique_ptr<sys::TempDir> temporary;
  if (options.dry_run)
    temporary = std::make_unique<sys::TempDir>();
  else
    sys::make_folders(options.out);
  sys::AtomicFile file(options.dry_run ? temporary->path() / file_name : target);
  const std::uint64_t size =
      draft.write(file, [&](std::uint64_t offset, Bytes bytes) { file.write_at(offset, bytes); }, options);

  Output output{target.string(), "", size, {}};
  {
    const Blob written = sys::map_file(file.temporary_path());
    const sys::PageTrimmer trimmer(written.bytes);
    const std::vector<Finding> errors = errors_of_new(draft, written.bytes, known, check, options.threads);
    if (!errors.empty() && !options.force)
      throw Error(fmt::format("the new wheel would have {} that the input does not have; nothing was written: {}",
                              errors.size() == 1 ? "an error" : "errors", shown_errors(errors)));
    for (const Finding& error : errors)
      item.notes.push_back(fmt::format("written despite {}: {}: {}", error.id, error.subject, error.what));
    if (options.hash) output.sha256 = to_hex(sha256(written.bytes));
  }
  for (const pep::Tag& tag : draft.name().tags()) output.tags.push_back(tag.to_string());
  std::ranges::sort(output.tags);
  if (!options.dry_run) file.commit();
  options.written->insert(target);
  item.notes.insert(item.notes.end(), draft.notes().begin(), draft.notes().end());
  item.dry_run = options.dry_run;
  item.after_bytes += size;
  item.outputs.push_back(std::move(output));
}

}  // namespace wheelsmith::surgery
