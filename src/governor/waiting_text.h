#pragma once

#include <string>

#include "governor/server/wire.h"

namespace wheelsmith::governor {

// What a build waits for, from its governor status: "2 compiles of torch", "memory". "" when it does not wait, or only
// because its own compiles use all cores.
std::string waiting_text(const Message& status);

}  // namespace wheelsmith::governor
