#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace wheelsmith {

// The one exception we throw on purpose. what() is the sentence the user reads: what is wrong, and where in the
// data (never where in our source). Whoever catches it passes it on, tells it, or says why nothing is lost
// (ARCHITECTURE.md, "Errors").
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  // The same error with the place in front: "torch/lib/libc10.so: no dynamic segment".
  [[nodiscard]] Error in(std::string_view place) const { return Error(std::string(place) + ": " + what()); }
};

}  // namespace wheelsmith
