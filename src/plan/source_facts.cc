#include <fmt/format.h>

#include "document/fields.h"
#include "plan/described.h"
#include "plan/sources.h"

template <>
struct wheelsmith::document::Fields<wheelsmith::recipe::SourceFacts> {
  using T = recipe::SourceFacts;
  static constexpr auto list = fields_of<T>(
      field("name", &T::name), field("version", &T::version), field("backend", &T::backend),
      field("requires", &T::requires_), field("requires_python", &T::requires_python),
      field("has_pyproject", &T::has_pyproject), field("has_setup_py", &T::has_setup_py),
      field("has_cmake", &T::has_cmake), field("uses_torch", &T::uses_torch),
      field("uses_torch_extension", &T::uses_torch_extension), field("has_cuda_sources", &T::has_cuda_sources),
      field("has_hip_sources", &T::has_hip_sources), field("imports", &T::imports),
      field("setup_imports", &T::setup_imports), field("arch_variables", &T::arch_variables),
      field("arch_example", &T::arch_example), field("compares_with_true", &T::compares_with_true),
      field("required_variables", &T::required_variables), field("cargo_manifests", &T::cargo_manifests),
      field("cargo_locks", &T::cargo_locks), field("has_go_module", &T::has_go_module),
      field("has_wraps", &T::has_wraps));
};

namespace wheelsmith::plan {

namespace {

// Increment when facts are read differently.
constexpr std::string_view k_facts_version = "7";

}  // namespace

recipe::SourceFacts remembered_facts(const source::Pin& pin, const std::string& subfolder, const PlanInputs& inputs) {
  if (auto described = described_facts(pin, subfolder, inputs)) return *described;
  const std::string subject = pin.digest + " " + subfolder;
  if (const auto known = inputs.store.remembered("source-facts", subject, k_facts_version)) {
    return document::from_document<recipe::SourceFacts>(document::parse_json(*known, "stored source facts"),
                                                        "stored source facts");
  }
  inputs.on_progress(fmt::format("reading the source of {}", pin.project));
  const recipe::SourceFacts facts = source::look_into(pin, subfolder, inputs.fetcher, inputs.store);
  inputs.store.remember("source-facts", subject, k_facts_version, document::to_json(document::to_document(facts), -1));
  return facts;
}

}  // namespace wheelsmith::plan
