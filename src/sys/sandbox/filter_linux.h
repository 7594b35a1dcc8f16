#pragma once

namespace wheelsmith::sys {

// Takes from this process and its descendants: every capability, the means to gain any (set-user-ID programs), and the
// system calls that builds never need. With `internet` false, also all non-local sockets. Throws Error.
void drop_privileges(bool internet);

}  // namespace wheelsmith::sys
