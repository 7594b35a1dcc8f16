#pragma once

namespace wheelsmith::sys {

// Takes from this process and all that it will start: every capability, the means to get any (set-user-ID programs),
// and the system calls that builds never need. Where `internet` is false, sockets other than local ones, too. Throws
// Error.
void drop_privileges(bool internet);

}  // namespace wheelsmith::sys
