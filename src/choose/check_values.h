#pragma once

#include "choose/request.h"

namespace wheelsmith::choose {

// Throws RequestError for a value that could never be meant, whatever is built: it names the option and the form that
// is accepted. `elsewhere`: the plan is for another machine, whose files are not here.
void check_values(const Request& request, bool elsewhere);

}  // namespace wheelsmith::choose
