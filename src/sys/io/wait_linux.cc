#include <poll.h>

#include <vector>

#include "sys/io/wait.h"

namespace wheelsmith::sys {

Waited wait_readable(std::span<Waiting> handles, int milliseconds) {
  std::vector<pollfd> fds;
  fds.reserve(handles.size());
  // poll() ignores negative descriptors.
  for (const Waiting& waiting : handles) fds.push_back({waiting.fd == nullptr ? -1 : waiting.fd->raw(), POLLIN, 0});
  const int count = ::poll(fds.data(), fds.size(), milliseconds);
  for (std::size_t i = 0; i < fds.size(); ++i) handles[i].ready = count > 0 && fds[i].revents != 0;
  if (count < 0) return Waited::interrupted;
  return count == 0 ? Waited::timeout : Waited::ready;
}

}  // namespace wheelsmith::sys
