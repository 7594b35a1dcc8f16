#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/serve/request.h"
#include "sys/open_folder.h"

namespace wheelsmith::index {

// A response: status and headers as sent, and the body in one of two forms.
struct Response {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<const std::string> text;    // either this
  std::shared_ptr<const sys::OpenFile> file;  // or a part of this
  bool immutable = false;                     // the file never changes
  std::uint64_t begin = 0;
  std::uint64_t size = 0;  // of the body; HEAD sends none of it

  // Status line and headers with the terminating empty line.
  [[nodiscard]] std::string head(bool keep_alive) const;
};

// A short plain-text response.
Response plain_response(unsigned status, std::string_view words);

// The content of a page or a file.
struct Content {
  std::shared_ptr<const std::string> text;
  std::shared_ptr<const sys::OpenFile> file;
  std::string type;
  std::string etag;
  std::string last_modified;
  bool negotiated = false;
  bool immutable = false;

  [[nodiscard]] std::uint64_t size() const { return text ? text->size() : file->stat().size; }
};
// All of it, one range of it, or 304 if the client has it already.
Response deliver(const Request& request, const Content& content);
std::string etag_of(const sys::FileStat& stat);
std::string http_time(std::int64_t nanoseconds);

// Receives the body of a request piece by piece. Destroyed without finish() if the client disconnects.
class Upload {
 public:
  virtual ~Upload() = default;
  // Throws Error; the client then gets a 500.
  virtual void take(std::string_view bytes) = 0;
  virtual Response finish() = 0;
};

// Answers the requests of a server. Thread-safe.
class Answerer {
 public:
  virtual ~Answerer() = default;

  // Also called for a request whose body accept() refused; the response gives the reason.
  [[nodiscard]] virtual Response answer(const Request& request) const = 0;
  // Receives the body of a request whose size is known; null if it is refused.
  [[nodiscard]] virtual std::unique_ptr<Upload> accept(const Request& request) const;
  // Reports a server-side problem to the operator.
  virtual void tell(const std::string& problem) const;
  // Called several times a second.
  virtual void tick() const;
};

}  // namespace wheelsmith::index
