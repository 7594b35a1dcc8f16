#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "sys/io/fd.h"
#include "sys/io/memory_file.h"
#include "sys/process/foreground.h"

// Copies of this process. Only for processes with one thread.

namespace wheelsmith::sys {

// A copy of this process that runs a function and ends. It gets `death_signal` when we end.
class ForkedTask {
 public:
  // What the function returns is the text that result() gives; an exception ends the task without one. Throws Error.
  ForkedTask(const std::function<std::string()>& task, int death_signal);
  // Ends it, if it still runs.
  ~ForkedTask();
  ForkedTask(const ForkedTask&) = delete;
  ForkedTask& operator=(const ForkedTask&) = delete;

  [[nodiscard]] pid_t pid() const { return m_pid; }
  // Readable when it has ended; not open on kernels before 5.3.
  [[nodiscard]] const Fd& end() const { return m_end; }
  // Whether it has ended; does not wait.
  [[nodiscard]] bool poll();
  // After its end. Nothing when it was killed or failed.
  [[nodiscard]] std::optional<std::string> result() const;
  void signal(int number) const;

 private:
  bool reap(int options);

  pid_t m_pid = -1;
  Fd m_end;
  MemoryFile m_result;
  bool m_ended = false, m_good = false;
};

// A temporary folder that does not outlive this process, even if the process is killed: another one waits for its end
// and removes the folder. The folder is this user's alone.
class VanishingFolder {
 public:
  // Below $TMPDIR, otherwise /tmp. Throws Error.
  explicit VanishingFolder(const std::string& prefix);
  ~VanishingFolder();
  VanishingFolder(const VanishingFolder&) = delete;
  VanishingFolder& operator=(const VanishingFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
  pid_t m_owner;
  Fd m_alive;  // closed by our end
};

}  // namespace wheelsmith::sys
