#include "plan/step/key.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "sys/process/process.h"

namespace wheelsmith::plan {

namespace {

// Increment when wheelsmith itself produces another result from the same inputs (for example, in how it finishes a
// wheel).
constexpr std::string_view k_format = "3";
// Up to this many files of a folder are listed by name in the manifest, so that a reason can name the changed file.
constexpr std::size_t k_most_files = 500;

std::string digest_of(std::string_view text) { return to_hex(sha256(Bytes(text))); }

// The part of an action in the key. Commands and settings are numbered in order; actions with a name use it, so that a
// reason can name the change.
class ActionHasher {
 public:
  explicit ActionHasher(store::Manifest& manifest) : m_manifest(manifest) {}

  void operator()(const FetchSource& fetch) { m_manifest.set("fetch:" + fetch.name, fetch.pin.digest); }
  void operator()(const ApplyPatch& action) {
    const source::Patch& patch = action.patch;
    m_manifest.set("patch:" + (patch.folder.empty() ? "" : patch.folder + "/") + patch.name, digest_of(patch.text));
  }
  void operator()(const RemoveFiles& action) { m_manifest.set("clean", join(action.patterns, "\n")); }
  void operator()(const WriteFile& file) { m_manifest.set("file:" + file.path, digest_of(file.text)); }
  void operator()(const RunCommand& command) {
    m_manifest.set(fmt::format("command:{}", m_commands++),
                   sys::shell_quoted(command.argv) + (command.network ? " (network)" : ""));
  }
  void operator()(const CallHook& call) {
    // The hooks that return requirements get the same settings.
    if (call.hook != CallHook::Hook::build_wheel && call.hook != CallHook::Hook::build_editable) return;
    std::size_t place = 0;
    for (const auto& [name, value] : call.config) m_manifest.set(fmt::format("config:{}:{}", place++, name), value);
  }
  void operator()(const PackProgram&) {}

 private:
  store::Manifest& m_manifest;
  std::size_t m_commands = 0;
};

}  // namespace

std::string recipe_digest(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target) {
  return digest_of(document::canonical_json(recipe.expanded(variant, target)));
}

store::Manifest make_manifest(const KeyInputs& inputs) {
  const BuildSpec& spec = inputs.spec;
  store::Manifest manifest;
  manifest.set("format", k_format);
  manifest.set("package", spec.package);
  manifest.set("variant", recipe::to_string(spec.variant));
  manifest.set("target", spec.target);
  manifest.set("archs", spec.archs.to_string());
  manifest.set("platform", spec.platform);
  manifest.set("build-type", spec.build_type);
  manifest.set("network", spec.network ? "on" : "off");
  manifest.set("python", fmt::format("{} {} {}", spec.python.version, spec.python.abi, spec.python.digest));
  if (!spec.container.id.empty()) manifest.set("container", spec.container.id);
  manifest.set("recipe", inputs.recipe_digest);
  manifest.set("source", spec.source.digest);
  if (inputs.source_files.size() <= k_most_files) {
    for (const auto& [name, digest] : inputs.source_files) manifest.set("source:" + name, digest);
  }
  for (const env::PinnedWheel& wheel : spec.environment.lock.wheels)
    manifest.set("requires:" + wheel.name, fmt::format("{} {}", wheel.version, wheel.sha256));
  if (!spec.environment.isolated) manifest.set("isolation", "off");
  if (spec.editable) manifest.set("editable", spec.source.folder.string());
  for (const env::InstalledPackage& package : spec.environment.installed)
    manifest.set("installed:" + package.name, fmt::format("{} {}", package.version, package.digest));
  // If wheels of other steps are needed, the lock is resolved later, so the requirements are part of the key.
  if (spec.environment.resolve_late) {
    for (const std::string& requirement : spec.environment.requirements)
      manifest.set("requires:" + requirement, "as resolved");
  }
  for (const auto& [name, value] : spec.variables.fixed)
    manifest.set("env:" + name, inputs.secrets.contains(name) ? "sha256 " + digest_of(value) : value);
  ActionHasher hash_action(manifest);
  for (const Action& action : spec.actions) std::visit(hash_action, action.what);
  for (const auto& [name, digest] : inputs.tools) manifest.set("tool:" + name, digest);
  for (const toolchain::Library& library : spec.tools.libraries)
    manifest.set("library:" + library.name, fmt::format("{} {}", library.version, library.digest));
  if (!inputs.torch.empty()) manifest.set("torch", inputs.torch);
  for (const auto& [id, key] : inputs.steps) manifest.set("step:" + id, key);
  return manifest;
}

}  // namespace wheelsmith::plan
