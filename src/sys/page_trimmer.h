#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/bytes.h"

namespace wheelsmith::sys {

// Lets go of a mapped file's pages while it is being read. A reader that goes once through a file of a gigabyte would
// otherwise count all of it as its own memory until the end, although the kernel could take the pages back at any time;
// limits and people look at that number. The bytes stay readable: a page that is touched again comes from the page
// cache.
class PageTrimmer {
 public:
  // `mapping` is what map_file() gave, whole.
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
