#include "cli/main.h"

#include <cstdlib>

#include "governor/governor.h"

int main(int argc, char** argv) {
  // A shim has flushed its output, and skips the destructors of the rest of the program.
  if (const auto status = wheelsmith::governor::run_as_shim(argc, argv)) std::_Exit(*status);
  return wheelsmith::cli::run(argc, argv);
}
