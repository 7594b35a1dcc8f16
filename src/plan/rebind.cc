#include "plan/rebind.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/secret.h"
#include "base/text.h"
#include "env/installed.h"
#include "pep/project/project_page.h"
#include "pep/version.h"
#include "plan/libraries.h"
#include "plan/rocm.h"
#include "plan/step/carried.h"
#include "plan/step/key.h"
#include "plan/step/variables.h"
#include "plan/toolbox.h"
#include "sys/file.h"

namespace wheelsmith::plan {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_python_folder = "${python}";

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void refuse_path(const fs::path& path, const char* what) {
  const bool leaves = path.is_absolute() || std::any_of(path.begin(), path.end(), [](const fs::path& part) {
                        return part == ".." || part == ".git";
                      });
  if (leaves)
    throw Error(fmt::format("the wheel's {} is {}, which is outside the build tree", what, printable(path.string())));
}

void refuse_commit(const source::Pin& pin) {
  const std::string& commit = pin.git_commit;
  const bool hex = commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (pin.kind == source::Pin::Kind::git && ((commit.size() != 40 && commit.size() != 64) || !hex))
    throw Error(fmt::format("the wheel's commit {} is not a valid commit", printable(commit)));
  if (pin.git_tag.starts_with("-")) throw Error("the wheel's tag begins with \"-\"");
}

// Only network URLs: others make git run programs or read files of this machine.
bool is_remote_address(const std::string& url) {
  return url.starts_with("https://") || url.starts_with("http://") || url.starts_with("ssh://") ||
         url.starts_with("git://");
}

class Rebinder {
 public:
  Rebinder(const RebindInputs& inputs, const PlanInputs& here)
      : m_inputs(inputs),
        m_here(here),
        m_tools(here.host),
        m_recipe(recipe::parse_recipe(inputs.recorded.recipe_text, inputs.recorded.recipe_origin)),
        m_rules(m_recipe.rules(inputs.recorded.variant, inputs.recorded.target)) {}

  Rebound rebind() {
    Rebound result;
    BuildSpec& spec = result.spec = m_inputs.recorded;
    refuse_hostile_spec(spec);
    spec.id = m_inputs.name;
    spec.identity = m_inputs.name;
    spec.container = m_inputs.container;
    bind_python(spec);
    bind_source(spec);
    for (Action& action : spec.actions) {
      if (auto* fetch = std::get_if<FetchSource>(&action.what)) require_address(fetch->pin, "", fetch->name);
    }
    bind_variables(spec);
    bind_torch(spec);
    bind_tools(spec);
    spec.variables.loose = loose_variables({spec, m_rules, {}, {}, {}, m_here.host}, spec.variables.fixed);
    result.lock = located(m_inputs.lock);
    spec.environment.lock = with_addresses(spec.environment.lock, result.lock);
    set_manifest(spec);
    result.changes = changes(spec);
    return result;
  }

 private:
  void bind_python(BuildSpec& spec) const {
    const std::string recorded = spec.python.version, abi = spec.python.abi;
    if (recorded.empty() || recorded.find_first_not_of("0123456789.") != std::string::npos)
      throw Error(fmt::format("the wheel's Python version {} is not valid", printable(recorded)));
    spec.python = choose_python(recorded, abi);
    if (spec.python.abi != abi)
      throw Error(
          fmt::format("the wheel was built for the ABI {} by Python {}, but {} is {}; give another with --python",
                      printable(abi), recorded, spec.python.executable.string(), spec.python.abi));
  }

  [[nodiscard]] toolchain::Python choose_python(const std::string& recorded, const std::string& abi) const {
    for (const std::string& wanted : m_inputs.pythons) {
      const toolchain::Python python = toolchain::find_python(wanted, m_here.host);
      if (python.abi == abi) return python;
    }
    return find_version(recorded);
  }

  // The exact version, else one of the same series; the difference is then reported.
  [[nodiscard]] toolchain::Python find_version(const std::string& version) const {
    try {
      return toolchain::find_python(version, m_here.host);
    } catch (const Error&) {
      const std::vector<std::string_view> parts = split(version, '.');
      if (parts.size() < 3) throw;
      return toolchain::find_python(fmt::format("{}.{}", parts[0], parts[1]), m_here.host);
    }
  }

  static void require_address(source::Pin& pin, const std::string& other, const std::string& name) {
    if (pin.git_url.empty()) pin.git_url = other;
    pin.git_ref = pin.git_tag.empty() ? pin.git_commit : pin.git_tag;
    if (!is_remote_address(pin.git_url))
      throw Error(fmt::format("the wheel does not contain the repository URL of {}; give it with --source URL",
                              printable(name)));
  }

  void bind_source(BuildSpec& spec) {
    source::Pin& pin = spec.source;
    switch (pin.kind) {
      case source::Pin::Kind::archive: return bind_archive(pin);
      case source::Pin::Kind::folder: return bind_folder(spec);
      case source::Pin::Kind::git: return bind_git(pin);
      case source::Pin::Kind::program:
        pin.digest = "sha256:" + toolchain::file_digest(sys::own_executable(), m_here.host.memo);
        return;
    }
  }

  void bind_git(source::Pin& pin) const {
    if (!m_inputs.source) return require_address(pin, m_recipe.source.url, pin.project);
    const source::Override& user = *m_inputs.source;
    pin.git_ref = pin.git_tag.empty() ? pin.git_commit : pin.git_tag;
    pin.git_url = !user.path.empty() ? "file://" + fs::absolute(user.path).string() : user.url;
    if (pin.git_url.starts_with("git+")) pin.git_url.erase(0, 4);
    if (pin.git_url.empty())
      throw Error(fmt::format("--source {}: the wheel was built from a commit; give a repository that contains it",
                              printable(user.text)));
  }

  void bind_archive(source::Pin& pin) const {
    if (!is_sha256(pin.sha256) || !pep::is_safe_file_name(pin.file_name))
      throw Error("the wheel's sdist has no file name or SHA-256");
    pin.digest = "sha256:" + pin.sha256;
    if (m_inputs.source) {
      const source::Override& user = *m_inputs.source;
      pin.url = user.path.empty() ? user.url : pep::file_url(fs::absolute(user.path).string());
      if (pin.url.empty())
        throw Error(fmt::format("--source {}: the wheel was built from {}; give that file or its URL",
                                printable(user.text), pin.file_name));
      return;
    }
    pin.url = address_of(pin.project, pin.file_name, pin.sha256);
  }

  void bind_folder(BuildSpec& spec) {
    source::Pin& pin = spec.source;
    source::PinOptions options;
    options.python_version = spec.python.version;
    options.offline = m_here.fetcher.options().offline;
    options.recipe_folder = m_here.recipe_folder;
    options.example_folders = m_here.example_folders;
    if (!m_inputs.source && (pin.incremental || m_recipe.source.kind != recipe::Source::Kind::folder))
      throw Error("the wheel was built from a folder, which it does not contain; give the folder with --source DIR");
    if (m_inputs.source && !sys::is_folder(m_inputs.source->path))
      throw Error(fmt::format("--source {}: the wheel was built from a folder, but this is not a folder",
                              printable(m_inputs.source->text)));
    const source::Pin found = source::pin(m_recipe, m_inputs.source, m_here.fetcher, m_here.store, options);
    pin.folder = found.folder;
    pin.digest = found.digest;
    m_source_files = found.files;
  }

  // Finds the URL of a file in the index by its hash.
  [[nodiscard]] std::string address_of(const std::string& project, const std::string& file_name,
                                       const std::string& sha256) const {
    std::error_code ignored;
    const fs::path download = m_here.store.folder("downloads") / sha256 / file_name;
    if (fs::is_regular_file(download, ignored)) return pep::file_url(download.string());
    if (const auto blob = m_here.store.blob(sha256)) return pep::file_url(fs::absolute(*blob).string());
    for (const fs::path& folder : m_inputs.wheel_folders) {
      const fs::path file = fs::absolute(folder) / file_name;
      if (fs::is_regular_file(file, ignored) && toolchain::file_digest(file, m_here.host.memo) == sha256)
        return pep::file_url(file.string());
    }
    if (const pep::ProjectPage* page = m_here.fetcher.find_project(project)) {
      for (const pep::ProjectFile& file : page->files) {
        const auto hash = file.hashes.find("sha256");
        if (hash != file.hashes.end() ? hash->second == sha256 : file.name == file_name) return file.url;
      }
    }
    throw Error(
        fmt::format("{} (SHA-256 {}) is neither in the store nor in the package index; give its folder with --wheels "
                    "DIR, or its index with PIP_EXTRA_INDEX_URL",
                    printable(file_name), sha256));
  }

  [[nodiscard]] env::Lock located(env::Lock lock) const {
    for (env::PinnedWheel& wheel : lock.wheels) {
      if (!is_sha256(wheel.sha256) || !pep::is_safe_file_name(wheel.file_name) || !wheel.file_name.ends_with(".whl"))
        throw Error(fmt::format("the wheel's lock has no file name or SHA-256 for {}", printable(wheel.name)));
      m_here.on_progress(fmt::format("finding {}", wheel.file_name));
      wheel.url = address_of(wheel.name, wheel.file_name, wheel.sha256);
    }
    return lock;
  }

  static env::Lock with_addresses(env::Lock lock, const env::Lock& known) {
    for (env::PinnedWheel& wheel : lock.wheels) {
      if (const env::PinnedWheel* same = known.find(wheel.name)) wheel.url = same->url;
    }
    return lock;
  }

  void bind_variables(BuildSpec& spec) const {
    for (auto& [name, value] : spec.variables.fixed) {
      const auto given = m_inputs.variables.find(name);
      if (value == k_hidden_value) {
        if (given == m_inputs.variables.end())
          throw Error(fmt::format(
              "the build used the variable {0}, whose value is not in the wheel; give it with --env {0}=VALUE",
              printable(name)));
        value = given->second;
      } else if (!spec.environment.isolated) {
        replace_all(value, k_python_folder, spec.python.prefix.string());
      }
    }
  }

  void bind_torch(BuildSpec& spec) const {
    EnvironmentSpec& environment = spec.environment;
    if (!environment.isolated) environment.installed = env::installed_packages(spec.python);
    if (environment.torch.kind != choose::TorchChoice::Kind::environment) return;
    environment.torch.python = m_inputs.torch.empty() ? spec.python.executable : m_inputs.torch;
    if (!toolchain::find_torch(environment.torch.python, false, m_here.host))
      throw Error(
          fmt::format("the wheel was built against torch {} of an environment, but {} has no torch; give the "
                      "environment with --torch",
                      printable(environment.torch_build.version), environment.torch.python.string()));
  }

  void bind_tools(BuildSpec& spec) {
    if (spec.source.kind == source::Pin::Kind::program) return;
    ToolSpec& tools = spec.tools;
    tools.programs.clear();
    m_tools.choose(tools, m_rules);
    if (!tools.cuda.root.empty()) {
      if (!m_tools.cuda())
        throw Error(fmt::format(
            "the wheel was built with CUDA {} of its machine, but this machine has none; give one with --cuda",
            printable(tools.cuda.version)));
      tools.cuda.root = m_tools.cuda()->root.string();
      tools.cuda.version = m_tools.cuda()->version;
    }
    bind_rocm(spec);
    tools.libraries = plan_libraries(spec, m_rules, {}, m_here.host);
  }

  void bind_rocm(BuildSpec& spec) const {
    RocmSpec& rocm = spec.tools.rocm;
    rocm.lock = located(rocm.lock);
    if (rocm.root.empty()) {
      refuse_path(rocm.clang, "folder of clang");
      refuse_path(rocm.device_libraries, "folder of device libraries");
      return;
    }
    const std::string recorded = rocm.version;
    rocm = plan_rocm(spec, m_rules, {}, m_here).what;
    if (rocm.root.empty())
      throw Error(
          fmt::format("the wheel was built with ROCm {} of its machine, but this machine has none; give one with "
                      "--rocm",
                      printable(recorded)));
  }

  void set_manifest(BuildSpec& spec) {
    KeyInputs key{.spec = spec, .recipe_digest = recipe_digest(m_recipe, spec.variant, spec.target)};
    key.source_files = m_source_files;
    key.tools = m_tools.digests(spec.tools);
    if (spec.variant == recipe::Variant::rocm) {
      for (auto& one : rocm_digests(spec, m_here.host)) key.tools.push_back(std::move(one));
    }
    if (spec.environment.torch.kind == choose::TorchChoice::Kind::environment) {
      if (const auto torch = toolchain::find_torch(spec.environment.torch.python, false, m_here.host))
        key.torch = fmt::format("{} {}", torch->version, torch->digest);
    }
    for (const auto& [name, value] : m_inputs.recorded.manifest.inputs()) {
      // Wheels of other steps are found by their hashes, regardless of their keys.
      if (name.starts_with("step:")) key.steps.emplace_back(name.substr(5), value);
      const bool users = name.starts_with("env:") && (value.starts_with("sha256 ") || value == k_hidden_value);
      if (users) key.secrets.emplace(name.substr(4), "");
    }
    spec.manifest = make_manifest(key);
    // Requirements that referred to files of the other machine contain only their names.
    spec.key = spec.manifest.key();
  }

  // Inputs of the key that differ from the recorded ones. Values that the wheel does not contain cannot be compared.
  [[nodiscard]] std::vector<store::Change> changes(const BuildSpec& spec) const {
    store::Manifest recorded;
    for (const auto& [name, value] : m_inputs.recorded.manifest.inputs()) {
      std::string bound = value;
      if (name.starts_with("env:") && !spec.environment.isolated)
        replace_all(bound, k_python_folder, spec.python.prefix.string());
      const auto now = spec.manifest.inputs().find(name);
      recorded.set(name, value == k_hidden_value && now != spec.manifest.inputs().end() ? now->second : bound);
    }
    return store::changes(recorded, spec.manifest);
  }

  const RebindInputs& m_inputs;
  const PlanInputs& m_here;
  Toolbox m_tools;
  recipe::Recipe m_recipe;
  const recipe::Rules& m_rules;
  Pairs m_source_files;
};

}  // namespace

void refuse_hostile_spec(const BuildSpec& spec) {
  if (spec.editable) throw Error("the wheel's specification is of an editable install, which has no wheel");
  refuse_path(spec.subfolder, "folder of the package");
  refuse_commit(spec.source);
  if (spec.source.submodules) {
    for (const std::string& folder : *spec.source.submodules) refuse_path(folder, "folder of a submodule");
  }
  for (const Action& action : spec.actions) {
    if (const auto* fetch = std::get_if<FetchSource>(&action.what)) {
      if (!pep::is_safe_file_name(fetch->name) || fetch->pin.kind != source::Pin::Kind::git)
        throw Error(fmt::format("the wheel's source to fetch has an invalid name: {}", printable(fetch->name)));
      refuse_commit(fetch->pin);
    }
    if (const auto* patch = std::get_if<ApplyPatch>(&action.what))
      refuse_path(patch->patch.folder, "folder of a patch");
    if (const auto* file = std::get_if<WriteFile>(&action.what)) refuse_path(file->path, "file to write");
    if (const auto* remove = std::get_if<RemoveFiles>(&action.what)) {
      for (const std::string& pattern : remove->patterns) refuse_path(pattern, "pattern of files to remove");
    }
    if (const auto* command = std::get_if<RunCommand>(&action.what); command != nullptr && command->argv.empty())
      throw Error("the wheel contains a command without a program");
  }
}

Rebound rebind(const RebindInputs& inputs, const PlanInputs& here) { return Rebinder(inputs, here).rebind(); }

}  // namespace wheelsmith::plan
