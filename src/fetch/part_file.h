#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "fetch/curl.h"

// Inside this module only.

namespace wheelsmith::fetch {

// A download in progress: PART/body, which outlives the process, so that the next attempt resumes at its end. The
// caller holds its lock.
class PartFile {
 public:
  // `what` is for progress and messages. Without `resumable` (no hash proves that both halves belong together) it
  // starts over every time.
  PartFile(std::filesystem::path folder, std::string what, bool resumable);

  // Completes the download, with retries; throws an Error for users. Received bytes stay for the next attempt.
  // `most_bytes` 0: no limit.
  void fetch(const std::string& url, const FetchOptions& options, std::uint64_t most_bytes = 0);
  [[nodiscard]] const std::filesystem::path& body() const { return m_body; }
  [[nodiscard]] std::string sha256() const;
  // Whether some of it is from an earlier attempt.
  [[nodiscard]] bool resumed() const { return m_resumed; }
  void start_anew();
  // Removes everything.
  void discard();
  // Syncs and renames; removes the part's folder.
  void publish(const std::filesystem::path& target);

 private:
  [[nodiscard]] std::uint64_t size() const;
  bool watch(std::uint64_t done, const FetchOptions& options);
  [[noreturn]] void fail(const Transferred& result, const std::string& url, const FetchOptions& options);

  std::filesystem::path m_folder, m_body, m_headers;
  std::string m_what;
  bool m_resumable;
  bool m_resumed = false;
  std::uint64_t m_begin = 0;  // where this attempt began
  std::uint64_t m_total = 0;  // 0: unknown
  bool m_no_room = false;
};

std::string sha256_of_file(const std::filesystem::path& file);
// Makes the file's bytes durable, then renames it; creates the target's folder.
void sync_and_rename(const std::filesystem::path& file, const std::filesystem::path& target);
// The Content-Length of the last response in curl's header dump, or 0.
std::uint64_t content_length(std::string_view headers);

}  // namespace wheelsmith::fetch
