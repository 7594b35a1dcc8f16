#include "plan/step/spec.h"

#include "plan/step/spec_fields.h"

namespace wheelsmith::plan {

std::string_view to_string(Phase phase) { return enum_name(phase); }

bool runs_foreign_code(Phase phase) { return phase == Phase::prepare || phase == Phase::build || phase == Phase::test; }

std::string fetched_folder(std::string_view name) { return "${tree}/fetched/" + std::string(name); }

document::Value BuildSpec::to_value() const { return document::to_document(*this); }

BuildSpec BuildSpec::from_value(const document::Value& value) {
  return document::from_document<BuildSpec>(value, "step");
}

const std::string* BuildSpec::variable(std::string_view name) const {
  for (const auto& [known, value] : variables.fixed) {
    if (known == name) return &value;
  }
  return nullptr;
}

}  // namespace wheelsmith::plan
