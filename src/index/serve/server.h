#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "index/serve/answerer.h"

namespace wheelsmith::index {

struct ServerLimits {
  unsigned threads = 4;
  unsigned connections = 1024;
  std::chrono::milliseconds header_time{10'000};  // from the first byte of a request to its last
  std::chrono::milliseconds idle_time{75'000};    // between requests
  std::chrono::milliseconds stall_time{60'000};   // while no bytes of a response are sent
  std::chrono::milliseconds grace{10'000};        // for responses in progress at shutdown
};

// One answered request, for the log.
struct Access {
  std::string client;
  std::string_view method;
  std::string_view target;
  unsigned status = 0;
  std::uint64_t size = 0;
  std::chrono::duration<double> seconds{0};  // to the first byte of the response
};
using AccessLog = std::function<void(const Access&)>;  // called from several threads

// HTTP/1.1 on one numeric address. Its destructor closes all connections.
class Server {
 public:
  // "127.0.0.1:8080", "[::1]:0", "8080" (localhost only). Throws Error if it is invalid or in use.
  Server(std::string_view address, const Answerer& answerer, const ServerLimits& limits, AccessLog log);
  ~Server();

  // "http://127.0.0.1:8080/", with the port that was chosen.
  [[nodiscard]] const std::string& url() const { return m_url; }
  // Serves until `stop` returns true, which is polled several times a second; then finishes responses in progress.
  void run(const std::function<bool()>& stop);

 private:
  class Worker;
  struct Shared;
  std::string m_url;
  std::unique_ptr<Shared> m_shared;
};

}  // namespace wheelsmith::index
