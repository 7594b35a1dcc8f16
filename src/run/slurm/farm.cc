#include "run/slurm/farm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace {

constexpr std::uint64_t k_document_limit = 64ull << 20;

std::uint64_t count_in(const document::Value& value, std::string_view name) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value[name].integer_or(0), 0));
}

// What two coordinators that mean the same write the same: a reason tells of the past, a log's name follows from the
// key.
std::string digest_of(Job job) {
  job.reason.clear();
  job.log.clear();
  return to_hex(sha256(Bytes(document::canonical_json(job.to_value()))));
}

}  // namespace

document::Value Try::to_value() const {
  document::Table table;
  table["schema"] = 1;
  table["number"] = number;
  table["stage"] = enum_name(stage);
  table["attempt"] = attempt;
  table["name"] = name;
  if (id) table["job"] = slurm::to_string(*id);
  table["cpus"] = request.cpus;
  table["memory"] = request.memory;
  table["seconds"] = request.seconds;
  table["gpus"] = request.gpus;
  table["nodes"] = request.nodes;
  document::Array excluded;
  for (const std::string& node : request.excluded) excluded.emplace_back(node);
  table["excluded"] = std::move(excluded);
  table["taken"] = taken;
  table["submitted"] = submitted;
  return table;
}

Try Try::from_value(const document::Value& value) {
  Try result;
  result.number = static_cast<unsigned>(std::min<std::uint64_t>(count_in(value, "number"), 1'000'000));
  result.attempt = static_cast<unsigned>(std::min<std::uint64_t>(count_in(value, "attempt"), 1'000'000));
  result.name = value["name"].text_or();
  result.stage = enum_named<Try::Stage>(value["stage"].text_or()).value_or(Try::Stage::whole);
  if (const std::string job = value["job"].text_or(); !job.empty()) {
    result.id = slurm::parse_job_id(job);
    if (!result.id) throw Error("a try names no job of Slurm");
  }
  if (result.number == 0 || result.name.empty()) throw Error("a try without number or name");
  result.request.cpus = static_cast<unsigned>(std::min<std::uint64_t>(count_in(value, "cpus"), 1 << 20));
  result.request.memory = count_in(value, "memory");
  result.request.seconds = count_in(value, "seconds");
  result.request.gpus = static_cast<unsigned>(std::min<std::uint64_t>(count_in(value, "gpus"), 1 << 20));
  result.request.nodes = static_cast<unsigned>(std::clamp<std::uint64_t>(count_in(value, "nodes"), 1, 1 << 20));
  result.request.excluded = value["excluded"].texts();
  result.taken = value["taken"].boolean_or(false);
  result.submitted = value["submitted"].number();
  return result;
}

FarmFolder::FarmFolder(const store::Store& store, const Job& job)
    : m_folder(store.folder("farm") / "steps" / (job.spec.key.substr(0, 16) + "-" + digest_of(job).substr(0, 16))) {
  sys::make_folders(m_folder);
  std::error_code ignored;
  if (!std::filesystem::exists(job_file(), ignored))
    sys::write_private_file(job_file(), document::to_json(job.to_value()));
}

std::filesystem::path FarmFolder::try_file(unsigned number) const {
  return m_folder / fmt::format("try-{}.json", number);
}
std::filesystem::path FarmFolder::report_file(unsigned number) const {
  return m_folder / fmt::format("try-{}.jsonl", number);
}
std::filesystem::path FarmFolder::output_file(unsigned number) const {
  return m_folder / fmt::format("try-{}.out", number);
}

std::optional<Try> FarmFolder::last() const {
  std::error_code error;
  std::optional<Try> newest;
  for (const auto& entry : std::filesystem::directory_iterator(m_folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("try-") || !name.ends_with(".json")) continue;
    const auto text = sys::read_file_if_possible(entry.path(), k_document_limit);
    const auto value = text ? document::try_parse_json(*text) : std::nullopt;
    if (!value) continue;
    try {
      Try one = Try::from_value(*value);
      if (!newest || one.number > newest->number) newest = std::move(one);
    } catch (const Error&) {  // written by another version: its job is ignored
    }
  }
  return newest;
}

void FarmFolder::write(const Try& one) const {
  sys::write_file(try_file(one.number), document::to_json(one.to_value()));
}

document::Value FarmBatch::to_value() const {
  document::Table table;
  table["schema"] = 1;
  table["governed"] = governed;
  document::Array all;
  for (const std::filesystem::path& one : tries) all.emplace_back(one.string());
  table["tries"] = std::move(all);
  return table;
}

FarmBatch FarmBatch::from_value(const document::Value& value) {
  FarmBatch batch;
  batch.governed = value["governed"].boolean_or(true);
  for (std::string& one : value["tries"].texts()) batch.tries.emplace_back(std::move(one));
  if (batch.tries.empty()) throw Error("a batch without jobs");
  return batch;
}

NodeLine parse_node_line(std::string_view text) {
  const document::Value value = document::parse_json(text, "a job's report");
  NodeLine line;
  line.kind = enum_named<NodeLine::Kind>(value["event"].text_or()).value_or(NodeLine::Kind::report);
  line.text = value["text"].text_or();
  line.job = value["job"].text_or();
  line.at = value["at"].number();
  line.used = count_in(value, "used");
  line.limit = count_in(value, "limit");
  line.peak = count_in(value, "peak");
  line.disturbed = value["disturbed"].boolean_or(false);
  line.memory_killed = value["memory_killed"].boolean_or(false);
  line.disk_full = value["disk_full"].boolean_or(false);
  return line;
}

std::string to_line(const NodeLine& line) {
  document::Table table;
  table["event"] = enum_name(line.kind);
  if (!line.text.empty()) table["text"] = line.text;
  if (!line.job.empty()) table["job"] = line.job;
  if (line.at != 0) table["at"] = line.at;
  if (line.limit != 0) {
    table["used"] = line.used;
    table["limit"] = line.limit;
  }
  if (line.peak != 0) table["peak"] = line.peak;
  if (line.disturbed) table["disturbed"] = true;
  if (line.memory_killed) table["memory_killed"] = true;
  if (line.disk_full) table["disk_full"] = true;
  return document::to_json(table, -1) + "\n";
}

void note_farm_cost(store::Store& store, const std::string& identity, const FarmCost& cost) {
  document::Table table;
  table["seconds"] = cost.seconds;
  table["cores"] = cost.cores;
  table["memory"] = cost.memory;
  table["nodes"] = cost.nodes;
  store.put_note("farm-cost", identity, document::to_json(table));
}

std::optional<FarmCost> last_farm_cost(const store::Store& store, const std::string& identity) {
  const auto text = store.note("farm-cost", identity);
  const auto value = text ? document::try_parse_json(*text) : std::nullopt;
  if (!value) return std::nullopt;
  return FarmCost{std::max(0.0, (*value)["seconds"].number()),
                  static_cast<unsigned>(std::min<std::uint64_t>(count_in(*value, "cores"), 1 << 20)),
                  count_in(*value, "memory"),
                  static_cast<unsigned>(std::clamp<std::uint64_t>(count_in(*value, "nodes"), 1, 1 << 20))};
}

namespace {

std::string unit_owner(const plan::BuildSpec& spec) {
  return fmt::format("{}\n{}\n{}", spec.package, recipe::to_string(spec.variant), spec.target);
}

}  // namespace

void note_unit_cost(store::Store& store, const plan::BuildSpec& spec, const UnitCost& cost) {
  document::Table table;
  table["largest"] = cost.largest;
  table["seconds"] = cost.seconds;
  store.put_note("unit-cost", unit_owner(spec), document::to_json(table));
}

std::optional<UnitCost> last_unit_cost(const store::Store& store, const plan::BuildSpec& spec) {
  const auto text = store.note("unit-cost", unit_owner(spec));
  const auto value = text ? document::try_parse_json(*text) : std::nullopt;
  if (!value) return std::nullopt;
  return UnitCost{count_in(*value, "largest"), std::max(0.0, (*value)["seconds"].number())};
}

namespace {

// The clock that the times of the files come from: this machine's may be wrong.
std::filesystem::file_time_type file_server_time(const store::Store& store) {
  const std::filesystem::path farm = store.folder("farm");
  const std::filesystem::path probe = farm / fmt::format("time-{}", sys::unix_nanoseconds());
  std::error_code ignored;
  sys::make_folders(farm);
  sys::write_file(probe, "");
  const auto time = std::filesystem::last_write_time(probe, ignored);
  std::filesystem::remove(probe, ignored);
  return time;
}

}  // namespace

void prune_farm(const store::Store& store) {
  namespace fs = std::filesystem;
  constexpr auto k_kept = std::chrono::hours(24 * 30);
  std::error_code ignored;
  const fs::path farm = store.folder("farm");
  fs::file_time_type now;
  try {
    now = file_server_time(store);
  } catch (const Error&) {  // what is old takes a little room until the next build
    return;
  }
  for (const fs::path& folder :
       {farm / "steps", farm / "batches", farm / "probes", farm / "trees", store.folder("bin")}) {
    std::vector<fs::path> old;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const fs::file_time_type changed = entry.last_write_time(ignored);
      if (!ignored && now - changed > k_kept) old.push_back(entry.path());
    }
    for (const fs::path& path : old) fs::remove_all(path, ignored);
  }
}

std::filesystem::path program_for_nodes(store::Store& store) {
  const std::filesystem::path own = sys::own_executable();
  const std::string digest = to_hex(sha256(sys::map_file(own).bytes));
  const std::filesystem::path folder = store.folder("bin");
  const std::filesystem::path target = folder / digest;
  if (store.has_sha256(target, digest)) {
    sys::touch(target);  // for prune_farm()
    return target;
  }
  const std::filesystem::path copy = store.staging() / "program";
  sys::copy_file(own, copy);
  std::filesystem::permissions(copy, std::filesystem::perms(0555));
  if (const std::error_code error = sys::sync_file(copy))
    throw Error("cannot copy the program for the nodes: " + error.message());
  std::filesystem::rename(copy, target);
  return target;
}

}  // namespace wheelsmith::run
