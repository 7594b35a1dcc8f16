#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/store.h"

// The builds that a store knows: each coordinator writes what has become of its plan into logs/build-*.json.

namespace wheelsmith::run {

struct ListedBuild {
  enum class State : std::uint8_t {
    running,      // its coordinator is alive, as far as this machine can tell
    detached,     // its coordinator has ended or is on another machine; jobs of a cluster may go on
    interrupted,  // its coordinator has ended before the plan did
    done,
    failed,
  } state = State::interrupted;
  std::string id;  // of the plan; builds of the same plan have the same
  std::string on;  // "local", "slurm"
  double started = 0;
  std::string host;
  std::vector<std::string> command, planned;
  std::string folder;                              // where the command was started
  std::map<std::string, std::string> environment;  // settings in variables
  std::map<std::string, std::string> keys;         // by step
  std::map<std::string, std::string> running;      // step, and where it runs
  std::map<std::string, std::string> ended;        // step, and its outcome
};

// The newest first, of each plan the newest build. Damaged records are left out.
std::vector<ListedBuild> list_builds(const store::Store& store);

// Where a step's log is.
std::filesystem::path log_path(const store::Store& store, const std::string& id, const std::string& key);

}  // namespace wheelsmith::run

template <>
struct wheelsmith::EnumNames<wheelsmith::run::ListedBuild::State> {
  static constexpr std::array list = {"running", "detached", "interrupted", "done", "failed"};
};
