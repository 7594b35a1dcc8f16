#pragma once

#include <string>
#include <vector>

#include "doctor/doctor.h"

namespace wheelsmith::doctor {

// What this machine can build as it is, for one variant.
struct Ability {
  recipe::Variant variant = recipe::Variant::cpu;
  bool can = false;
  std::string how{};  // with which toolkit and for which GPUs, or what is missing
  std::string fix{};  // the command that makes it possible; "" where nothing is missing or no command helps
};

// One for each variant. An interpreter counts that has headers, venv and pip.
std::vector<Ability> find_abilities(const std::vector<toolchain::Python>& pythons, const Facts& facts);

}  // namespace wheelsmith::doctor
