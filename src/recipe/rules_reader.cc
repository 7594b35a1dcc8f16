#include "recipe/rules_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "recipe/field_reader.h"
#include "recipe/text_checks.h"
#include "recipe/when.h"

namespace wheelsmith::recipe {
namespace {

using document::Value;

// config = { "cmake.define.X" = "1" }, cmake.define.X = "1", "build-option" = ["a", "b"]: dotted keys are one key, and
// a list repeats it.
void read_config(TableReader& in, const std::string& prefix, const TextCheck& check, Pairs& config) {
  for (const auto& [key, value] : in.table()) {
    (void)in.take(key);
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    const auto add = [&](const Value& one) {
      if (one.text() == nullptr && one.integer() == nullptr) {
        in.fail(one, fmt::format("config {} must be a string, but is {}", in_quotes(name), one.kind()));
        return;
      }
      const std::string text = one.text() != nullptr ? *one.text() : std::to_string(*one.integer());
      const std::string complaint = text.find('\0') != std::string::npos ? "a string cannot contain NUL" : check(text);
      if (!complaint.empty()) in.fail(one, fmt::format("config {}: {}", in_quotes(name), complaint));
      config.emplace_back(name, text);
    };
    if (name.empty() || name.find_first_of(std::string_view("=\n\0", 3)) != std::string::npos) {
      in.fail(value, fmt::format("config {} is not a valid name", in_quotes(name)));
    } else if (value.table() != nullptr) {
      TableReader inner(*value.table(), in.name(), value.line, in.problems());
      read_config(inner, name, check, config);
    } else if (value.array() != nullptr) {
      std::for_each(value.array()->begin(), value.array()->end(), add);
    } else {
      add(value);
    }
  }
}

constexpr std::string_view k_edit_script = R"python(import pathlib, sys
name, old, new, missing = sys.argv[1:]
path = pathlib.Path(name)
text = path.read_text() if path.exists() else ""
if old in text:
    path.write_text(text.replace(old, new))
    print(f"edited {name}: {old!r} became {new!r}")
elif text and new and new in text:
    print(f"{name} already contains {new!r}")
else:
    words = f"{name} does not contain {old!r}: the recipe's edit does not match this version"
    sys.exit(words) if missing == "error" else print("warning:", words)
)python";

// Braces of a text that is not a template.
std::string without_placeholders(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled.append(c == '{' || c == '}' ? 2 : 1, c);
  return doubled;
}

Prepare prepare_of(const Edit& edit) {
  return {{"{python}", "-c", without_placeholders(k_edit_script), without_placeholders(edit.file),
           without_placeholders(edit.from), without_placeholders(edit.to), edit.required ? "error" : "warning"},
          edit.why};
}

void read_edit(TableReader& in, Edit& edit) {
  in.text("file", edit.file, check_relative_path);
  in.text("from", edit.from);
  in.text("to", edit.to);
  in.text("why", edit.why);
  in.flag("required", edit.required);
  if (edit.file.empty() || edit.from.empty() || edit.why.empty())
    in.problems().add(in.line(), in.name() + " needs a file, from and a why");
  if (edit.from == edit.to) in.problems().add(in.line(), in.name() + " changes nothing: from and to are the same");
}

std::string check_absolute_path(const std::string& text) {
  if (!text.starts_with('/') || text.find("..") != text.npos) return in_quotes(text) + " is not an absolute path";
  return "";
}

// Paths opened in the sandbox: each needs a reason.
void read_open(TableReader& in, std::vector<OpenPath>& open) {
  in.each("open", [&](TableReader& one) {
    OpenPath& path = open.emplace_back();
    one.text("path", path.path, check_absolute_path);
    one.flag("write", path.write);
    one.text("why", path.why);
    if (path.path.empty() || path.why.empty()) one.problems().add(one.line(), one.name() + " needs a path and a why");
  });
}

void read_build(TableReader& in, const TextCheck& expandable, Rules& rules) {
  std::size_t backend = static_cast<std::size_t>(rules.backend);
  in.choice("backend", {"pep517", "setup.py", "program"}, backend);
  rules.backend = static_cast<Rules::Backend>(backend);
  in.pairs("environment", rules.environment, check_variable, expandable);
  in.within("config", [&](TableReader& config) {
    rules.config.clear();
    read_config(config, "", expandable, rules.config);
    std::stable_sort(rules.config.begin(), rules.config.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  });
  in.texts("options", rules.options, expandable);
  in.texts("requires", rules.requires_, check_requirement);
  in.texts("drop-requires", rules.drop_requires, check_project_name);
  in.pairs("not-from-pip", rules.not_from_pip, check_project_name, say_why);
  in.text("project", rules.project, check_project_name);
  in.text("version-variable", rules.version_variable, check_variable);
  in.pairs("append", rules.append, check_variable, expandable);
  in.pairs("files", rules.files, check_relative_path, expandable);
  in.each("edit", [&](TableReader& one) { read_edit(one, rules.edits.emplace_back()); });
  for (const Edit& edit : rules.edits) rules.prepare.push_back(prepare_of(edit));
  in.each("prepare", [&](TableReader& one) {
    Prepare& prepare = rules.prepare.emplace_back();
    one.texts("command", prepare.command, expandable);
    one.text("why", prepare.why);
    one.flag("network", prepare.network);
    if (prepare.network && prepare.why.empty()) one.problems().add(one.line(), one.name() + " needs a why");
    if (prepare.command.empty()) one.problems().add(one.line(), one.name() + " has no command");
  });
  in.flag("network", rules.network);
  in.text("network-why", rules.network_why);
  read_open(in, rules.open);
  in.flag("cache", rules.cache);
  in.text("cache-why", rules.cache_why);
  in.texts("clean", rules.clean, check_relative_glob);
  in.pairs("verbose", rules.verbose, check_variable, expandable);
  Pairs build_type;
  if (in.pairs("build-type", build_type, check_word)) rules.build_type = {build_type.begin(), build_type.end()};
}

// "nccl" or "cudnn>=8.5"; a name that comes twice has to fulfil both.
void read_libraries(TableReader& in, const TextCheck& expandable, std::vector<RequiredLibrary>& libraries) {
  std::vector<std::string> texts;
  in.texts("libraries", texts, check_library);
  for (const std::string& text : texts) {
    if (!check_library(text).empty()) continue;
    const std::size_t end = std::min(text.find_first_of("<>=!~ "), text.size());
    const std::string name = text.substr(0, end), specifiers(trim(std::string_view(text).substr(end)));
    const auto same = [&](const RequiredLibrary& library) { return library.name == name; };
    const auto known = std::find_if(libraries.begin(), libraries.end(), same);
    RequiredLibrary& library = known == libraries.end() ? libraries.emplace_back() : *known;
    library.name = name;
    if (!library.specifiers.empty() && !specifiers.empty()) library.specifiers += ",";
    library.specifiers += specifiers;
  }
  // Of libraries that are required only under conditions, too.
  Pairs places;
  in.pairs("places", places, check_word, expandable);
  for (const auto& [name, place] : places) {
    for (RequiredLibrary& library : libraries) {
      if (library.name == name) library.place = place;
    }
  }
}

void read_requires(TableReader& in, const TextCheck& expandable, Requires& requires_versions) {
  in.text("python", requires_versions.python, check_specifiers);
  if (const Value* torch = in.take("torch"); torch != nullptr && torch->boolean() != nullptr) {
    requires_versions.uses_torch = *torch->boolean();
  } else if (in.text("torch", requires_versions.torch, check_specifiers)) {
    requires_versions.uses_torch = true;
  }
  in.text("cuda", requires_versions.cuda, check_specifiers);
  if (const Value* rocm = in.take("rocm"); rocm != nullptr && rocm->boolean() != nullptr) {
    requires_versions.needs_rocm = *rocm->boolean();
  } else {
    in.text("rocm", requires_versions.rocm, check_specifiers);
  }
  in.text("cmake", requires_versions.cmake, check_specifiers);
  in.text("gcc", requires_versions.gcc, check_specifiers);
  in.text("clang", requires_versions.clang, check_specifiers);
  if (const Value* standard = in.take("cxx-standard")) {
    const std::vector<std::int64_t> known = {11, 14, 17, 20, 23, 26};
    const std::int64_t* year = standard->integer();
    if (year == nullptr || std::find(known.begin(), known.end(), *year) == known.end()) {
      in.fail(*standard, "cxx-standard must be one of 11, 14, 17, 20, 23, 26");
    } else {
      requires_versions.cxx_standard = static_cast<int>(*year);
    }
  }
  in.texts("programs", requires_versions.programs, check_word);
  read_libraries(in, expandable, requires_versions.libraries);
}

void read_archs(TableReader& in, ArchRules& archs) {
  in.text("variable", archs.variable, check_variable);
  std::size_t spelling = static_cast<std::size_t>(archs.spelling);
  if (in.choice("spelling", {"dotted", "compact", "cmake", "sm", "gfx"}, spelling)) {
    archs.spelling = static_cast<ArchSpelling>(spelling);
    archs.separator = archs.spelling == ArchSpelling::sm ? "," : ";";
  }
  in.text("separator", archs.separator, [](const std::string& text) {
    const bool good = text == ";" || text == "," || text == " " || text == "|";
    return good ? std::string() : fmt::format("{} is not one of \";\", \",\", \" \", \"|\"", in_quotes(text));
  });
  in.text("default", archs.fallback, check_architectures);
  in.texts("legal", archs.legal, check_architectures);
  // Where nothing can be chosen there is nothing to tell the package.
  if (in.text("fixed", archs.fixed, check_architectures) && !archs.fixed.empty()) archs.variable.clear();
  in.flag("ptx", archs.ptx);
  in.texts("suffixes", archs.suffixes, [](const std::string& text) {
    return text == "a" || text == "f" ? std::string() : fmt::format("{} is neither \"a\" nor \"f\"", in_quotes(text));
  });
  std::size_t features = static_cast<std::size_t>(archs.features);
  if (in.choice("features", {"accepted", "refused", "wanted"}, features))
    archs.features = static_cast<ArchFeatures>(features);
}

void read_code(TableReader& in, gpu::ExpectedCode& code) {
  in.text("library", code.library, check_glob);
  std::size_t must = static_cast<std::size_t>(code.must);
  if (in.choice("must", {"each", "all-or-none", "served", "some", "nothing"}, must))
    code.must = static_cast<gpu::ExpectedCode::Must>(must);
  in.texts("only", code.only, check_glob);
  in.texts("may", code.may, check_glob);
  in.texts("must-not", code.must_not, check_glob);
  in.text("why", code.why);
  if (code.library.empty()) in.problems().add(in.line(), in.name() + " needs a library");
}

void read_need(TableReader& in, Dependency& need) {
  in.text("recipe", need.recipe, check_project_name);
  in.text("requirement", need.requirement, check_requirement);
  in.text("why", need.why);
  in.text("target", need.target, check_word);
  in.text("published", need.published, check_project_name);
  in.text("published-version", need.published_version, check_relative_path);
  in.flag("optional", need.optional);
  in.flag("companion", need.companion);
  if (need.optional && need.why.empty()) in.problems().add(in.line(), in.name() + " is optional and needs a why");
  if (need.recipe.empty() == need.requirement.empty()) {
    in.problems().add(in.line(), in.name() + " must name either a recipe or a requirement");
  }
}

void read_check(TableReader& in, Checks& checks) {
  in.texts("symbols", checks.symbols);
  in.texts("members", checks.members, check_glob);
  in.texts("no-members", checks.no_members, check_glob);
  in.texts("provided", checks.provided, check_glob);
  if (std::uint64_t size = 0; in.size("max-size", size)) checks.max_size = size;
  in.flag("archs", checks.archs);
  in.each("code", [&](TableReader& one) { read_code(one, checks.code.emplace_back()); });
  in.pairs("accept", checks.accepted, check_word, say_why);
}

void read_repair(TableReader& in, RepairRules& repair) {
  in.flag("enabled", repair.enabled);
  in.texts("exclude", repair.exclude, check_glob);
  in.texts("graft", repair.graft);
  in.flag("strip", repair.strip);
}

// Tests are repeated where the wheel is installed, and there is neither tree nor toolkit.
std::string check_test_word(const std::string& text) {
  std::string problem;
  for (const std::string& name : placeholders(text, problem)) {
    if (name != "archs" && name != "variant")
      return fmt::format("a test's command takes {{archs}} and {{variant}}, but not {}", in_quotes("{" + name + "}"));
  }
  return problem;
}

void read_test(TableReader& in, Test& test) {
  in.text("name", test.name, check_word);
  in.texts("imports", test.imports, check_module);
  in.text("script", test.script);
  in.texts("command", test.command, check_test_word);
  in.texts("requires", test.requires_, check_requirement);
  in.texts("files", test.files, check_relative_path);
  in.flag("gpu", test.gpu);
  in.flag("network", test.network);
  in.text("network-why", test.network_why);
  if (test.network && test.network_why.empty()) in.problems().add(in.line(), in.name() + " needs a network-why");
  read_open(in, test.open);
  if (test.imports.empty() && test.script.empty() && test.command.empty()) {
    in.problems().add(in.line(), in.name() + " has nothing to run: add imports, a script or a command");
  }
}

}  // namespace

std::string check_placeholders(const std::string& text, const PlaceholderScope& scope) {
  std::string problem;
  const std::vector<std::string> names = placeholders(text, problem);
  if (!problem.empty()) return problem;
  std::vector<std::string> known = known_placeholders();
  for (const std::string& name : scope.settings) known.push_back("set." + name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (scope.any_setting && name.starts_with("set.")) continue;
    // Known when all layers are together.
    if (name.starts_with("fetch.") || name.starts_with("need.") || is_library_placeholder(name)) continue;
    return fmt::format("unknown placeholder {}{}", in_quotes("{" + name + "}"), suggestion(name, known));
  }
  return "";
}

const std::vector<std::string>& rules_tables() {
  static const std::vector<std::string> names = {"build",  "requires", "archs",     "needs",    "optional", "check",
                                                 "repair", "test",     "known",     "checkout", "fetch",    "preload",
                                                 "refuse", "runtime",  "checklist", "platform", "read"};
  return names;
}

document::Table only_rules(const document::Table& table) {
  document::Table rules;
  for (const std::string& name : rules_tables()) {
    for (const std::string& key : {name, "more-" + name}) {
      if (const Value* value = table.find(key)) rules[key] = *value;
    }
  }
  return rules;
}

void read_rules(TableReader& in, const PlaceholderScope& scope, Rules& rules) {
  const TextCheck expandable = [&](const std::string& text) { return check_placeholders(text, scope); };
  in.within("build", [&](TableReader& build) { read_build(build, expandable, rules); });
  in.within("requires", [&](TableReader& limits) { read_requires(limits, expandable, rules.requires_versions); });
  in.within("archs", [&](TableReader& archs) { read_archs(archs, rules.archs); });
  in.each("needs", [&](TableReader& need) { read_need(need, rules.needs.emplace_back()); });
  in.each("optional", [&](TableReader& part) {
    OptionalPart& optional = rules.optional.emplace_back();
    part.text("name", optional.name, check_word);
    part.text("member", optional.member, check_glob);
    part.text("why", optional.why);
    if (optional.name.empty() || optional.why.empty()) {
      part.problems().add(part.line(), part.name() + " needs a name and a why");
    }
  });
  in.within("check", [&](TableReader& check) { read_check(check, rules.checks); });
  in.within("repair", [&](TableReader& repair) { read_repair(repair, rules.repair); });
  in.each("test", [&](TableReader& test) {
    rules.tests.emplace_back().name = fmt::format("test-{}", rules.tests.size() + 1);
    read_test(test, rules.tests.back());
  });
  in.within("known", [&](TableReader& known) {
    known.number("seconds", rules.known.seconds);
    known.number("seconds-per-arch", rules.known.seconds_per_arch);
    known.size("memory-per-job", rules.known.memory_per_job);
    known.size("disk", rules.known.disk);
    known.size("wheel-size", rules.known.wheel_size);
    known.size("wheel-size-per-arch", rules.known.wheel_size_per_arch);
  });
  read_fields(in, expandable, rules);
  in.each("when", [&](TableReader& when) {
    Rules over;
    (void)read_condition(when);
    read_rules(when, scope, over);
  });
}

}  // namespace wheelsmith::recipe
