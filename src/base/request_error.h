#pragma once

#include "base/error.h"

namespace wheelsmith {

// The request or a recipe is wrong: neither another machine nor another input would fix it. The program exits with the
// status for usage errors.
class RequestError : public Error {
 public:
  using Error::Error;
};

}  // namespace wheelsmith
