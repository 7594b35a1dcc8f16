#include "recipe/field_reader.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "recipe/text_checks.h"

namespace wheelsmith::recipe {
namespace {

void needs_all(TableReader& in, std::initializer_list<std::pair<const char*, const std::string*>> texts) {
  for (const auto& [key, text] : texts) {
    if (text->empty()) in.problems().add(in.line(), fmt::format("{} needs {}", in.name(), key));
  }
}

void read_submodules(TableReader& in, std::optional<std::vector<std::string>>& submodules) {
  std::vector<std::string> named;
  if (in.texts("submodules", named, check_relative_path)) submodules = std::move(named);
}

std::string check_expression(const std::string& text) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  const RE2 expression(text, quiet);
  if (!expression.ok()) return fmt::format("{}: {}", in_quotes(text), expression.error());
  return expression.NumberOfCapturingGroups() == 1
             ? ""
             : fmt::format("{} needs exactly one capturing group", in_quotes(text));
}

void read_fetch(TableReader& in, Fetch& fetch) {
  in.text("name", fetch.name, check_word);
  in.text("git", fetch.git, check_git);
  in.text("ref", fetch.ref, check_git);
  in.text("ref-file", fetch.ref_file, check_relative_path);
  in.text("ref-pattern", fetch.ref_pattern, check_expression);
  in.text("variable", fetch.variable, check_variable);
  in.text("subfolder", fetch.subfolder, check_relative_path);
  in.text("why", fetch.why);
  read_submodules(in, fetch.submodules);
  needs_all(in, {{"a name", &fetch.name}, {"git", &fetch.git}});
  if (fetch.ref_file.empty() != fetch.ref_pattern.empty())
    in.problems().add(in.line(), in.name() + ": ref-file requires ref-pattern and vice versa");
  if (fetch.ref.empty() && fetch.ref_file.empty())
    in.problems().add(in.line(), in.name() + " needs a ref, or ref-file and ref-pattern");
}

void read_checklist_item(TableReader& in, const TextCheck& expandable, ChecklistItem& item) {
  in.text("id", item.id, check_word);
  in.text("why", item.why);
  in.text("fix", item.fix);
  in.text("program", item.program, check_word);
  in.text("not-from", item.not_from, check_word);
  in.texts("command", item.command);
  in.texts("installed", item.installed, check_project_name);
  in.texts("variables", item.variables, check_variable);
  in.texts("folders", item.folders, expandable);
  in.texts("wheels", item.wheels, check_project_name);
  needs_all(in, {{"an id", &item.id}});
  if (item.program.empty() && item.command.empty() && item.installed.empty() && item.variables.empty() &&
      item.folders.empty() && item.wheels.empty())
    in.problems().add(in.line(), in.name() + " has no requirement");
}

void read_platform(TableReader& in, OtherPlatform& platform) {
  in.text("match", platform.match, check_glob);
  in.text("tag", platform.tag, check_word);
  in.pairs("environment", platform.environment, check_variable);
  in.each("rules", [&](TableReader& one) {
    OtherPlatform::Rule& rule = platform.rules.emplace_back();
    one.text("id", rule.id, check_word);
    one.text("what", rule.what);
    one.text("why", rule.why);
    one.text("fix", rule.fix);
    needs_all(one, {{"an id", &rule.id}, {"what", &rule.what}});
  });
  needs_all(in, {{"match", &platform.match}});
}

}  // namespace

std::string say_why(const std::string& reason) { return reason.empty() ? "the reason is missing" : ""; }

void read_fields(TableReader& in, const TextCheck& expandable, Rules& rules) {
  in.within("checkout", [&](TableReader& checkout) {
    read_submodules(checkout, rules.checkout.submodules);
    checkout.text("hipify", rules.checkout.hipify, check_relative_path);
    checkout.flag("commit-hipify", rules.checkout.commit_hipify);
  });
  in.each("fetch", [&](TableReader& fetch) { read_fetch(fetch, rules.fetches.emplace_back()); });
  in.within("preload", [&](TableReader& preload) {
    preload.text("module", rules.preload.module, check_relative_path);
    preload.texts("libraries", rules.preload.libraries, check_word);
    preload.text("names-file", rules.preload.names_file, check_relative_path);
    preload.text("names-pattern", rules.preload.names_pattern, check_expression);
    if (rules.preload.names_file.empty() != rules.preload.names_pattern.empty())
      preload.problems().add(preload.line(), preload.name() + ": names-file requires names-pattern and vice versa");
  });
  in.each("read", [&](TableReader& one) {
    ReadRule& rule = rules.reads.emplace_back();
    std::size_t what = 0;
    if (one.choice("what", {"archs", "torch", "cxx-standard", "gcc", "cmake"}, what))
      rule.what = static_cast<ReadRule::What>(what);
    else
      one.problems().add(one.line(), one.name() + " needs what");
    one.text("file", rule.file, check_relative_path);
    one.text("pattern", rule.pattern, check_expression);
    needs_all(one, {{"a file", &rule.file}, {"a pattern", &rule.pattern}});
  });
  in.each("refuse", [&](TableReader& refuse) {
    Refusal& refusal = rules.refusals.emplace_back();
    refuse.texts("archs", refusal.archs, check_glob);
    refuse.text("why", refusal.why);
    refuse.text("override", refusal.override_by, check_word);
    needs_all(refuse, {{"a why", &refusal.why}});
  });
  in.each("runtime", [&](TableReader& runtime) {
    RuntimeVariable& variable = rules.runtime.emplace_back();
    runtime.text("variable", variable.variable, check_variable);
    runtime.text("value", variable.value, expandable);
    runtime.text("why", variable.why);
    needs_all(runtime, {{"a variable", &variable.variable}, {"a why", &variable.why}});
  });
  in.each("checklist",
          [&](TableReader& item) { read_checklist_item(item, expandable, rules.checklist.emplace_back()); });
  in.each("platform", [&](TableReader& platform) { read_platform(platform, rules.platforms.emplace_back()); });
}

}  // namespace wheelsmith::recipe
