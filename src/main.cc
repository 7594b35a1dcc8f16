#include "cli/main.h"

#include <cstdlib>

#include "governor/governor.h"

int main(int argc, char** argv) {
  // A shim has written all it has to write, and what is set up for everything else need not be taken down.
  if (const auto status = wheelsmith::governor::run_as_shim(argc, argv)) std::_Exit(*status);
  return wheelsmith::cli::run(argc, argv);
}
