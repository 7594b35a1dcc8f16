#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "run/step_runner.h"
#include "sys/file.h"

namespace wheelsmith::run {

Log::Log(const std::filesystem::path& path) {
  sys::make_folders(path.parent_path());
  m_fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (m_fd < 0) sys::throw_sys_error(errno, "write", path);
}

Log::~Log() { ::close(m_fd); }

// A log that cannot be written (a full disk) is no reason to fail: the build itself will say so soon enough.
void Log::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(m_fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Log::line(std::string_view text) { write("wheelsmith: " + std::string(text) + "\n"); }

void emit_event(const Event& event) {
  document::Table table;
  static const char* const names[] = {"started", "phase", "progress", "note", "output", "memory", "finished"};
  table["event"] = names[static_cast<std::size_t>(event.kind)];
  if (!event.text.empty()) table["text"] = event.text;
  if (event.total != 0) {
    table["done"] = event.done;
    table["total"] = event.total;
  }
  if (event.outcome != nullptr) table["outcome"] = event.outcome->to_value();
  const std::string line = document::to_json(table, -1) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

}  // namespace wheelsmith::run
