// Which commit of another project belongs to a torch, according to torch's own source: the project's record in
// related_commits (ROCm's release branches), or a file with one commit (.ci/docker/ci_commit_pins/triton.txt).

#include "source/torch_pins.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "source/git/git_command.h"

namespace wheelsmith::source {

namespace {

constexpr const char* k_records = "related_commits";

// A name that git can only interpret as a ref.
bool is_ref(std::string_view text) {
  return !text.empty() && text.size() <= 200 && text.front() != '-' && text.front() != '/' && text.back() != '/' &&
         text.find("..") == std::string_view::npos && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("._-/+").find(c) != std::string_view::npos;
         });
}

std::string release_branch(std::string_view version, std::string_view file_name) {
  const std::vector<std::string_view> parts = split(version, '.');
  if (parts.size() < 2 || !to_number(parts[0]) || !to_number(parts[1]))
    throw Error(
        fmt::format("{} must contain a version such as 3.5.1, not {}", printable(file_name), printable(version)));
  return fmt::format("release/{}.{}.x", parts[0], parts[1]);
}

}  // namespace

std::vector<RelatedCommit> parse_related_commits(std::string_view text, std::string_view file_name) {
  std::vector<RelatedCommit> result;
  std::size_t number = 0;
  for (const std::string_view raw : lines(text)) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty() || line.starts_with('#')) continue;
    const auto refuse = [&](const std::string& what) {
      throw Error(fmt::format("{}:{}: {}", printable(file_name), number, what));
    };
    std::vector<std::string> fields;
    for (const std::string_view field : split(line, '|')) fields.emplace_back(trim(field));
    if (fields.size() != 6)
      refuse(fmt::format("{} field{} instead of six (system|source|project|branch|commit|url)", fields.size(),
                         fields.size() == 1 ? "" : "s"));
    if (fields[0].empty() || fields[2].empty()) refuse("no system or no project");
    if (!is_commit(fields[4])) refuse(fmt::format("\"{}\" is not a commit (40 hex digits)", printable(fields[4])));
    if (fields[5].empty() || fields[5].front() == '-' || fields[5].find_first_of(" \t") != std::string::npos)
      refuse(fmt::format("\"{}\" is not a URL", printable(fields[5])));
    RelatedCommit record{fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], number};
    for (const RelatedCommit& other : result) {
      if (other.os == record.os && other.project == record.project &&
          (other.commit != record.commit || other.url != record.url))
        refuse(fmt::format("{} on {} is {} here but {} in line {}", printable(record.project), printable(record.os),
                           record.commit.substr(0, 12), other.commit.substr(0, 12), other.line));
    }
    result.push_back(std::move(record));
  }
  return result;
}

std::string parse_pin(std::string_view text, std::string_view file_name) {
  std::string pin;
  for (const std::string_view raw : lines(text)) {
    const std::string_view line = trim(raw);
    if (line.empty()) continue;
    if (!pin.empty()) throw Error(fmt::format("{} has more than one line, so it is not a pin", printable(file_name)));
    pin = line;
  }
  if (!is_ref(pin))
    throw Error(fmt::format("{} must contain a commit or tag, not \"{}\"", printable(file_name), printable(pin)));
  return pin;
}

std::optional<PinnedRef> pinned_by(const std::string& record, const std::vector<std::string>& files,
                                   const FileReader& read) {
  if (!record.empty()) {
    if (const std::optional<std::string> text = read(k_records)) {
      std::vector<RelatedCommit> mine;
      for (RelatedCommit& found : parse_related_commits(*text, k_records)) {
        if (found.project == record) mine.push_back(std::move(found));
      }
      const auto linux = std::find_if(mine.begin(), mine.end(), [](const auto& found) { return found.os == "ubuntu"; });
      const RelatedCommit* chosen = linux != mine.end() ? &*linux : nullptr;
      const bool agree = std::all_of(mine.begin(), mine.end(), [&](const RelatedCommit& found) {
        return found.commit == mine.front().commit && found.url == mine.front().url;
      });
      if (chosen == nullptr && !mine.empty() && agree) chosen = &mine.front();
      if (chosen == nullptr && !mine.empty())
        throw Error(fmt::format("{} has several commits of {} and none for ubuntu", k_records, printable(record)));
      if (chosen != nullptr)
        return PinnedRef{chosen->url, chosen->commit, fmt::format("{}:{}", k_records, chosen->line)};
    }
  }
  for (const std::string& file : files) {
    const std::optional<std::string> text = read(file);
    if (!text) continue;
    const std::string pin = parse_pin(*text, file);
    return PinnedRef{"", file.ends_with("_version.txt") ? release_branch(pin, file) : pin, file};
  }
  return {};
}

}  // namespace wheelsmith::source
