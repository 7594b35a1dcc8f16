#include "recipe/when.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "recipe/layers.h"
#include "recipe/recipe_reader.h"
#include "recipe/rules_reader.h"
#include "recipe/text_checks.h"

namespace wheelsmith::recipe {
namespace {

using document::Table;
using document::Value;
using Patterns = std::vector<std::string>;

bool any_matches(const Patterns& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, text); });
}

bool any_matches(const Patterns& patterns, const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) { return any_matches(patterns, text); });
}

bool fits(const std::string& specifiers, const std::optional<std::string>& version) {
  if (!version) return false;
  const auto parsed = pep::Version::try_parse(*version);
  return parsed && pep::contains(pep::parse_specifiers(specifiers), *parsed);
}

// A text, or several of which one must fit.
bool patterns(TableReader& in, std::string_view key, Patterns& result, const TextCheck& check = check_glob) {
  const Value* value = in.table().find(key);
  if (value != nullptr && value->array() != nullptr) return in.texts(key, result, check);
  std::string one;
  if (!in.text(key, one, check)) return false;
  result = {one};
  return true;
}

using Part = std::function<bool(const Conditions&)>;

void read_if(TableReader& in, Condition& condition) {
  const auto version = [&](const char* key, std::function<std::optional<std::string>(const Conditions&)> of) {
    std::string specifiers;
    if (in.text(key, specifiers, check_specifiers))
      condition.add([specifiers, of = std::move(of)](const Conditions& c) { return fits(specifiers, of(c)); });
  };
  const auto text = [&](const char* key, std::function<std::vector<std::string>(const Conditions&)> of, bool wanted) {
    Patterns words;
    if (patterns(in, key, words)) {
      condition.add(
          [words, wanted, of = std::move(of)](const Conditions& c) { return any_matches(words, of(c)) == wanted; });
    }
  };
  const auto known = [](const std::string& value) {
    return value.empty() ? std::optional<std::string>() : std::optional(value);
  };
  // A branch or commit that is not a release counts as newer than all releases; a pre-release has the rules of its
  // release.
  version("version", [known](const Conditions& c) {
    if (c.version.empty() && !c.ref.empty()) return std::optional<std::string>("9999");
    const auto parsed = pep::Version::try_parse(c.version);
    return parsed && parsed->is_prerelease() ? std::optional(parsed->base_version().to_string()) : known(c.version);
  });
  version("python", [known](const Conditions& c) { return known(c.python); });
  version("torch", [](const Conditions& c) { return c.torch; });
  version("cuda", [](const Conditions& c) { return c.cuda; });
  version("rocm", [](const Conditions& c) { return c.rocm; });
  text("ref", [](const Conditions& c) { return Patterns{c.ref}; }, true);
  text("platform", [](const Conditions& c) { return Patterns{c.platform}; }, true);
  text("machine", [](const Conditions& c) { return Patterns{c.machine}; }, true);
  text("build-type", [](const Conditions& c) { return Patterns{c.build_type}; }, true);
  text("archs", [](const Conditions& c) { return c.archs; }, true);
  text("no-archs", [](const Conditions& c) { return c.archs; }, false);
  text("need", [](const Conditions& c) { return c.needs; }, true);
  text("no-need", [](const Conditions& c) { return c.needs; }, false);
  Patterns all;
  if (patterns(in, "all-archs", all)) {
    condition.add([all](const Conditions& c) {
      return std::all_of(all.begin(), all.end(),
                         [&](const std::string& one) { return any_matches(Patterns{one}, c.archs); });
    });
  }
  std::string compiler;
  if (in.text("compiler", compiler, [](const std::string& words) {
        const std::size_t end = std::min(words.find_first_of("<>=!~"), words.size());
        const std::string family = words.substr(0, end);
        return family == "gcc" || family == "clang" ? check_specifiers(words.substr(end))
                                                    : fmt::format("{} is neither gcc nor clang", in_quotes(family));
      })) {
    const std::size_t end = std::min(compiler.find_first_of("<>=!~"), compiler.size());
    condition.add([family = compiler.substr(0, end), limits = compiler.substr(end)](const Conditions& c) {
      return c.compiler_family == family && (limits.empty() || fits(limits, c.compiler_version));
    });
  }
  in.within("set", [&](TableReader& settings) {
    for (const auto& [name, value] : settings.table()) {
      Patterns words;
      // "" asks for a setting that is left empty.
      const auto check = [](const std::string& pattern) { return pattern.empty() ? "" : check_glob(pattern); };
      if (!patterns(settings, name, words, check)) continue;
      condition.add([name = name, words](const Conditions& c) {
        const auto chosen = c.settings.find(name);
        return chosen != c.settings.end() && any_matches(words, chosen->second);
      });
    }
  });
}

bool has_when(const Value& table) { return !table["when"].is_null() || !table["more-when"].is_null(); }

// Overlays the tables whose conditions are true, in order.
void lay_when(Table& layers, const Value& layer, const Conditions& conditions, std::vector<std::string>& reasons) {
  for (const char* key : {"when", "more-when"}) {
    const Value& list = layer[key];
    if (list.array() == nullptr) continue;
    for (const Value& one : *list.array()) {
      Problems ignored("");
      TableReader in(*one.table(), "[[when]]", one.line, ignored);
      if (!read_condition(in).holds(conditions)) continue;
      layers = overlay(layers, only_rules(*one.table()));
      if (const std::string why = one["why"].text_or(); !why.empty()) reasons.push_back(why);
    }
  }
}

}  // namespace

bool Condition::holds(const Conditions& conditions) const {
  return std::all_of(m_parts.begin(), m_parts.end(), [&](const Part& part) { return part(conditions); });
}

Condition read_condition(TableReader& when) {
  Condition condition;
  std::string why;
  when.text("why", why);
  if (!when.within("if", [&](TableReader& in) { read_if(in, condition); }))
    when.problems().add(when.line(), when.name() + " needs an if");
  return condition;
}

namespace {

struct Layers {
  const Value* variant;
  const Value* target;  // null for recipes without targets
  std::string target_name;
};

Layers layers_of(const Recipe& recipe, Variant variant, const std::string& target) {
  static const Value k_none;
  const Value* variants = recipe.document.find("variant");
  const Value* of_variant = variants == nullptr ? &k_none : &(*variants)[to_string(variant)];
  const Value& targets = (*of_variant)["target"];
  if (targets.table() == nullptr || targets.table()->empty()) return {of_variant, nullptr, ""};
  const std::string name = target.empty() ? "default" : target;
  return {of_variant, &targets[name], name};
}

// Of the recipe's own list what the source's admits.
std::string legal_part(const std::string& list, const ArchRules& rules) {
  gpu::ArchList kept;
  for (const gpu::ArchRequest& request : gpu::ArchList::parse(list).requests) {
    try {
      check_legal({{request}}, rules, "");
      kept.requests.push_back(request);
    } catch (const Error&) {  // the source does not take it: it is no default then
    }
  }
  return kept.requests.empty() ? "" : kept.to_string();
}

// The recipe with these rules and no others.
Recipe with_only(const Recipe& recipe, Variant variant, const Layers& layers, Table rules) {
  Table whole;
  for (const char* key : {"name", "project", "summary", "assumptions", "source", "settings"}) {
    if (const Value* value = recipe.document.find(key)) whole[key] = *value;
  }
  Table of_variant;
  if (layers.target != nullptr) {
    Table targets;
    targets[layers.target_name] = std::move(rules);
    of_variant["target"] = std::move(targets);
  } else {
    of_variant = std::move(rules);
  }
  Table variants;
  variants[to_string(variant)] = std::move(of_variant);
  whole["variant"] = std::move(variants);
  return recipe_from(std::move(whole), recipe.origin, false);
}

}  // namespace

bool Recipe::depends_on_conditions(Variant variant, const std::string& target) const {
  const Layers layers = layers_of(*this, variant, target);
  return document.find("when") != nullptr || document.find("more-when") != nullptr || has_when(*layers.variant) ||
         (layers.target != nullptr && has_when(*layers.target));
}

Recipe Recipe::resolved_for(Variant variant, const std::string& target, const Conditions& conditions,
                            std::vector<std::string>& reasons) const {
  (void)rules(variant, target);  // says what is legal
  const Layers layers = layers_of(*this, variant, target);
  // First all layers as they stand, then the conditions: what holds only now is more exact than what holds always.
  Table merged = only_rules(document);
  if (layers.variant->table() != nullptr) merged = overlay(merged, only_rules(*layers.variant->table()));
  if (layers.target != nullptr && layers.target->table() != nullptr)
    merged = overlay(merged, only_rules(*layers.target->table()));
  lay_when(merged, Value(document), conditions, reasons);
  lay_when(merged, *layers.variant, conditions, reasons);
  if (layers.target != nullptr) lay_when(merged, *layers.target, conditions, reasons);

  return with_only(*this, variant, layers, settled(merged));
}

Recipe Recipe::with_reads(Variant variant, const std::string& target,
                          const std::function<std::optional<std::string>(const std::string&)>& text_of,
                          std::vector<std::string>& notes) const {
  const Rules& before = rules(variant, target);
  Rules now = before;
  apply_reads(now, text_of, notes);
  const Requires &limits = now.requires_versions, &old = before.requires_versions;
  Table archs, versions, changes;
  if (now.archs.legal != before.archs.legal) {
    archs["legal"] = document::Array(now.archs.legal.begin(), now.archs.legal.end());
    if (!before.archs.fallback.empty()) archs["default"] = legal_part(before.archs.fallback, now.archs);
  }
  if (limits.gcc != old.gcc) versions["gcc"] = limits.gcc;
  if (limits.cmake != old.cmake) versions["cmake"] = limits.cmake;
  if (limits.cxx_standard != old.cxx_standard) versions["cxx-standard"] = std::int64_t{limits.cxx_standard};
  if (!archs.empty()) changes["archs"] = std::move(archs);
  if (!versions.empty()) changes["requires"] = std::move(versions);
  const Layers layers = layers_of(*this, variant, target);
  const Value& own = layers.target != nullptr ? *layers.target : *layers.variant;
  Recipe result = *this;
  if (!changes.empty())
    result = with_only(*this, variant, layers,
                       overlay(own.table() == nullptr ? Table{} : only_rules(*own.table()), changes));
  for (auto& [place, one] : result.all_rules) one.requires_versions.torch_series = limits.torch_series;
  return result;
}

std::vector<std::string> Refusal::hits(const gpu::ArchList& list) const {
  std::vector<std::string> names;
  for (const gpu::ArchRequest& request : list.requests) {
    const std::string name = gpu::to_string(request);
    if (any_matches(archs, name)) names.push_back(name);
  }
  return names;
}

bool Refusal::is_overridden(const std::map<std::string, std::string>& settings) const {
  const auto found = settings.find(override_by);
  const std::string word = found == settings.end() ? "" : to_lower(found->second);
  return !word.empty() && word != "off" && word != "no" && word != "false" && word != "0";
}

std::string Recipe::override_words(const Refusal& refusal) const {
  if (refusal.override_by.empty()) return "";
  for (const Setting& setting : settings) {
    if (setting.name == refusal.override_by && setting.choices.empty())
      return fmt::format("--set {}=… ({})", setting.name, setting.help);
  }
  return fmt::format("--set {}=on", refusal.override_by);
}

const Source::Family* Source::family(std::string_view wanted_ref, std::string_view variant) const {
  for (const Family& one : families) {
    const bool meant =
        one.variants.empty() || std::find(one.variants.begin(), one.variants.end(), variant) != one.variants.end();
    if (meant && any_matches(one.refs, std::string(wanted_ref))) return &one;
  }
  return nullptr;
}

}  // namespace wheelsmith::recipe
