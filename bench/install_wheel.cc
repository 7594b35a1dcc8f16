// Only installs a wheel into an environment, as `build --install` does. `make bench` compares it with pip and uv.
//   install_wheel PYTHON WHEEL

#include <cstdio>

#include "base/error.h"
#include "base/parallel.h"
#include "env/env.h"
#include "sys/process/process.h"
#include "toolchain/toolchain.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    wheelsmith::toolchain::Surroundings where;
    where.environment = wheelsmith::sys::current_environment();
    const wheelsmith::toolchain::Python python = wheelsmith::toolchain::find_python(argv[1], where);
    wheelsmith::env::install_wheel(argv[2], wheelsmith::env::install_target(python), true,
                                   wheelsmith::usable_threads());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "install_wheel: %s\n", e.what());
    return 1;
  }
}
