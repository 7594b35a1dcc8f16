#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "store/store.h"
#include "sys/file.h"

namespace wheelsmith::store {

// A store in a temporary folder, and short ways to fill it.
struct TestStore {
  sys::TempDir temp;
  Store store{temp.path() / "store"};

  [[nodiscard]] std::filesystem::path file(const std::string& name, const std::string& text) const {
    std::ofstream(temp.path() / name, std::ios::trunc) << text;
    return temp.path() / name;
  }

  [[nodiscard]] static StepRecord record(const std::string& identity, const std::string& version,
                                         std::int64_t finished) {
    StepRecord record;
    record.identity = identity;
    record.package = "texture";
    record.version = version;
    record.manifest.set("identity", identity);
    record.manifest.set("source", version);
    record.key = record.manifest.key();
    record.wheel_name = "texture-" + version + "-py3-none-any.whl";
    record.seconds = 1.25;
    record.disk = 7;
    record.finished = finished;
    document::Table provenance;
    provenance["builder"] = "wheelsmith";
    record.provenance = provenance;
    return record;
  }

  // A step whose wheel is "wheel of IDENTITY VERSION".
  StepRecord step(const std::string& identity, const std::string& version, std::int64_t finished) {
    StepRecord made = record(identity, version, finished);
    const std::string wheel = "wheel of " + identity + " " + version;
    made.wheel_sha256 = store.put_blob(file("wheel", wheel));
    made.wheel_size = wheel.size();
    store.put_step(made);
    return made;
  }
};

inline std::vector<std::string> ids(const std::vector<Finding>& findings) {
  std::vector<std::string> ids;
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.subject.empty() || finding.what.empty() || finding.why.empty() || finding.fix.empty())
        << finding.id;
    ids.push_back(finding.id);
  }
  return ids;
}

inline std::vector<std::string> paths(const std::vector<Removed>& removed) {
  std::vector<std::string> paths;
  for (const Removed& item : removed) paths.push_back(item.path);
  return paths;
}

// Runs the task in a separate process that exits without destructors; its test failures become ours.
inline pid_t start_child(const std::function<void()>& task) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  try {
    task();
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  ::_exit(::testing::Test::HasFailure() ? 1 : 0);
}

// As in a shell: 128 + signal for a killed process.
inline int end_of(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

inline int in_child(const std::function<void()>& task) { return end_of(start_child(task)); }

}  // namespace wheelsmith::store
