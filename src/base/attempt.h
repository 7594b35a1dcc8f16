#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "base/error.h"

// The two answers that an Error can become besides the end of the work (ARCHITECTURE.md, "Errors"). Both are for
// parsers, whose Errors say that text or bytes are not of a kind. What reads files or asks others has failures that are
// no answer; those go on to the caller.

namespace wheelsmith {

// What `parse` returns, or nothing where it throws Error: "is it one?", asked by a caller that has no use for the
// reason.
template <class Parse>
std::optional<std::invoke_result_t<Parse&>> if_valid(Parse&& parse) {
  try {
    return parse();
  } catch (const Error&) {
    return std::nullopt;  // the answer is no
  }
}

// The sentence of the Error that `check` throws, for a list of problems; "" when it throws none.
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
