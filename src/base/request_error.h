#pragma once

#include "base/error.h"

namespace wheelsmith {

// What was asked for, or a recipe, is wrong: neither another machine nor another input would mend it. The program ends
// with the exit status of wrong words on the command line.
class RequestError : public Error {
 public:
  using Error::Error;
};

}  // namespace wheelsmith
