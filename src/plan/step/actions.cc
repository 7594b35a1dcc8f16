#include "plan/step/actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "pep/wheel_name.h"
#include "plan/step/variables.h"

namespace wheelsmith::plan {

namespace {

// The module that loads ROCm's libraries before the package's own, as frameworks call it. A name that the SDK does not
// know makes the import fail, and the SDK where the wheel is installed may be older than the one it was built with; so
// that SDK's own list is asked. As the wheel's requirement does, it takes every patch release of one MAJOR.MINOR.
std::string preload_module(const recipe::Preload& preload, const std::string& version) {
  std::string text =
      "# Made by wheelsmith: loads ROCm's libraries out of its Python packages.\n\n\ndef initialize():\n"
      "    import rocm_sdk\n    from rocm_sdk import _dist_info\n\n    names = [\n";
  for (const std::string& library : preload.libraries) text += fmt::format("        \"{}\",\n", library);
  text +=
      "    ]\n    known = getattr(_dist_info, \"ALL_LIBRARIES\", names)\n    rocm_sdk.initialize_process(\n"
      "        preload_shortnames=[name for name in names if name in known],\n";
  const auto parts = split(version, '.');
  if (parts.size() > 1) text += fmt::format("        check_version=\"{}.{}.*\",\n", parts[0], parts[1]);
  return text + "    )\n";
}

// A command that names a source that was not fetched has nothing to do.
bool names_unfetched(const recipe::Prepare& prepare, const recipe::Rules& rules, const Placeholders& values) {
  return std::any_of(prepare.command.begin(), prepare.command.end(), [&](const std::string& word) {
    return std::any_of(rules.fetches.begin(), rules.fetches.end(), [&](const recipe::Fetch& fetch) {
      return word.find("{fetch." + fetch.name + "}") != word.npos && values.at("fetch." + fetch.name).empty();
    });
  });
}

std::vector<std::string> expanded(const std::vector<std::string>& words, const Placeholders& values) {
  std::vector<std::string> result;
  for (const std::string& word : words) {
    if (auto text = expand_or_nothing(word, values)) result.push_back(std::move(*text));
  }
  return result;
}

void add_source_actions(const ActionInputs& inputs, std::vector<Action>& actions) {
  for (const source::Patch& patch : inputs.patches.early) actions.push_back({Phase::source, ApplyPatch{patch}});
  if (!inputs.rules.clean.empty()) actions.push_back({Phase::source, RemoveFiles{inputs.rules.clean}});
  for (const FetchSource& fetch : inputs.fetches) actions.push_back({Phase::source, fetch});
}

void add_prepare_actions(const ActionInputs& inputs, std::vector<Action>& actions) {
  const recipe::Rules& rules = inputs.rules;
  for (const auto& [path, text] : rules.files)
    actions.push_back({Phase::prepare, WriteFile{path, recipe::expand(text, inputs.values)}});
  if (!rules.preload.module.empty() && !rules.preload.libraries.empty() && inputs.spec.variant == recipe::Variant::rocm)
    actions.push_back({Phase::prepare,
                       WriteFile{rules.preload.module, preload_module(rules.preload, inputs.spec.tools.rocm.version)}});
  if (!inputs.hipify.empty()) {
    actions.push_back({Phase::prepare, RunCommand{{"${env}/bin/python", inputs.hipify}, false}});
    for (const source::Patch& patch : inputs.patches.hipified) actions.push_back({Phase::prepare, ApplyPatch{patch}});
  }
  for (const recipe::Prepare& prepare : rules.prepare) {
    if (!names_unfetched(prepare, rules, inputs.values))
      actions.push_back({Phase::prepare, RunCommand{expanded(prepare.command, inputs.values), prepare.network}});
  }
}

void add_build_actions(const ActionInputs& inputs, std::vector<Action>& actions) {
  using Hook = CallHook::Hook;
  const std::vector<std::string> options = expanded(inputs.rules.options, inputs.values);
  const bool plain_setup = inputs.rules.backend == recipe::Rules::Backend::setup_py;
  if (plain_setup && !inputs.spec.editable) {
    RunCommand command{{"${env}/bin/python", "setup.py", "bdist_wheel", "--dist-dir", "${tree}/dist"}, false};
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    actions.push_back({Phase::build, std::move(command)});
    return;
  }
  Pairs config;
  for (const auto& [name, value] : inputs.rules.config) {
    if (auto text = expand_or_nothing(value, inputs.values)) config.emplace_back(name, std::move(*text));
  }
  for (const std::string& option : options) config.emplace_back("--build-option", option);
  std::vector<std::string> dropped;
  for (const std::string& name : inputs.rules.drop_requires) dropped.push_back(pep::normalized_name(name));
  for (const auto& [name, why] : inputs.rules.not_from_pip) dropped.push_back(pep::normalized_name(name));
  // The backend is foreign code: it is asked what it requires in a phase that may run some.
  const bool editable = inputs.spec.editable;
  if (!plain_setup)
    actions.push_back(
        {Phase::prepare, CallHook{editable ? Hook::get_requires_for_build_editable : Hook::get_requires_for_build_wheel,
                                  config, dropped}});
  actions.push_back(
      {Phase::build, CallHook{editable ? Hook::build_editable : Hook::build_wheel, std::move(config), {}}});
}

}  // namespace

std::vector<Action> make_actions(const ActionInputs& inputs) {
  std::vector<Action> actions;
  if (inputs.spec.source.kind == source::Pin::Kind::program) return {{Phase::build, PackProgram{}}};
  if (inputs.spec.editable) {
    for (const FetchSource& fetch : inputs.fetches) actions.push_back({Phase::source, fetch});
    // Downloads change nothing in the folder.
    std::vector<Action> prepare;
    add_prepare_actions(inputs, prepare);
    for (Action& action : prepare) {
      const auto* command = std::get_if<RunCommand>(&action.what);
      if (command != nullptr && command->network) actions.push_back(std::move(action));
    }
  } else {
    add_source_actions(inputs, actions);
    add_prepare_actions(inputs, actions);
  }
  add_build_actions(inputs, actions);
  return actions;
}

std::vector<std::string> left_out_in_place(const ActionInputs& inputs) {
  const recipe::Rules& rules = inputs.rules;
  std::vector<std::string> result;
  for (const source::Patch& patch : inputs.patches.early) result.push_back("the patch " + patch.name);
  const std::size_t edits = rules.edits.size();  // the first of the commands make them
  std::vector<Action> actions;
  add_prepare_actions(inputs, actions);
  for (const Action& action : actions) {
    if (const auto* file = std::get_if<WriteFile>(&action.what)) result.push_back("the file " + file->path);
    if (const auto* patch = std::get_if<ApplyPatch>(&action.what)) result.push_back("the patch " + patch->patch.name);
  }
  if (!inputs.hipify.empty()) result.push_back("the command python3 " + inputs.hipify);
  for (const recipe::Edit& edit : rules.edits)
    result.push_back(fmt::format("the edit of {} ({})", edit.file, edit.why));
  for (std::size_t i = edits; i < rules.prepare.size(); ++i) {
    if (!names_unfetched(rules.prepare[i], rules, inputs.values))
      result.push_back("the command " + join(expanded(rules.prepare[i].command, inputs.values), " "));
  }
  return result;
}

}  // namespace wheelsmith::plan
