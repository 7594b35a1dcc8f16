#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "base/error.h"

// The two values that an Error can become instead of ending the operation (ARCHITECTURE.md, "Errors"). Both are for
// parsers, whose Errors say that text or bytes are invalid. Failures of I/O and subprocesses are not answers and
// propagate to the caller.

namespace wheelsmith {

// The result of `parse`, or nothing if it throws Error, for callers that do not need the reason.
template <class Parse>
std::optional<std::invoke_result_t<Parse&>> if_valid(Parse&& parse) {
  try {
    return parse();
  } catch (const Error&) {
    return std::nullopt;  // the answer is no
  }
}

// The message of the Error that `check` throws, for a list of problems; "" if it throws none.
template <class Check>
std::string problem_of(Check&& check) {
  try {
    check();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace wheelsmith
