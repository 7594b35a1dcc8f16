#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/request.h"
#include "sys/open_folder.h"

namespace wheelsmith::index {

// An answer: status and headers as they are sent, and the body in one of two forms.
struct Response {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<const std::string> text;    // either this
  std::shared_ptr<const sys::OpenFile> file;  // or a part of this
  bool immutable = false;                     // nobody ever changes that file
  std::uint64_t begin = 0;
  std::uint64_t size = 0;  // of the body; nothing of it is sent for HEAD

  // Status line and headers with their end.
  [[nodiscard]] std::string head(bool keep_alive) const;
};

// A few words as text.
Response plain_response(unsigned status, std::string_view words);

// What a page or a file is delivered from.
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
// Whole, a part of it (Range), or 304 where the client has it already.
Response deliver(const Request& request, const Content& content);
std::string etag_of(const sys::FileStat& stat);
std::string http_time(std::int64_t nanoseconds);

// The body of a request, piece by piece as it arrives. Gone without finish() where the client hung up.
class Upload {
 public:
  virtual ~Upload() = default;
  // Throws Error; then the client gets a 500.
  virtual void take(std::string_view bytes) = 0;
  virtual Response finish() = 0;
};

// What answers the requests of a server. For any number of threads.
class Answerer {
 public:
  virtual ~Answerer() = default;

  // For a request with a body that accept() did not take as well: it says why not.
  [[nodiscard]] virtual Response answer(const Request& request) const = 0;
  // What takes the body of a request whose size is known; null where it is refused.
  [[nodiscard]] virtual std::unique_ptr<Upload> accept(const Request& request) const;
  // What goes wrong without the client being to blame, in words for the one who serves.
  virtual void tell(const std::string& problem) const;
  // Called several times a second.
  virtual void tick() const;
};

}  // namespace wheelsmith::index
