#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace wheelsmith {

// The only exception type thrown on purpose. what() is the sentence that the user reads: what is wrong, and where in
// the data (never where in the source code). A catch passes it on, reports it, or says why it can be ignored
// (ARCHITECTURE.md, "Errors").
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(without_nul(message)) {}
  explicit Error(const char* message) : std::runtime_error(message) {}

  // The same error with the place in front: "torch/lib/libc10.so: no dynamic segment".
  [[nodiscard]] Error in(std::string_view place) const { return Error(std::string(place) + ": " + what()); }

 private:
  // A name from an archive may contain a NUL, which would truncate the message.
  static std::string without_nul(std::string message) {
    for (std::size_t at = message.find('\0'); at != message.npos; at = message.find('\0', at))
      message.replace(at, 1, "\\x00");
    return message;
  }
};

}  // namespace wheelsmith
