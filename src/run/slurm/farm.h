#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "run/executor.h"
#include "run/job.h"
#include "slurm/batch.h"
#include "store/store.h"

// A step that runs as a cluster's job has a folder in the store, and the coordinator and the job speak by files in it:
//
//   farm/steps/KEY-DIGEST/job.json      the Job; readable by the user alone, since --env may hold secrets
//                        /try-1.json    what Slurm was asked for and which job it became        coordinator
//                        /try-1.jsonl   what the job reports, one event to a line               node
//                        /try-1.out     what Slurm and the program print                        node
//   farm/batches/NAME.json              the tries that one call of sbatch starts                coordinator
//   bin/SHA256                          our own program, which nodes run
//
// The folder belongs to the job's document, not to a coordinator: a later coordinator, or a second one with the same
// plan, finds the tries and continues with them. A coordinator holds the folder's lock while it looks and submits.

namespace wheelsmith::run {

struct Try {
  // A step whose tests need a GPU is built by one job and tested by another, so that compiling occupies no GPU.
  enum class Stage : std::uint8_t { whole, build, test } stage = Stage::whole;
  unsigned number = 0;             // of the file
  unsigned attempt = 1;            // since the last time that a coordinator took a result
  std::string name;                // of the Slurm job
  std::optional<slurm::JobId> id;  // nothing: sbatch has not answered
  slurm::Request request;
  bool taken = false;  // a coordinator has seen its end
  double submitted = 0;

  [[nodiscard]] document::Value to_value() const;
  static Try from_value(const document::Value& value);  // throws Error
};

class FarmFolder {
 public:
  // Of a job; the folder is made, and the job written where it is not there.
  FarmFolder(const store::Store& store, const Job& job);
  explicit FarmFolder(std::filesystem::path folder) : m_folder(std::move(folder)) {}

  [[nodiscard]] const std::filesystem::path& path() const { return m_folder; }
  [[nodiscard]] std::string lock_name() const { return "farm-" + m_folder.filename().string(); }
  [[nodiscard]] std::filesystem::path job_file() const { return m_folder / "job.json"; }
  // What the first of two jobs leaves for the second.
  [[nodiscard]] std::filesystem::path held_file() const { return m_folder / "held.json"; }
  [[nodiscard]] std::filesystem::path try_file(unsigned number) const;
  [[nodiscard]] std::filesystem::path report_file(unsigned number) const;
  [[nodiscard]] std::filesystem::path output_file(unsigned number) const;
  // The newest; nothing when there is none. One that was half written counts as none.
  [[nodiscard]] std::optional<Try> last() const;
  void write(const Try& one) const;

 private:
  std::filesystem::path m_folder;
};

// What one call of sbatch starts: task N of the array, or the only one, is tries[N].
struct FarmBatch {
  bool governed = true;
  std::vector<std::filesystem::path> tries;

  [[nodiscard]] document::Value to_value() const;
  static FarmBatch from_value(const document::Value& value);  // throws Error
};

// Lines of a report that are not a step's own.
struct NodeLine {
  enum class Kind : std::uint8_t {
    report,  // a step's: see parse_report()
    placed,  // the job has started, on a node
    usage,   // its memory now; shows that it is alive
    ending,  // before the last line of a step
    lost,    // the step's process ended without a result
  } kind = Kind::report;
  std::string text{};  // placed: the node; lost: why
  std::string job{};   // placed
  double at = 0;       // placed, usage: seconds since 1970 by the node's clock
  std::uint64_t used = 0, limit = 0, peak = 0;
  // ending: the step did not end by itself, and whether the kernel killed processes of the job for lack of memory.
  bool disturbed = false, memory_killed = false;
  bool disk_full = false;  // of the node, not of the store
};
NodeLine parse_node_line(std::string_view line);  // throws Error
std::string to_line(const NodeLine& line);

// What a step took as a job: what its next one asks for.
struct FarmCost {
  double seconds = 0;
  unsigned cores = 0;        // of all nodes
  std::uint64_t memory = 0;  // the most that it held at once on its first node
  unsigned nodes = 1;
};
void note_farm_cost(store::Store& store, const std::string& identity, const FarmCost& cost);
std::optional<FarmCost> last_farm_cost(const store::Store& store, const std::string& identity);

// What the compiles of a package needed, whatever Python or architecture they were for.
struct UnitCost {
  std::uint64_t largest = 0;  // memory of one
  double seconds = 0;         // of all together
};
void note_unit_cost(store::Store& store, const plan::BuildSpec& spec, const UnitCost& cost);
std::optional<UnitCost> last_unit_cost(const store::Store& store, const plan::BuildSpec& spec);

// Removes what steps, batches and programs of long ago have left; best effort.
void prune_farm(const store::Store& store);

// Copies our own program to where nodes can run it, once: bin/SHA256 of the store.
std::filesystem::path program_for_nodes(store::Store& store);

}  // namespace wheelsmith::run

template <>
struct wheelsmith::EnumNames<wheelsmith::run::Try::Stage> {
  static constexpr std::array list = {"whole", "build", "test"};
};

template <>
struct wheelsmith::EnumNames<wheelsmith::run::NodeLine::Kind> {
  static constexpr std::array list = {"report", "placed", "usage", "ending", "lost"};
};
