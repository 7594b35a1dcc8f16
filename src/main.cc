#include "cli/main.h"

#include "governor/governor.h"

int main(int argc, char** argv) {
  if (const auto status = wheelsmith::governor::run_as_shim(argc, argv)) return *status;
  return wheelsmith::cli::run(argc, argv);
}
