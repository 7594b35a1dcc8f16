// After a build, checks whether its result will run. A recipe lists what its users would check by hand (which cmake was
// used, are all packages installed, does the program start, do ROCm's folders exist); each item becomes a check in
// doctor's format.

#include "doctor/checklist.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "sys/file.h"
#include "sys/process/process.h"

namespace wheelsmith::doctor {

namespace {

// The versions of installed distributions by normalized name, from the names of their folders.
std::map<std::string, std::string> installed_in(const toolchain::Python& python) {
  std::map<std::string, std::string> found;
  std::vector<std::filesystem::path> sites = python.sites;
  sites.push_back(python.purelib);
  sites.push_back(python.platlib);
  for (const std::filesystem::path& site : sites) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(site, ignored)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".dist-info")) continue;
      const std::size_t dash = name.find('-');
      if (dash == std::string::npos) continue;
      found.emplace(pep::normalized_name(name.substr(0, dash)),
                    name.substr(dash + 1, name.size() - dash - 1 - std::string_view(".dist-info").size()));
    }
  }
  return found;
}

class Examination {
 public:
  Examination(const plan::Step& step, const ChecklistInputs& inputs, toolchain::Python python)
      : m_spec(step.spec),
        m_inputs(inputs),
        m_python(std::move(python)),
        m_absent(inputs.installed ? State::bad : State::unknown) {}

  void examine(const recipe::ChecklistItem& item, std::vector<Check>& checks) {
    if (!item.program.empty()) checks.push_back(finished(item, program(item)));
    if (!item.installed.empty()) checks.push_back(finished(item, installed(item)));
    if (!item.command.empty()) checks.push_back(finished(item, command(item)));
    if (!item.variables.empty()) checks.push_back(finished(item, variables(item)));
    if (!item.folders.empty()) checks.push_back(finished(item, folders(item)));
    if (!item.wheels.empty()) checks.push_back(finished(item, wheels(item)));
  }

 private:
  [[nodiscard]] Check finished(const recipe::ChecklistItem& item, Check check) const {
    check.id = item.id;
    check.why = item.why;
    if (check.state != State::good) check.fix = item.fix;
    check.package = m_spec.package;
    check.step = m_spec.id;
    return check;
  }

  Check program(const recipe::ChecklistItem& item) const {
    Check check;
    check.wanted = item.not_from.empty() ? item.program : fmt::format("{} not from {}", item.program, item.not_from);
    // A program installed by pip in the build environment comes first in PATH.
    const env::PinnedWheel* shadow = m_spec.environment.lock.find(item.program);
    if (shadow != nullptr) {
      check.found = fmt::format("{} {} from pip", item.program, shadow->version);
      check.state = item.not_from == "pip" ? State::bad : State::good;
      return check;
    }
    const auto linked = m_spec.tools.programs.find(item.program);
    auto program = toolchain::find_program(item.program, m_inputs.host);
    if (!program) {
      check.state = State::bad;
      check.found = "none";
      return check;
    }
    // The plan uses the program after pip's in PATH, if there is one.
    std::string passed;
    if (linked != m_spec.tools.programs.end() && program->path != linked->second) {
      passed = fmt::format("; {} {} from {} is earlier in PATH and was not used", program->path.string(),
                           program->version, to_string(program->origin));
      const auto behind = toolchain::program_behind(*program, m_inputs.host);
      if (behind && behind->path == linked->second) program = behind;
    }
    check.found =
        fmt::format("{} {} ({}){}", program->path.string(), program->version, to_string(program->origin), passed);
    if (!item.not_from.empty() && to_string(program->origin) == item.not_from) check.state = State::bad;
    return check;
  }

  Check installed(const recipe::ChecklistItem& item) const {
    Check check;
    check.wanted = join(item.installed, ", ") + " in " + m_python.prefix.string();
    const std::map<std::string, std::string> there = installed_in(m_python);
    std::vector<std::string> found, missing;
    for (const std::string& name : item.installed) {
      const auto one = there.find(pep::normalized_name(name));
      if (one != there.end())
        found.push_back(fmt::format("{} {}", name, one->second));
      else if (const std::string how = not_needed(name); !how.empty())
        found.push_back(fmt::format("{} (optional, {})", name, how));
      else
        missing.push_back(name);
    }
    check.found = join(found, ", ");
    if (!missing.empty()) {
      check.state = m_absent;
      check.found = fmt::format("{}{}not installed: {}", check.found, found.empty() ? "" : "; ", join(missing, ", "));
    }
    return check;
  }

  Check command(const recipe::ChecklistItem& item) const {
    Check check;
    check.wanted = join(item.command, " ") + " succeeds";
    const std::filesystem::path program = m_python.executable.parent_path() / item.command.front();
    std::error_code ignored;
    if (!std::filesystem::exists(program, ignored)) {
      check.state = m_absent;
      check.found = fmt::format("no {} in {}", item.command.front(), m_python.prefix.string());
      return check;
    }
    sys::Command run;
    run.argv = {program.string()};
    run.argv.insert(run.argv.end(), item.command.begin() + 1, item.command.end());
    run.folder = std::filesystem::temp_directory_path();
    const sys::Captured result = sys::capture(run);
    check.state = result.exit.good() ? State::good : State::bad;
    const std::vector<std::string_view> said = lines(trim(result.errors));
    check.found = result.exit.good() ? "succeeded"
                                     : fmt::format("{}{}{}", sys::to_string(result.exit), said.empty() ? "" : ": ",
                                                   said.empty() ? "" : printable(said.back()));
    return check;
  }

  Check variables(const recipe::ChecklistItem& item) const {
    Check check;
    check.wanted = join(item.variables, ", ") + " set";
    std::vector<std::string> found, missing;
    for (const std::string& name : item.variables) {
      const std::string* set = m_spec.variable(name);
      if (set == nullptr) {
        missing.push_back(name);
        continue;
      }
      const std::string value = with_rocm(*set);
      // A variable that refers to a folder of ROCm implies that the folder is not empty.
      const bool promises = set->starts_with("${rocm}") && !m_spec.tools.rocm.root.empty();
      if (promises && is_empty(value)) check.state = State::bad;
      found.push_back(fmt::format("{}={}{}", name, value, promises && is_empty(value) ? " (empty or missing)" : ""));
    }
    check.found = join(found, ", ");
    if (!missing.empty()) {
      check.state = State::bad;
      check.found += fmt::format("{}not set: {}", found.empty() ? "" : "; ", join(missing, ", "));
    }
    return check;
  }

  Check folders(const recipe::ChecklistItem& item) const {
    Check check;
    std::vector<std::string> wanted, missing;
    for (const std::string& folder : item.folders) {
      const std::string path = with_rocm(folder);
      wanted.push_back(path);
      if (!sys::is_folder(path)) missing.push_back(path);
    }
    check.wanted = join(wanted, ", ");
    check.state = missing.empty() ? State::good : State::bad;
    check.found = missing.empty() ? "present" : "missing: " + join(missing, ", ");
    return check;
  }

  Check wheels(const recipe::ChecklistItem& item) const {
    Check check;
    check.wanted = "wheels of " + join(item.wheels, ", ");
    std::vector<std::string> found, missing;
    for (const std::string& name : item.wheels) {
      const auto& packages = m_inputs.packages;
      const auto of = std::find_if(packages.begin(), packages.end(), [&](const BuiltPackage& package) {
        std::error_code ignored;
        return pep::same_name(package.project, name) && !package.wheel.empty() &&
               std::filesystem::exists(package.wheel, ignored);
      });
      if (of != packages.end())
        found.push_back(of->wheel.filename().string());
      else if (const std::string how = not_needed(name); !how.empty())
        found.push_back(fmt::format("{} (optional, {})", name, how));
      else
        missing.push_back(name);
    }
    check.found = join(found, ", ");
    if (!missing.empty()) {
      check.state = State::bad;
      check.found += fmt::format("{}no wheel of {}", found.empty() ? "" : "; ", join(missing, ", "));
    }
    return check;
  }

  // The outcome of a missing optional package: "skipped", "failed"; "" for a required package.
  [[nodiscard]] std::string not_needed(const std::string& name) const {
    for (const BuiltPackage& package : m_inputs.packages) {
      if (!package.left_out.empty() && pep::same_name(package.project, name)) return package.left_out;
    }
    return "";
  }

  // Whether a folder is empty or missing.
  static bool is_empty(const std::filesystem::path& path) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return false;
    const std::filesystem::directory_iterator first(path, error);
    return error || first == std::filesystem::directory_iterator();
  }

  [[nodiscard]] std::string with_rocm(std::string text) const {
    const std::string word = "${rocm}";
    const std::string& root = m_spec.tools.rocm.root;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + root.size()))
      text.replace(at, word.size(), root);
    return text;
  }

  const plan::BuildSpec& m_spec;
  const ChecklistInputs& m_inputs;
  toolchain::Python m_python;
  State m_absent;  // the state of an item that is not in the environment
};

}  // namespace

std::vector<Check> closing_checklist(const plan::Plan& plan, const ChecklistInputs& inputs) {
  std::vector<Check> checks;
  for (const plan::Step& step : plan.steps) {
    if (!step.closing.asked_for || step.closing.checklist.empty()) continue;
    // Files may have been added since the interpreter was queried; its folders are the same.
    const toolchain::Python python =
        inputs.into.empty() ? step.spec.python : toolchain::find_python(inputs.into.string(), inputs.host);
    Examination examination(step, inputs, python);
    for (const recipe::ChecklistItem& item : step.closing.checklist) examination.examine(item, checks);
  }
  return checks;
}

}  // namespace wheelsmith::doctor
