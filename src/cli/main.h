#pragma once

namespace wheelsmith::cli {

// The whole program. Exit status: 0 fine, 1 a problem was found, 2 usage, 3 an internal error, 130
// interrupted.
int run(int argc, char** argv);

}  // namespace wheelsmith::cli
