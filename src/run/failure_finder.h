#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "run/outcome.h"

namespace wheelsmith::run {

// Reads a log as it grows. Recognizes ninja and CMake blocks and the command lines of distutils and make.
class FailureFinder {
 public:
  void feed(std::string_view text);
  [[nodiscard]] std::optional<FirstFailure> first() const;

 private:
  struct State;
  std::shared_ptr<State> m_state;
};

}  // namespace wheelsmith::run
