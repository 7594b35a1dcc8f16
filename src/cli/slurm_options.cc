#include "base/error.h"
#include "cli/session.h"
#include "run/slurm/slurm_executor.h"

namespace wheelsmith::cli {

namespace {

// "cuda.partition" of the table: for whom, and what.
struct Scoped {
  std::string scope, key, value;
};

std::vector<Scoped> scoped_options(const settings::Settings& settings) {
  std::vector<Scoped> result;
  for (const auto& [name, value] : settings.table("slurm")) {
    const std::size_t dot = name.rfind('.');
    result.push_back(dot == name.npos ? Scoped{"", name, value}
                                      : Scoped{name.substr(0, dot), name.substr(dot + 1), value});
  }
  // --nodes, and `nodes` outside of the table, mean all steps that have no narrower setting.
  if (const std::string nodes = settings.text("nodes"); !nodes.empty()) result.push_back({"", "nodes", nodes});
  return result;
}

}  // namespace

run::SlurmOptions slurm_options(const settings::Settings& settings) {
  const std::vector<Scoped> all = scoped_options(settings);
  run::SlurmOptions options;
  try {
    for (const Scoped& one : all) {
      slurm::SiteOptions site;
      slurm::SubmitLimits ignored;
      slurm::set_site_option(site, one.scope.empty() ? options.limits : ignored, one.key, one.value);
    }
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  options.governed = settings.text("governor") != "off";
  // From the widest to the narrowest: all steps, a variant, a recipe, a variant of a recipe.
  options.site_for = [all](const plan::BuildSpec& spec) {
    const std::string variant(recipe::to_string(spec.variant));
    slurm::SiteOptions site;
    slurm::SubmitLimits ignored;
    for (const std::string& scope : {std::string(), variant, spec.package, spec.package + "." + variant}) {
      for (const Scoped& one : all) {
        if (one.scope == scope) slurm::set_site_option(site, ignored, one.key, one.value);
      }
    }
    return site;
  };
  return options;
}

}  // namespace wheelsmith::cli
