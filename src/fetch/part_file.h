#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "fetch/curl.h"

// Inside this module only.

namespace wheelsmith::fetch {

// A download on its way: PART/body, which outlives us, so that the next try goes on at its end. Whoever makes one holds
// its lock.
class PartFile {
 public:
  // `what` is for progress and messages. Where `resumable` is not set (there is no hash to prove that the two halves
  // are of one whole) it starts anew every time.
  PartFile(std::filesystem::path folder, std::string what, bool resumable);

  // To the end, with retries; throws Error in words. What came stays for the next time.
  // `most_bytes` 0: no limit.
  void fetch(const std::string& url, const FetchOptions& options, std::uint64_t most_bytes = 0);
  [[nodiscard]] const std::filesystem::path& body() const { return m_body; }
  [[nodiscard]] std::string sha256() const;
  // Whether some of it is from an earlier try.
  [[nodiscard]] bool resumed() const { return m_resumed; }
  void start_anew();
  // Nothing of it stays.
  void discard();
  // Synced and renamed; the part's folder is gone then.
  void publish(const std::filesystem::path& target);

 private:
  [[nodiscard]] std::uint64_t size() const;
  bool watch(std::uint64_t done, const FetchOptions& options);
  [[noreturn]] void fail(const Transferred& result, const std::string& url, const FetchOptions& options);

  std::filesystem::path m_folder, m_body, m_headers;
  std::string m_what;
  bool m_resumable;
  bool m_resumed = false;
  std::uint64_t m_begin = 0;  // where this try began
  std::uint64_t m_total = 0;  // 0: not known
  bool m_no_room = false;
};

std::string sha256_of_file(const std::filesystem::path& file);
// Makes the file's bytes durable, then gives it the name; the target's folder is made.
void sync_and_rename(const std::filesystem::path& file, const std::filesystem::path& target);
// The Content-Length of the last answer in what curl dumped, or 0.
std::uint64_t content_length(std::string_view headers);

}  // namespace wheelsmith::fetch
