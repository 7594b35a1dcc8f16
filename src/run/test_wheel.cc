// `wheelsmith test WHEEL`: the tests that a wheel carries in its dist-info, again, on this machine.

#include <fmt/format.h>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "run/wheel_tests.h"
#include "sys/file.h"
#include "wheel/check/check.h"
#include "zip/archive.h"

namespace wheelsmith::run {

namespace {

constexpr std::uint64_t k_most_text = 16 << 20;

std::string dist_info_file(const zip::Archive& archive, std::string_view name) {
  const std::string end = fmt::format(".dist-info/wheelsmith/{}", name);
  for (const zip::Entry& entry : archive.entries()) {
    if (!entry.name.ends_with(end) || entry.name.find('/') != entry.name.size() - end.size() + 10) continue;
    if (entry.size > k_most_text) throw Error(fmt::format("{} in the wheel is too large to be ours", name));
    return std::string(archive.read(entry).bytes.text());
  }
  throw Error(
      fmt::format("the wheel has no {}: it was not built by wheelsmith, so there are no tests in it to repeat", name));
}

// Architectures that the wheel was compiled for against the devices that are here.
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
    const zip::Archive archive = zip::Archive::open(file.bytes);
    const recipe::Recipe recipe =
        recipe::parse_recipe(dist_info_file(archive, "recipe.toml"), "recipe.toml of the wheel");
    const document::Value provenance =
        document::parse_json(dist_info_file(archive, "provenance.json"), "provenance.json of the wheel");
    const auto variant = recipe::variant_named(provenance["variant"].text_or());
    if (!variant) throw Error("provenance.json of the wheel names no variant");
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
    // The torch that is here is the one the wheel will be used with.
    if (rules.requires_versions.uses_torch) {
      if (const auto torch = toolchain::find_torch(python.executable, false, host))
        bench.torch_sites = {torch->folder.parent_path()};
      else
        bench.requirements = {"torch==" + provenance["torch"].text_or()};
    }
    result.tests = run_tests(bench);
  } catch (const Error& error) {  // one input becomes an item with an error
    result.error = error.what();
  }
  return result;
}

}  // namespace wheelsmith::run
