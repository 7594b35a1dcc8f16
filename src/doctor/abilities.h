#pragma once

#include <string>
#include <vector>

#include "doctor/doctor.h"

namespace wheelsmith::doctor {

// Whether this machine can build one variant now.
struct Ability {
  recipe::Variant variant = recipe::Variant::cpu;
  bool can = false;
  std::string how{};  // the toolkit and the GPUs, or what is missing
  std::string fix{};  // the command that makes it possible; "" if nothing is missing or no command helps
};

// One entry per variant. At least one interpreter must have headers, venv and pip.
std::vector<Ability> find_abilities(const std::vector<toolchain::Python>& pythons, const Facts& facts);

}  // namespace wheelsmith::doctor
