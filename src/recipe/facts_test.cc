// Every recipe, resolved for every tag, variant and target that is known, against facts about the packages. The facts
// were read in the packages (src/recipe/data/facts), never in the recipes: a test that takes its expectation from what
// it tests proves nothing.

#include "recipe/facts_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"
#include "recipe/text_checks.h"

namespace wheelsmith::recipe {
namespace {

using document::Value;
using Names = std::vector<std::string>;

bool has(const Names& names, std::string_view one) { return std::find(names.begin(), names.end(), one) != names.end(); }

bool fits_any(const Names& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& one) { return glob_match(one, text); });
}

bool admits(const std::string& specifiers, const std::string& version) {
  return pep::contains(pep::parse_specifiers(specifiers), pep::Version::parse(version));
}

Names one_or_more(const Value& value) { return value.text() != nullptr ? Names{*value.text()} : value.texts(); }

// One step as it would be planned.
struct Situation {
  std::string tag, target;
  Variant variant = Variant::cpu;
  Conditions conditions;
  std::string what;  // "cuda 12.8": what differs from the usual
  bool all = true;   // else what differs has nothing to do with the architectures
};

// What the recipe makes of it.
class Comparison {
 public:
  Comparison(const PackageFacts& facts, const Recipe& recipe, const Situation& situation, Names& problems)
      : m_facts(facts), m_recipe(recipe), m_situation(situation), m_problems(problems) {
    for (const Fact& fact : facts.facts) {
      if (fact.holds(situation.variant, situation.target, situation.conditions)) m_holding.push_back(&fact);
    }
  }

  void compare() {
    const std::string impossible = reason_against();
    if (!resolve()) {
      if (impossible.empty()) complain("is refused: " + m_refusal);
      return;
    }
    compare_ranges();
    if (is_out_of_range()) return;
    const std::string refusal = refused();
    if (!impossible.empty()) {
      if (refusal.empty()) complain("is not refused, although " + impossible);
      return;
    }
    if (!refusal.empty()) return complain("is refused: " + refusal);
    compare_limits();
    compare_archs();
    compare_submodules();
    compare_variables();
    compare_options();
    compare_requirements();
    compare_texts();
    compare_wheel();
    compare_files();
    compare_code();
    compare_preload();
  }

 private:
  void complain(const std::string& what, const Fact* fact = nullptr) {
    m_problems.push_back(fmt::format(
        "{} {} {}{}{}: {}{}", m_facts.recipe, m_situation.tag, to_string(m_situation.variant),
        m_situation.target.empty() ? "" : " " + m_situation.target,
        m_situation.what.empty() ? "" : ", " + m_situation.what, what, fact == nullptr ? "" : "; " + fact->where));
  }

  template <class Then>
  void each(std::string_view key, const Then& then) {
    for (const Fact* fact : m_holding) {
      if (const Value& value = fact->values[key]; !value.is_null()) then(value, *fact);
    }
  }

  [[nodiscard]] std::string reason_against() const {
    for (const Fact* fact : m_holding) {
      if (const std::string why = fact->values["impossible"].text_or(); !why.empty()) return why + "; " + fact->where;
    }
    return "";
  }

  bool resolve() {
    try {
      m_resolved = m_recipe.resolved_for(m_situation.variant, m_situation.target, m_situation.conditions, m_reasons);
      m_rules = m_resolved.rules(m_situation.variant, m_situation.target);
    } catch (const Error& error) {
      m_refusal = error.what();
      return false;
    }
    return true;
  }

  // What stops the plan, in the recipe's words; a refusal that a setting overrides stops nothing here.
  [[nodiscard]] std::string refused() const {
    gpu::ArchList archs;
    for (const std::string& name : m_situation.conditions.archs) {
      for (const auto& request : gpu::ArchList::parse(name).requests) archs.requests.push_back(request);
    }
    for (const Refusal& refusal : m_rules.refusals) {
      if (!refusal.override_by.empty()) continue;
      if (refusal.archs.empty() || !refusal.hits(archs).empty()) return refusal.why;
    }
    return "";
  }

  [[nodiscard]] bool is_out_of_range() const {
    const auto excluded = [](const std::optional<std::string>& version, const std::string& limits) {
      return version && !admits(limits, *version);
    };
    const bool cuda = m_situation.variant == Variant::cuda, rocm = m_situation.variant == Variant::rocm;
    return (cuda && excluded(m_situation.conditions.cuda, m_rules.requires_versions.cuda)) ||
           (rocm && excluded(m_situation.conditions.rocm, m_rules.requires_versions.rocm));
  }

  void compare_ranges() {
    const auto compare_one = [&](std::string_view key, const std::optional<std::string>& version,
                                 const std::string& limits) {
      each(key, [&](const Value& value, const Fact& fact) {
        if (version && admits(limits, *version) != admits(value.text_or(), *version))
          complain(fmt::format("{}: the recipe wants {}", value.text_or(), limits), &fact);
      });
    };
    compare_one("cuda-range", m_situation.conditions.cuda, m_rules.requires_versions.cuda);
    compare_one("rocm-range", m_situation.conditions.rocm, m_rules.requires_versions.rocm);
  }

  void compare_limits() {
    static const Names pythons = {"3.7.9",  "3.8.2",  "3.9.2",  "3.10.2", "3.11.2", "3.12.2",
                                  "3.13.2", "3.14.0", "3.14.1", "3.14.2", "3.15.0", "3.16.0"};
    static const Names compilers = {"8.5",  "9.2",  "9.3",  "9.5",  "10.0", "10.2", "10.4", "11.0",
                                    "11.2", "11.3", "11.4", "12.2", "12.3", "13.0", "13.3", "14.2"};
    static const Names clangs = {"9.0", "10.0", "14.0", "15.0", "16.0", "17.0", "19.0"};
    static const Names cmakes = {"3.17.0", "3.18.0", "3.19.0", "3.20.0", "3.21.0",
                                 "3.24.0", "3.25.1", "3.26.0", "3.27.0", "3.31.6"};
    const Requires& limits = m_rules.requires_versions;
    compare_limit("python", limits.python, pythons);
    compare_limit("gcc", limits.gcc, compilers);
    compare_limit("clang", limits.clang, clangs);
    compare_limit("cmake", limits.cmake, cmakes);
    each("cxx-standard", [&](const Value& value, const Fact& fact) {
      if (value.integer_or(0) != limits.cxx_standard)
        complain(fmt::format("C++{}, the recipe says {}", value.integer_or(0), limits.cxx_standard), &fact);
    });
    each("libraries", [&](const Value& value, const Fact& fact) {
      for (const std::string& text : value.texts()) {
        const std::size_t end = std::min(text.find_first_of("<>="), text.size());
        const RequiredLibrary* library = limits.library(text.substr(0, end));
        if (library == nullptr)
          complain("the library " + text + " is not required", &fact);
        else
          compare_library(*library, text.substr(end), fact);
      }
    });
    each("no-libraries", [&](const Value& value, const Fact& fact) {
      for (const std::string& name : value.texts()) {
        if (limits.library(name) != nullptr) complain("the library " + name + " is required", &fact);
      }
    });
  }

  void compare_library(const RequiredLibrary& library, const std::string& specifiers, const Fact& fact) {
    static const Names probes = {"1.9", "2.0",   "2.27.7", "7.6.5",  "8.1",   "8.4",
                                 "8.5", "8.9.7", "9.0",    "9.27.0", "2021.8"};
    for (const std::string& probe : probes) {
      if (admits(library.specifiers, probe) == admits(specifiers, probe)) continue;
      complain(fmt::format("{}{}: the recipe wants {}", library.name, specifiers, library.specifiers), &fact);
      return;
    }
  }

  void compare_limit(std::string_view key, const std::string& limits, const Names& probes) {
    each(key, [&](const Value& value, const Fact& fact) {
      for (const std::string& probe : probes) {
        if (admits(limits, probe) == admits(value.text_or(), probe)) continue;
        complain(fmt::format("{} {}: the recipe wants {} and {} {}", key, value.text_or(), limits,
                             admits(limits, probe) ? "admits" : "refuses", probe),
                 &fact);
        return;
      }
    });
  }

  // Names that some fact of the package mentions, with and without suffixes and features.
  [[nodiscard]] std::set<std::string> all_archs() const {
    std::set<std::string> names;
    for (const Fact& fact : m_facts.facts) {
      if (!fact.variants.empty() && !has(fact.variants, to_string(m_situation.variant))) continue;
      for (const std::string& name : fact.values["archs"].texts()) {
        names.insert(name);
        if (name.starts_with("gfx")) names.insert(name + ":xnack-");
        // Suffixes begin with Hopper.
        const bool plain = name.find_first_of("gaf") == std::string::npos;
        if (plain && pep::Version::parse(name) >= pep::Version::parse("9.0")) names.insert(name + "a");
        if (plain && pep::Version::parse(name) >= pep::Version::parse("10.0")) names.insert(name + "f");
      }
    }
    if (m_situation.variant == Variant::cuda) names.insert({"6.1", "8.6"});
    if (m_situation.variant == Variant::rocm) names.insert("gfx90c");
    return names;
  }

  [[nodiscard]] bool takes(const std::string& arch, const ArchRules& rules) const {
    try {
      check_legal(gpu::ArchList::parse(arch), rules, m_facts.recipe);
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  void compare_archs() {
    if (!m_situation.all) return;
    each("archs", [&](const Value& value, const Fact& fact) {
      compare_arch_list(value.texts(), fact, m_rules.archs);
      for (const gpu::ArchRequest& request : gpu::ArchList::parse(m_rules.archs.fallback).requests) {
        if (!takes(gpu::to_string(request), m_rules.archs))
          complain("the default has " + gpu::to_string(request) + ", which it does not take", &fact);
      }
      // What the source says itself must come to the same.
      Rules read = m_rules;
      std::erase_if(read.reads, [](const ReadRule& rule) { return rule.what != ReadRule::What::archs; });
      if (read.reads.empty() || fact.values["texts"].is_null()) return;
      Names notes;
      apply_reads(read, text_of(), notes);
      for (const std::string& note : notes) complain(note, &fact);
      compare_arch_list(value.texts(), fact, read.archs);
    });
    each("fixed-archs", [&](const Value& value, const Fact& fact) {
      if (m_rules.archs.fixed != value.text_or()) complain("the list is always " + value.text_or(), &fact);
    });
    each("features", [&](const Value& value, const Fact& fact) {
      const bool refused = m_rules.archs.features == ArchFeatures::refused;
      if (refused != (value.text_or() == "refused")) complain("target features are " + value.text_or(), &fact);
    });
  }

  void compare_arch_list(const Names& accepted, const Fact& fact, const ArchRules& rules) {
    const Names suffixes = fact.values["suffixes"].texts();
    for (const std::string& name : all_archs()) {
      const bool featured = name.find(':') != std::string::npos;
      const std::string plain = name.substr(0, name.size() - 1);
      const bool by_suffix = has(suffixes, name.substr(name.size() - 1)) && has(accepted, plain);
      const bool by_features =
          featured && fact.values["features"].text_or() != "refused" && has(accepted, name.substr(0, name.find(':')));
      const bool wanted = has(accepted, name) || by_suffix || by_features;
      if (takes(name, rules) != wanted)
        complain(fmt::format("{} is {}, the recipe {} it", name, wanted ? "accepted" : "not accepted",
                             wanted ? "refuses" : "takes"),
                 &fact);
    }
  }

  void compare_submodules() {
    const auto& named = m_rules.checkout.submodules;
    if (!named) return;
    each("submodules", [&](const Value& value, const Fact& fact) {
      for (const std::string& path : *named) {
        if (!has(value.texts(), path)) complain(path + " is not a submodule", &fact);
      }
    });
    each("submodules-needed", [&](const Value& value, const Fact& fact) {
      for (const std::string& path : value.texts()) {
        if (!has(*named, path)) complain("the submodule " + path + " is not checked out", &fact);
      }
    });
  }

  // As if everything had been chosen: what a placeholder stands for matters only for a few.
  [[nodiscard]] std::string expanded_text(const std::string& text) const {
    std::map<std::string, std::string> values;
    for (const std::string& name : known_placeholders()) values[name] = "VALUE";
    for (const Setting& setting : m_recipe.settings) {
      const auto chosen = m_situation.conditions.settings.find(setting.name);
      values["set." + setting.name] = chosen->second;
    }
    values["variant"] = to_string(m_situation.variant);
    values["target"] = m_situation.target;
    if (const auto& rocm = m_situation.conditions.rocm) {
      values["rocm.version"] = *rocm;
      const auto parts = split(*rocm, '.');
      values["rocm.minor"] = fmt::format("{}.{}", parts[0], parts[1]);
    }
    for (const Fetch& fetch : m_rules.fetches) values["fetch." + fetch.name] = "FOLDER";
    for (const Dependency& need : m_rules.needs) values["need." + need.recipe + ".version"] = "1.0";
    for (const RequiredLibrary& library : m_rules.requires_versions.libraries) {
      for (const char* field : {"root", "include", "lib", "file"})
        values[fmt::format("library.{}.{}", library.name, field)] = fmt::format("LIBRARIES/{}/{}", library.name, field);
    }
    return expand(text, values);
  }

  [[nodiscard]] std::map<std::string, std::string> environment() const {
    std::map<std::string, std::string> variables;
    for (const auto& [name, value] : m_rules.environment) {
      const std::string expanded = expanded_text(value);
      if (!expanded.empty()) variables[name] = expanded;
    }
    for (const auto& [name, value] : m_rules.append) variables[name] += " " + expanded_text(value);
    if (!m_rules.archs.variable.empty()) variables[m_rules.archs.variable] = "ARCHS";
    for (const Fetch& fetch : m_rules.fetches) {
      if (!fetch.variable.empty()) variables[fetch.variable] = "FOLDER";
    }
    return variables;
  }

  void compare_variables() {
    const std::map<std::string, std::string> variables = environment();
    static const Names of_tools = variables_of_tools();
    Names read = of_tools;
    bool known = false;
    each("variables", [&](const Value& value, const Fact&) {
      known = true;
      for (const std::string& name : value.texts()) read.push_back(name);
    });
    for (const auto& [name, value] : variables) {
      if (known && !fits_any(read, name)) complain(name + " is set, and nothing reads it");
    }
    each("variables-required", [&](const Value& value, const Fact& fact) {
      for (const std::string& name : value.texts()) {
        if (!variables.contains(name)) complain(name + " is not set", &fact);
      }
    });
    each("no-environment", [&](const Value& value, const Fact& fact) {
      for (const std::string& name : value.texts()) {
        if (variables.contains(name)) complain(name + " is set", &fact);
      }
    });
    const auto compare_values = [&](std::string_view key, auto&& same) {
      each(key, [&](const Value& value, const Fact& fact) {
        for (const auto& [name, wanted] : *value.table()) {
          const auto found = variables.find(name);
          const std::string now = found == variables.end() ? "not set" : found->second;
          if (!same(now, wanted.text_or()))
            complain(fmt::format("{} is {}, not {}", name, now, wanted.text_or()), &fact);
        }
      });
    };
    // CMake's words for no.
    const auto switched = [](const std::string& word) { return word == "0" || word == "off" ? "OFF" : word; };
    compare_values("environment", [&](const std::string& now, const std::string& wanted) {
      return switched(now) == switched(wanted);
    });
    compare_values("variable-values",
                   [](const std::string& now, const std::string& wanted) { return RE2::FullMatch(now, wanted); });
  }

  void compare_options() {
    Names words;
    for (const std::string& option : m_rules.options) words.push_back(expanded_text(option));
    each("options", [&](const Value& value, const Fact& fact) {
      for (const std::string& word : words) {
        if (!word.starts_with("--")) continue;  // CMake's and ninja's
        const std::size_t equals = std::min(word.find('='), word.size());
        const Value& choices = value[word.substr(0, equals)];
        if (choices.is_null()) {
          complain(word + " is not an option of this release", &fact);
        } else if (const Names legal = choices.texts(); !legal.empty() && !has(legal, word.substr(equals + 1))) {
          complain(word + " is not one of its choices", &fact);
        }
      }
    });
    each("option-texts", [&](const Value& value, const Fact& fact) {
      for (const std::string& text : value.texts()) {
        const auto holds = [&](const std::string& word) { return word.find(text) != std::string::npos; };
        if (std::none_of(words.begin(), words.end(), holds)) complain("no option has " + text, &fact);
      }
    });
    each("project", [&](const Value& value, const Fact& fact) {
      const std::string& own = m_rules.project.empty() ? m_recipe.project : m_rules.project;
      if (!pep::same_name(own, value.text_or())) complain("it is called " + value.text_or() + ", not " + own, &fact);
    });
  }

  void compare_requirements() {
    each("requirements", [&](const Value& value, const Fact& fact) {
      for (const std::string& text : value.texts()) {
        const pep::Requirement wanted = pep::Requirement::parse(text);
        for (const std::string& line : m_rules.requires_) {
          const pep::Requirement own = pep::Requirement::parse(line);
          if (pep::same_name(own.name, wanted.name) &&
              !pep::contains(own.specifiers, pep::Version::parse(wanted.specifiers.at(0).version)))
            complain(line + " does not admit " + text, &fact);
        }
      }
    });
    each("requirements-named", [&](const Value& value, const Fact& fact) {
      for (const std::string& name : value.texts()) {
        const auto same = [&](const std::string& line) {
          return pep::same_name(pep::Requirement::parse(line).name, name);
        };
        if (std::none_of(m_rules.requires_.begin(), m_rules.requires_.end(), same))
          complain(name + " is not among the build requirements", &fact);
      }
    });
  }

  // What the package's own list names with one version, and the build needs in that version.
  void compare_declared(const std::string& text, const Fact& fact) {
    const pep::Requirement wanted = pep::Requirement::parse(text);
    for (const std::string& name : m_rules.drop_requires) {
      if (pep::same_name(name, wanted.name)) complain(text + " is dropped", &fact);
    }
    for (const std::string& line : m_rules.requires_) {
      if (pep::same_name(pep::Requirement::parse(line).name, wanted.name)) complain(line + " replaces " + text, &fact);
    }
  }

  // Sentences that users read, in the whole recipe.
  void compare_texts() {
    each("declared", [&](const Value& value, const Fact& fact) {
      for (const std::string& text : value.texts()) compare_declared(text, fact);
    });
    const auto says = [&](const std::string& pattern) { return RE2::PartialMatch(m_recipe.to_toml(), pattern); };
    each("told", [&](const Value& value, const Fact& fact) {
      for (const std::string& pattern : value.texts()) {
        if (!says(pattern)) complain("nothing in the recipe says " + pattern, &fact);
      }
    });
    each("not-told", [&](const Value& value, const Fact& fact) {
      for (const std::string& pattern : value.texts()) {
        if (says(pattern)) complain("the recipe says " + pattern, &fact);
      }
    });
  }

  void compare_wheel() {
    Names members, optional;
    each("members", [&](const Value& value, const Fact&) {
      for (const std::string& name : value.texts()) members.push_back(name);
    });
    each("optional-members", [&](const Value& value, const Fact&) {
      for (const std::string& name : value.texts()) optional.push_back(name);
    });
    const auto is_there = [](const std::string& pattern, const Names& names) {
      return std::any_of(names.begin(), names.end(), [&](const auto& name) { return glob_match(pattern, name); });
    };
    for (const std::string& pattern : m_rules.checks.members) {
      if (!members.empty() && !is_there(pattern, members)) complain("no file of the wheel is " + pattern);
    }
    for (const OptionalPart& part : m_rules.optional) {
      if (!optional.empty() && !is_there(part.member, optional))
        complain("no optional file of the wheel is " + part.member);
    }
  }

  [[nodiscard]] std::function<std::optional<std::string>(const std::string&)> text_of() const {
    std::map<std::string, std::string> texts;
    for (const Fact* fact : m_holding) {
      const Value& some = fact->values["texts"];
      if (some.table() == nullptr) continue;
      for (const auto& [path, text] : *some.table()) texts[path] += text.text_or() + "\n";
    }
    return [texts](const std::string& path) {
      const auto found = texts.find(path);
      return found == texts.end() ? std::nullopt : std::optional(found->second);
    };
  }

  void compare_files() {
    Names there;
    each("files", [&](const Value& value, const Fact&) {
      for (const std::string& path : value.texts()) there.push_back(path);
    });
    const auto text = text_of();
    each("folder", [&](const Value& value, const Fact& fact) {
      const std::string folder = package_folder(m_recipe.source, [&](const std::string& path) {
        return has(there, path) ? std::optional<std::string>("") : std::nullopt;
      });
      if (folder != value.text_or()) complain(fmt::format("the package is in '{}'", folder), &fact);
    });
    for (const Test& test : m_rules.tests) {
      for (const std::string& file : test.files) {
        if (!has(there, file)) complain(file + " of the test " + test.name + " is in no fact");
      }
    }
    for (const Edit& edit : m_rules.edits) {
      // Of files that no fact quotes nothing is known.
      if (!text(edit.file) && !has(there, edit.file) && m_situation.tag.empty()) continue;
      if (const std::string problem = edit_problem(edit, text(edit.file)); !problem.empty() && edit.required)
        complain(problem);
    }
    each("fetches", [&](const Value& value, const Fact& fact) {
      for (const auto& [name, ref] : *value.table()) {
        const auto same = [&name = name](const Fetch& fetch) { return fetch.name == name; };
        const auto found = std::find_if(m_rules.fetches.begin(), m_rules.fetches.end(), same);
        if (found == m_rules.fetches.end()) {
          complain(name + " is not fetched", &fact);
          continue;
        }
        std::string said;
        const auto file = text(found->ref_file);
        if (!file || !RE2::PartialMatch(*file, found->ref_pattern, &said) || said != ref.text_or())
          complain(fmt::format("{} is fetched at {}, not {}", name, said, ref.text_or()), &fact);
      }
    });
  }

  // The libraries of a published wheel, built for the list `asked`, are as the recipe expects them.
  void compare_code() {
    each("code", [&](const Value& value, const Fact& fact) {
      const gpu::ArchList asked = gpu::ArchList::parse(fact.values["asked"].text_or());
      if (m_rules.checks.code.empty()) complain("nothing is expected of the device code", &fact);
      for (const auto& [path, held] : *value.table()) {
        std::set<gpu::Arch> code;
        const gpu::ArchList list = held.text_or().empty() ? gpu::ArchList{} : gpu::ArchList::parse(held.text_or());
        for (const gpu::ArchRequest& request : list.requests) code.insert(request.arch);
        const auto expected = std::find_if(m_rules.checks.code.begin(), m_rules.checks.code.end(),
                                           [&path = path](const auto& one) { return glob_match(one.library, path); });
        if (expected == m_rules.checks.code.end()) {
          complain("nothing is expected of " + path, &fact);
          continue;
        }
        const gpu::CodeJudgement judgement = gpu::judge_code(code, asked, *expected);
        for (const std::string& what : judgement.missing) complain(path + " has no code for " + what, &fact);
        for (const gpu::Arch& arch : judgement.unasked) complain(path + " has code for " + gpu::list_name(arch), &fact);
        for (const gpu::Arch& arch : judgement.unexpected)
          complain(path + " must not have " + gpu::list_name(arch), &fact);
      }
    });
  }

  void compare_preload() {
    each("preload-known", [&](const Value& value, const Fact& fact) {
      for (const std::string& name : m_rules.preload.libraries) {
        if (!has(value.texts(), name)) complain("the SDK does not know " + name, &fact);
      }
    });
    each("preload-needed", [&](const Value& value, const Fact& fact) {
      for (const std::string& name : value.texts()) {
        if (!has(m_rules.preload.libraries, name)) complain(name + " is not preloaded", &fact);
      }
    });
  }

  const PackageFacts& m_facts;
  const Recipe& m_recipe;
  const Situation& m_situation;
  Names& m_problems;
  std::vector<const Fact*> m_holding;
  Recipe m_resolved;
  Rules m_rules;
  Names m_reasons;
  std::string m_refusal;
};

Names torch_of(const PackageFacts& facts, const std::string& tag, Variant variant) {
  Conditions conditions;
  conditions.ref = tag;
  conditions.version = facts.version(tag);
  for (const Fact& fact : facts.facts) {
    if (!fact.values["torch"].is_null() && fact.holds(variant, "", conditions))
      return one_or_more(fact.values["torch"]);
  }
  return {};
}

// Whether any fact about the variant asks for this condition; what none asks for need not be tried.
bool is_asked(const PackageFacts& facts, Variant variant, std::string_view key) {
  return std::any_of(facts.facts.begin(), facts.facts.end(), [&](const Fact& fact) {
    return !fact.values["if"][key].is_null() && (fact.variants.empty() || has(fact.variants, to_string(variant)));
  });
}

// All that is tried for one tag, variant and target.
std::vector<Situation> situations(const PackageFacts& facts, const Recipe& recipe, const std::string& tag,
                                  Variant variant, const std::string& target) {
  Situation usual{tag, target, variant, {}, "", true};
  Conditions& now = usual.conditions;
  now.ref = tag;
  now.version = facts.version(tag);
  now.python = "3.12.2";
  now.machine = "x86_64";
  now.platform = "linux_x86_64";
  now.build_type = "release";
  now.compiler_family = "gcc";
  now.compiler_version = "13.3";
  now.needs = facts.needs;
  for (const Setting& setting : recipe.settings) now.settings[setting.name] = setting.fallback;
  if (const Names torch = torch_of(facts, tag, variant); !torch.empty()) now.torch = torch.front() + ".0";
  if (variant == Variant::cuda && !facts.cuda.empty()) now.cuda = facts.cuda.back();
  if (variant == Variant::rocm && !facts.rocm.empty()) now.rocm = facts.rocm.back();
  try {
    Names ignored;
    const std::string list = recipe.resolved_for(variant, target, now, ignored).rules(variant, target).archs.fallback;
    for (const auto& request : gpu::ArchList::parse(list).requests) now.archs.push_back(gpu::to_string(request));
  } catch (const Error&) {
    // Refused; the comparison will see why.
  }
  std::vector<Situation> all = {usual};
  const auto vary = [&](const std::string& what, auto&& change) {
    Situation other = usual;
    other.what = what;
    other.all = what.starts_with("CUDA");
    change(other.conditions);
    all.push_back(std::move(other));
  };
  for (const std::string& one : variant == Variant::cuda ? facts.cuda : Names())
    vary("CUDA " + one, [&](Conditions& c) { c.cuda = one; });
  for (const std::string& one : variant == Variant::rocm ? facts.rocm : Names())
    vary("ROCm " + one, [&](Conditions& c) { c.rocm = one; });
  const auto asked = [&](std::string_view key, const Names& values) {
    return is_asked(facts, variant, key) ? values : Names();
  };
  for (const std::string& one : asked("compiler", facts.compilers)) {
    vary(one, [&](Conditions& c) {
      c.compiler_family = one.substr(0, one.find(' '));
      c.compiler_version = one.substr(one.find(' ') + 1);
    });
  }
  for (const std::string& one : asked("machine", facts.machines)) vary(one, [&](Conditions& c) { c.machine = one; });
  for (const std::string& one : asked("torch", facts.torch))
    vary("torch " + one, [&](Conditions& c) { c.torch = one; });
  for (const std::string& one : asked("build-type", facts.build_types))
    vary(one, [&](Conditions& c) { c.build_type = one; });
  for (const auto& settings : facts.settings) {
    if (!is_asked(facts, variant, "set")) continue;
    vary("set " + settings.begin()->first, [&](Conditions& c) {
      for (const auto& [name, value] : settings) c.settings[name] = value;
    });
  }
  const auto lists = facts.archs.find(std::string(to_string(variant)));
  for (const std::string& one : lists == facts.archs.end() ? Names() : lists->second) {
    vary(one, [&](Conditions& c) {
      c.archs.clear();
      for (const auto& request : gpu::ArchList::parse(one).requests) c.archs.push_back(gpu::to_string(request));
    });
  }
  return all;
}

// Each disagreement once, where it was seen first, and how often.
void show(const Names& problems) {
  std::map<std::string, std::pair<std::string, int>> once;
  for (const std::string& problem : problems) {
    auto& [first, count] = once[problem.substr(problem.find(": "))];
    if (count++ == 0) first = problem;
  }
  for (const auto& [what, seen] : once) ADD_FAILURE() << seen.first << " (" << seen.second << " times)";
}

const Recipe& recipe_of(const Library& library, const PackageFacts& facts) {
  const Recipe* recipe = library.find(facts.recipe);
  if (recipe == nullptr) throw Error("no recipe " + facts.recipe);
  return *recipe;
}

// Those that can be asked for, also where the recipe refuses them.
std::set<std::string> targets_of(const Recipe& recipe, Variant variant) {
  std::set<std::string> targets;
  const Value table = Value(recipe.document)["variant"][to_string(variant)]["target"];
  if (table.table() != nullptr) {
    for (const auto& [name, rules] : *table.table()) targets.insert(name);
  }
  return targets.empty() ? std::set<std::string>{""} : targets;
}

TEST(Facts, EveryRecipeAgreesWithThePackage) {
  const Library library;
  std::size_t compared = 0;
  for (const PackageFacts& facts : all_facts()) {
    const Recipe& recipe = recipe_of(library, facts);
    Names problems;
    Names tags = facts.tags;
    tags.insert(tags.end(), facts.ahead.begin(), facts.ahead.end());
    for (const std::string& tag : tags) {
      for (const Variant variant : {Variant::cpu, Variant::cuda, Variant::rocm}) {
        for (const std::string& target : targets_of(recipe, variant)) {
          for (const Situation& situation : situations(facts, recipe, tag, variant, target)) {
            Comparison(facts, recipe, situation, problems).compare();
            ++compared;
          }
        }
      }
    }
    show(problems);
  }
  EXPECT_GT(compared, 2000U);
}

// A pair is the newest version that belongs to that torch; every torch that a version belongs to has one.
TEST(Facts, PairsWithTorch) {
  const Library library;
  Names problems;
  for (const PackageFacts& facts : all_facts()) {
    const Recipe& recipe = recipe_of(library, facts);
    if (recipe.source.refs.empty()) continue;
    for (const Variant variant : recipe.variants()) {
      std::map<std::string, std::string> newest;  // series -> tag; the tags are in order
      for (const std::string& tag : facts.tags) {
        for (const std::string& series : torch_of(facts, tag, variant)) newest[series] = tag;
      }
      for (const auto& [tag, all] : facts.published) {
        for (const std::string& series : all) newest[series] = tag;
      }
      for (const auto& [series, tag] : newest) {
        std::string ref;
        try {
          ref = ref_for_torch(recipe, variant, series);
        } catch (const Error& error) {
          ref = error.what();
        }
        if (ref != tag && pep::Version::parse(series) >= pep::Version::parse("2.6"))
          problems.push_back(
              fmt::format("{} {} for torch {}: {}, not {}", facts.recipe, to_string(variant), series, tag, ref));
      }
      for (const auto& [series, ref] : recipe.source.refs) {
        if (!newest.contains(series)) problems.push_back(fmt::format("{}: torch {} has no fact", facts.recipe, series));
      }
    }
  }
  show(problems);
}

TEST(Facts, ACheckedVersionIsOneWithFacts) {
  const Library library;
  for (const PackageFacts& facts : all_facts()) {
    const Recipe& recipe = recipe_of(library, facts);
    ASSERT_FALSE(recipe.source.checked.empty()) << facts.recipe;
    for (const std::string& tag : facts.tags) EXPECT_EQ(unchecked_reason(recipe, facts.version(tag)), "") << tag;
    EXPECT_NE(unchecked_reason(recipe, facts.version(facts.tags.back()) + "9"), "") << facts.recipe;
    EXPECT_NE(unchecked_reason(recipe, "0.0.1"), "") << facts.recipe;
  }
}

TEST(Facts, EveryRecipeOfAForeignPackageHasSome) {
  std::set<std::string> with_facts;
  for (const PackageFacts& facts : all_facts()) with_facts.insert(facts.recipe);
  const Library library;
  for (const std::string& name : library.names()) {
    const Source::Kind kind = library.find(name)->source.kind;
    if (kind != Source::Kind::git && kind != Source::Kind::sdist) continue;
    EXPECT_TRUE(with_facts.contains(name)) << name;
  }
}

}  // namespace
}  // namespace wheelsmith::recipe
