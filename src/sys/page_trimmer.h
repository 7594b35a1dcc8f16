#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/bytes.h"

namespace wheelsmith::sys {

// Releases a mapped file's pages while it is being read. A single pass over a file of a gigabyte would otherwise count
// all of it as this process's memory until the end, although the kernel could reclaim the pages at any time; limits and
// users watch that number. The bytes stay readable: a page touched again comes from the page cache.
class PageTrimmer {
 public:
  // `mapping` is the complete result of map_file().
  explicit PageTrimmer(Bytes mapping);
  ~PageTrimmer();
  PageTrimmer(const PageTrimmer&) = delete;
  PageTrimmer& operator=(const PageTrimmer&) = delete;

 private:
  void work();

  Bytes m_mapping;
  std::mutex m_mutex;
  std::condition_variable m_wake;
  bool m_done = false;
  std::thread m_thread;
};

}  // namespace wheelsmith::sys
