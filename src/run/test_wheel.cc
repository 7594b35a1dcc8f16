// `wheelsmith test WHEEL`: reruns the tests that a wheel carries in its dist-info on this machine.

#include <fmt/format.h>

#include "attest/carried_files.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "run/wheel_tests.h"
#include "sys/file.h"
#include "wheel/check/check.h"

namespace wheelsmith::run {

namespace {

// Compares the wheel's compiled architectures with this machine's devices.
std::vector<Finding> fits_here(const std::filesystem::path& wheel, Bytes file,
                               const std::vector<toolchain::Gpu>& gpus) {
  wheel::CheckOptions options;
  options.threads = usable_threads();
  for (const toolchain::Gpu& gpu : gpus) options.devices.push_back({gpu.name, gpu.arch});
  std::vector<Finding> findings;
  for (Finding& finding : wheel::check_wheel(wheel.string(), file, options).findings) {
    if (finding.id.starts_with("gpu-") || finding.id.starts_with("arch-")) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

WheelTest test_wheel(const std::filesystem::path& wheel, const toolchain::Python& python, store::Store& store,
                     fetch::Fetcher& fetcher, const toolchain::Host& host, const SandboxOptions& sandbox,
                     bool offline) {
  WheelTest result;
  result.path = wheel.string();
  try {
    const Blob file = sys::map_file(wheel);
    const attest::CarriedFiles carried = attest::read_carried_files(file.bytes);
    const recipe::Recipe recipe = recipe::parse_recipe(carried.recipe, "recipe.toml of the wheel");
    const document::Value& provenance = carried.provenance;
    const auto variant = recipe::variant_named(provenance["variant"].text_or());
    if (!variant) throw Error("the wheel's provenance.json has no variant");
    if (*variant != recipe::Variant::cpu) result.findings = fits_here(wheel, file.bytes, toolchain::find_gpus(host));
    const recipe::Rules& rules = recipe.rules(*variant, provenance["target"].text_or());
    const std::string archs = provenance["archs"].text_or();
    TestBench bench{.rules = rules,
                    .python = python,
                    .variant = *variant,
                    .archs = archs.empty() ? gpu::ArchList{} : gpu::ArchList::parse(archs),
                    .wheel = std::filesystem::absolute(wheel),
                    .wheelhouses = {std::filesystem::absolute(wheel).parent_path()},
                    .offline = offline,
                    .store = store,
                    .fetcher = fetcher,
                    .host = host,
                    .sandbox = sandbox};
    // The torch installed here is the one the wheel will be used with.
    if (rules.requires_versions.uses_torch) {
      if (const auto torch = toolchain::find_torch(python.executable, false, host))
        bench.torch_sites = {torch->folder.parent_path()};
      else
        bench.requirements = {"torch==" + provenance["torch"].text_or()};
    }
    result.tests = run_tests(bench);
  } catch (const Error& error) {  // the error becomes this wheel's result
    result.error = error.what();
  }
  return result;
}

}  // namespace wheelsmith::run
