#pragma once

#include "choose/request.h"

namespace wheelsmith::choose {

// Throws RequestError for a value that is invalid for every package; the message names the option and the accepted
// form. `elsewhere`: the plan is for another machine, whose files are not on this one.
void check_values(const Request& request, bool elsewhere);

}  // namespace wheelsmith::choose
