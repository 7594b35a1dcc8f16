#include "cli/project_settings.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"
#include "report/settings.h"
#include "settings/project_file.h"
#include "sys/files.h"
#include "sys/terminal.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;

bool on_command_line(const settings::Settings& settings, const char* name) {
  const settings::Held* held = settings.find(name);
  return held != nullptr && held->origin.starts_with("--");
}

// The file given by --config or WHEELSMITH_CONFIG; the command line takes precedence over the environment.
fs::path named_file(const settings::Settings& settings) {
  const std::string file = settings.text("config");
  if (file.empty() || !settings.flag("no-config")) return file;
  if (on_command_line(settings, "config") == on_command_line(settings, "no-config"))
    throw UsageError("config and no-config contradict each other; set only one of them");
  return on_command_line(settings, "config") ? file : "";
}

std::string in_shell(const fs::path& path) { return printable(sys::shell_quoted(path.string())); }

std::string names_of(const std::vector<settings::Settings::RiskyOption>& options) {
  std::vector<std::string> names;
  for (const auto& option : options) names.push_back(option.name);
  return join(names, ", ");
}

[[noreturn]] void refuse(const fs::path& file, settings::TrustState state,
                         const std::vector<settings::Settings::RiskyOption>& options) {
  throw UsageError(fmt::format(
      "{} {}, and it sets options that need trust: {}\n"
      "  why: these options can run programs, choose where results and downloads come from, or weaken protections\n"
      "  fix: wheelsmith trust {}    (after reading the file)\n"
      "  or:  --config {} uses it for one command, --no-config ignores it",
      printable(file.string()),
      state == settings::TrustState::changed ? "changed after you trusted it" : "is not trusted", names_of(options),
      in_shell(file.parent_path()), in_shell(file)));
}

bool user_agrees(const fs::path& file, settings::TrustState state,
                 const std::vector<settings::Settings::RiskyOption>& options) {
  print_status(fmt::format("{} {}. It sets options that need trust:\n{}Trust this file in its current state? [y/N] ",
                           printable(file.string()),
                           state == settings::TrustState::changed ? "changed after you trusted it" : "is not trusted",
                           report::risky_options_text(options)));
  const std::string answer = to_lower(trim(sys::read_answer().value_or("")));
  return answer == "y" || answer == "yes";
}

// Tells the file's owner why it has no effect.
void tell_about_shared_folder(const fs::path& folder) {
  const auto facts = settings::examine_folder(folder);
  if (!facts || !facts->shared || !facts->has_file) return;
  const fs::path file = folder / settings::k_project_file_name;
  print_status(fmt::format(
      "wheelsmith: note: {} is ignored because other users can write to its folder; --config {} uses it anyway\n",
      printable(file.string()), in_shell(file)));
}

}  // namespace

void require_own_file(const settings::ProjectText& project) {
  const settings::OwnershipProblem problem = settings::ownership_problem(project, sys::current_user());
  if (problem.empty()) return;
  throw UsageError(
      fmt::format("{}\n"
                  "  why: another user can change the file, so it cannot be trusted\n"
                  "  fix: {}\n"
                  "  or:  --config {} (or WHEELSMITH_CONFIG) uses it anyway, --no-config ignores it",
                  problem.what, problem.fix, in_shell(project.identity.file)));
}

void read_project_settings(settings::Settings& settings, const sys::Environment& environment) {
  if (const fs::path named = named_file(settings); !named.empty()) {
    settings.read_project(fs::absolute(named).lexically_normal(), sys::read_file(named, settings::k_largest_file));
    settings.trust_project();
    return;
  }
  std::error_code error;
  const fs::path folder = fs::current_path(error);
  if (settings.flag("no-config") || error) return;
  const fs::path file = settings::project_file(folder);
  if (file.empty()) {
    tell_about_shared_folder(folder);
    return;
  }
  const settings::ProjectText project = settings::read_project_text(file);
  require_own_file(project);
  settings.read_project(project.identity.file, project.text);
  const bool can_remember = !settings::state_folder(environment).empty();
  const settings::TrustState state =
      can_remember ? settings::TrustList(environment).state(project.identity) : settings::TrustState::unknown;
  if (state == settings::TrustState::trusted) {
    settings.trust_project();
    return;
  }
  const auto options = settings.risky_options();
  if (options.empty()) return;
  if (!sys::can_ask() || !user_agrees(file, state, options)) refuse(file, state, options);
  settings::TrustList(environment).add(project.identity);
  settings.trust_project();
}

}  // namespace wheelsmith::cli
