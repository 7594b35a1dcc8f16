#include "run/build_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "run/outcome.h"
#include "sys/files.h"
#include "sys/process/own_process.h"

namespace wheelsmith::run {

namespace {

constexpr std::uint64_t k_most_record = 256ull << 20;

std::map<std::string, std::string> texts_of(const document::Value& value) {
  std::map<std::string, std::string> result;
  if (value.table() == nullptr) return result;
  for (const auto& [name, item] : *value.table()) result[name] = item.text_or();
  return result;
}

// Whether a wheelsmith process has that number. Processes of other machines cannot be seen.
bool lives_here(const std::string& host, std::int64_t pid) {
  if (host != sys::host_name()) return false;
  const auto name = sys::read_file_if_possible(fmt::format("/proc/{}/comm", pid), 4096);
  return name && name->starts_with("wheelsmith");
}

ListedBuild read_build(const document::Value& record) {
  ListedBuild build;
  build.id = record["id"].text_or();
  build.on = record["on"].text_or("local");
  build.started = record["started"].number();
  build.host = record["host"].text_or();
  build.command = record["command"].texts();
  build.planned = record["planned"].texts();
  build.folder = record["folder"].text_or();
  build.environment = texts_of(record["environment"]);
  build.keys = texts_of(record["keys"]);
  build.running = texts_of(record["running"]);
  bool good = true;
  if (const document::Array* steps = record["steps"].array()) {
    for (const document::Value& step : *steps) {
      const std::string outcome = step["outcome"].text_or();
      build.ended[step["id"].text_or()] = outcome;
      const bool made = outcome == enum_name(Outcome::built) || outcome == enum_name(Outcome::cached);
      good = good && (made || step["optional"].boolean_or(false));
    }
  }
  if (record["ended"].boolean_or(false))
    build.state = good ? ListedBuild::State::done : ListedBuild::State::failed;
  else if (lives_here(build.host, record["pid"].integer_or(0)))
    build.state = ListedBuild::State::running;
  else
    build.state = build.on == "slurm" ? ListedBuild::State::detached : ListedBuild::State::interrupted;
  // A command that left its jobs running reported their steps as skipped.
  if (build.state == ListedBuild::State::detached)
    std::erase_if(build.ended, [](const auto& item) { return item.second == enum_name(Outcome::skipped); });
  return build;
}

}  // namespace

std::filesystem::path log_path(const store::Store& store, const std::string& id, const std::string& key) {
  return store.folder("logs") / fmt::format("{}-{}.log", store::slug(id), key.substr(0, 12));
}

std::vector<ListedBuild> list_builds(const store::Store& store) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(store.folder("logs"), error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("build-") && name.ends_with(".json")) files.push_back(entry.path());
  }
  std::vector<ListedBuild> builds;
  for (const std::filesystem::path& file : files) {
    const auto text = sys::read_file_if_possible(file, k_most_record);
    const auto record = text ? document::try_parse_json(*text) : std::nullopt;
    if (record && !(*record)["id"].text_or().empty()) builds.push_back(read_build(*record));
  }
  std::stable_sort(builds.begin(), builds.end(), [](const auto& a, const auto& b) { return a.started > b.started; });
  std::set<std::string> seen;
  std::erase_if(builds, [&](const ListedBuild& build) { return !seen.insert(build.id).second; });
  return builds;
}

}  // namespace wheelsmith::run
