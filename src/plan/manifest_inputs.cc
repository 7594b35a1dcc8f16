#include "plan/manifest_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"

namespace wheelsmith::plan {

namespace {

// Changes when a result of the same inputs would be another one because we changed (how a wheel is finished, say).
constexpr std::string_view k_format = "1";
// Up to so many files of a folder stand in the manifest by name, so that the one that changed can be told.
constexpr std::size_t k_most_files = 500;

std::string digest_of(std::string_view text) { return to_hex(sha256(Bytes(text))); }

}  // namespace

std::string recipe_digest(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target) {
  return digest_of(document::canonical_json(recipe.expanded(variant, target)));
}

ManifestInputs::ManifestInputs(const Step& step, const std::map<std::string, std::string>& own) : m_step(step) {
  m_manifest.set("format", k_format);
  m_manifest.set("package", step.package);
  m_manifest.set("variant", recipe::to_string(step.variant));
  m_manifest.set("target", step.target);
  m_manifest.set("archs", step.archs.to_string());
  m_manifest.set("platform", step.platform);
  m_manifest.set("build-type", step.build_type);
  m_manifest.set("network", step.network ? "on" : "off");
  m_manifest.set("python", fmt::format("{} {} {}", step.python.version, step.python.abi, step.python.digest));
  for (const source::Patch& patch : step.patches) m_manifest.set("patch:" + patch.name, digest_of(patch.text));
  for (const env::PinnedWheel& wheel : step.lock.wheels)
    m_manifest.set("requires:" + wheel.name, fmt::format("{} {}", wheel.version, wheel.sha256));
  // Where other steps' wheels are needed, the rest is resolved with them; what is asked for decides.
  if (!step.needs.empty()) {
    for (const std::string& requirement : step.requirements) m_manifest.set("requires:" + requirement, "as resolved");
  }
  for (const auto& [name, value] : step.environment)
    m_manifest.set("env:" + name, own.contains(name) ? "sha256 " + digest_of(value) : value);
  std::size_t place = 0;
  for (const auto& [name, value] : step.config) m_manifest.set(fmt::format("config:{}:{}", place++, name), value);
  for (const FetchedSource& fetched : step.fetches) m_manifest.set("fetch:" + fetched.name, fetched.pin.digest);
  for (const auto& [path, text] : step.files) m_manifest.set("file:" + path, digest_of(text));
  place = 0;
  for (const std::vector<std::string>& command : step.prepare)
    m_manifest.set(fmt::format("prepare:{}", place++), join(command, " "));
  place = 0;
  for (const std::string& option : step.options) m_manifest.set(fmt::format("option:{}", place++), option);
}

void ManifestInputs::add_recipe(std::string_view digest) { m_manifest.set("recipe", digest); }

void ManifestInputs::add_source(const std::vector<std::pair<std::string, std::string>>& files) {
  m_manifest.set("source", m_step.source.digest);
  if (files.size() > k_most_files) return;
  for (const auto& [name, digest] : files) m_manifest.set("source:" + name, digest);
}

void ManifestInputs::add_tools(const std::vector<std::pair<std::string, std::string>>& digests) {
  for (const auto& [name, digest] : digests) m_manifest.set("tool:" + name, digest);
}

void ManifestInputs::add_torch(const toolchain::Torch& torch) {
  m_manifest.set("torch", fmt::format("{} {}", torch.version, torch.digest));
}

void ManifestInputs::add_need(const Step& other) { m_manifest.set("step:" + other.id, other.key); }

Forecast known_forecast(const Step& step, const recipe::Rules& rules, unsigned cores) {
  Forecast result;
  result.memory_per_job = rules.known.memory_per_job;
  if (rules.known.seconds <= 0) return result;
  const double more = static_cast<double>(step.archs.requests.empty() ? 0 : step.archs.requests.size() - 1);
  result.seconds = (rules.known.seconds + more * rules.known.seconds_per_arch) / std::max(1u, cores);
  result.disk = rules.known.disk;
  result.wheel_size = rules.known.wheel_size;
  result.from = "recipe";
  return result;
}

Forecast forecast(const Step& step, const recipe::Rules& rules, const store::Store& store) {
  const auto cost = store.last_cost(step.identity);
  if (!cost) return known_forecast(step, rules, usable_threads());
  Forecast result;
  result.memory_per_job = rules.known.memory_per_job;
  result.seconds = cost->seconds;
  result.disk = cost->disk;
  result.wheel_size = cost->wheel_size;
  result.from = "history";
  return result;
}

}  // namespace wheelsmith::plan
