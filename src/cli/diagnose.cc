#include "diagnose/diagnose.h"

#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "report/diagnosis.h"
#include "run/machine_facts.h"
#include "settings/settings.h"
#include "sys/file.h"
#include "sys/process/process.h"

namespace wheelsmith::cli {

namespace {

struct DiagnoseCommand {
  OutputOptions output;
  std::vector<std::string> logs;
  std::vector<std::string> knowledge;
};

// Built-in patterns, then the user's file if there is one, then the files of --patterns. The last definition of an id
// wins.
diagnose::Knowledge all_knowledge(const std::vector<std::string>& named) {
  std::vector<std::string> files;
  const std::filesystem::path own = settings::user_folder(sys::current_environment());
  std::error_code ignored;
  if (!own.empty() && std::filesystem::is_regular_file(own / "patterns.toml", ignored))
    files.push_back((own / "patterns.toml").string());
  files.insert(files.end(), named.begin(), named.end());
  if (files.empty()) return diagnose::builtin_knowledge();
  diagnose::Knowledge knowledge;
  for (const auto& [name, text] : diagnose::builtin_files()) knowledge.add(text, name, true);
  try {
    for (const std::string& file : files) knowledge.add(sys::map_file(file).bytes.text(), file);
    knowledge.compile();
  } catch (const Error& error) {
    throw UsageError(printable(error.what()));
  }
  return knowledge;
}

report::DiagnosedLog diagnose_log(const std::string& path, const diagnose::Knowledge& knowledge) {
  report::DiagnosedLog item;
  item.path = path == "-" ? "standard input" : path;
  try {
    if (sys::is_folder(path)) throw Error(path + " is a folder; a log is a file, or \"-\" for standard input");
    diagnose::Diagnoser diagnoser(knowledge);
    item.complete = sys::read_pieces(path, [&](std::string_view piece) { diagnoser.feed(piece); });
    item.diagnosis = diagnoser.finish(run::machine_for_remedies(diagnose::Audience::anyone));
  } catch (const Error& error) {  // one log becomes an item
    item.error = error.what();
  }
  return item;
}

int diagnose_logs(const DiagnoseCommand& command) {
  const diagnose::Knowledge knowledge = all_knowledge(command.knowledge);
  // On Ctrl-C, report on the part of an endless log that was read so far.
  sys::install_interrupt_flag();
  std::vector<report::DiagnosedLog> items;
  bool fine = true;
  for (const std::string& path : command.logs) {
    items.push_back(diagnose_log(path, knowledge));
    fine &= items.back().error.empty() && !items.back().diagnosis.failed;
    if (!command.output.json) print(report::to_text(items.back(), command.output.style()));
    if (sys::interrupted()) break;
  }
  if (command.output.json) print(report::to_json(items));
  return sys::interrupted() ? k_interrupted : fine ? k_fine : k_not_fine;
}

}  // namespace

void add_diagnose(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<DiagnoseCommand>();
  CLI::App* sub = app.add_subcommand("diagnose", "Explain why a build failed, from its log, and how to fix it");
  sub->footer(
      "Reads logs of pip, uv, setuptools, CMake, ninja, make, compilers, linkers and Python, from any build. Exit "
      "status: 0 if the log shows no failure, 1 if it does.\n\n"
      "Examples:\n"
      "  wheelsmith diagnose build.log\n"
      "  pip install flash-attn --no-build-isolation 2>&1 | wheelsmith diagnose\n"
      "  wheelsmith diagnose *.log --json");
  sub->add_option("LOG", command->logs, "Log files; default: standard input (-)")
      ->default_val(std::vector<std::string>{"-"});
  sub->add_option(
         "--patterns", command->knowledge,
         "File with more failure patterns (docs/diagnose.md); $XDG_CONFIG_HOME/wheelsmith/patterns.toml is always read")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return diagnose_logs(*command); }; });
}

}  // namespace wheelsmith::cli
