// A recipe is read twice. First each file by itself, so that every error is reported with its line, also in tables that
// no variant uses; then the merged recipe, to find missing keys and the rules of each variant and target.

#include "recipe/recipe_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "recipe/layers.h"
#include "recipe/rules_reader.h"
#include "recipe/table_reader.h"
#include "recipe/text_checks.h"

namespace wheelsmith::recipe {
namespace {

using document::Table;
using document::Value;

void read_source(TableReader& in, const PlaceholderScope& scope, Source& source) {
  std::vector<std::string> kinds;
  const auto is = [&](std::string_view word, Source::Kind kind, bool there) {
    if (!there) return;
    kinds.emplace_back(word);
    source.kind = kind;
  };
  bool program = false;
  is("sdist", Source::Kind::sdist, in.text("sdist", source.project, check_project_name));
  is("folder", Source::Kind::folder, in.text("folder", source.folder, check_relative_path));
  is("git", Source::Kind::git, in.text("git", source.url, check_git));
  is("program", Source::Kind::program, in.flag("program", program) && program);
  if (kinds.size() > 1)
    in.problems().add(in.line(), fmt::format("[source] has both {}; choose one", join(kinds, " and ")));
  in.text("version", source.version, check_version_or_specifiers);
  in.text("ref", source.ref, [&](const std::string& text) {
    const std::string complaint = check_git(text);
    return complaint.empty() ? check_placeholders(text, scope) : complaint;
  });
  std::vector<std::string> submodules;
  if (in.texts("submodules", submodules, check_relative_path)) source.submodules = std::move(submodules);
  in.text("subfolder", source.subfolder, check_relative_path);
  in.texts("other-subfolders", source.other_subfolders, check_relative_path);
  in.texts("patches", source.patches, check_relative_path);
  in.text("version-file", source.version_file, check_relative_path);
  in.text("tag-prefix", source.tag_prefix, check_git);
  Pairs refs;
  in.pairs("refs", refs, check_version_or_specifiers, check_git);
  source.refs = {refs.begin(), refs.end()};
  in.within("refs-for", [&](TableReader& variants) {
    for (const auto& [name, value] : variants.table()) {
      if (!variant_named(name)) variants.fail(value, fmt::format("{} is not a variant", in_quotes(name)));
      Pairs pairs;
      variants.pairs(name, pairs, check_version_or_specifiers, check_git);
      source.refs_for[name] = {pairs.begin(), pairs.end()};
    }
  });
  in.text("checked", source.checked, check_specifiers);
  in.within("pinned-by", [&](TableReader& by) {
    by.text("recipe", source.pinned_by.recipe, check_project_name);
    by.text("record", source.pinned_by.record, check_word);
    by.texts("files", source.pinned_by.files, check_relative_path);
    by.flag("unless-release", source.pinned_by.unless_release);
    if (source.pinned_by.recipe.empty()) by.problems().add(by.line(), by.name() + " needs a recipe");
  });
  in.each("family", [&](TableReader& one) {
    Source::Family& family = source.families.emplace_back();
    one.texts("refs", family.refs, check_glob);
    one.text("git", family.git, check_git);
    one.text("patchset", family.patchset, check_word);
    one.text("why", family.why);
    one.texts("variants", family.variants, [](const std::string& name) {
      return variant_named(name) ? std::string() : fmt::format("{} is not a variant", in_quotes(name));
    });
    if (family.refs.empty()) one.problems().add(one.line(), one.name() + " needs refs");
  });
}

void read_setting(TableReader& in, Setting& setting) {
  in.text("help", setting.help);
  in.texts("choices", setting.choices);
  in.text("default", setting.fallback);
  const auto& choices = setting.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), setting.fallback) == choices.end()) {
    in.problems().add(in.line(), fmt::format("{}: the default {} is not one of its choices{}", in.name(),
                                             in_quotes(setting.fallback), suggestion(setting.fallback, choices)));
  }
}

void read_settings(TableReader& in, Recipe& recipe) {
  in.within("settings", [&](TableReader& settings) {
    for (const auto& [name, value] : settings.table()) {
      if (const std::string complaint = check_word(name); !complaint.empty()) settings.fail(value, complaint);
      Setting setting;
      setting.name = name;
      settings.within(name, [&](TableReader& one) { read_setting(one, setting); });
      recipe.settings.push_back(std::move(setting));
    }
  });
}

void read_enabled(TableReader& in) {
  bool enabled = true;
  std::string why;
  in.flag("enabled", enabled);
  if (!in.text("why", why) && !enabled) in.problems().add(in.line(), in.name() + " is not enabled and needs a why");
}

void read_variants(TableReader& in, const PlaceholderScope& scope) {
  in.within("variant", [&](TableReader& variants) {
    for (const std::string name : {"cpu", "cuda", "rocm"}) {
      variants.within(name, [&](TableReader& variant) {
        Rules rules;
        read_enabled(variant);
        read_rules(variant, scope, rules);
        variant.within("target", [&](TableReader& targets) {
          for (const auto& [target, value] : targets.table()) {
            if (const std::string complaint = check_word(target); !complaint.empty()) targets.fail(value, complaint);
            targets.within(target, [&](TableReader& one) {
              Rules of_target;
              read_enabled(one);
              read_rules(one, scope, of_target);
            });
          }
        });
      });
    }
  });
}

// Everything in a document except the layers, which are overlaid later.
void read_document(const Table& document, Problems& problems, Recipe& recipe) {
  TableReader in(document, "the recipe", 1, problems);
  in.text("name", recipe.name, check_project_name);
  recipe.project = recipe.name;
  in.text("project", recipe.project, check_project_name);
  in.text("summary", recipe.summary);
  std::string extends;
  PlaceholderScope scope;
  scope.any_setting = in.text("extends", extends, check_project_name);
  in.texts("assumptions", recipe.assumptions);
  read_settings(in, recipe);
  for (const Setting& setting : recipe.settings) scope.settings.push_back(setting.name);
  in.within("source", [&](TableReader& source) { read_source(source, scope, recipe.source); });
  Rules general;
  read_rules(in, scope, general);
  read_variants(in, scope);
  in.finish();
}

const Table& table_or_empty(const Value& value) {
  static const Table k_empty;
  return value.table() != nullptr ? *value.table() : k_empty;
}

// The problems of a whole: told with lines where the document is one file.
class WholeReader {
 public:
  WholeReader(Recipe& recipe, std::string_view file_name, bool lines) : m_recipe(recipe), m_problems(file_name, lines) {
    for (const Setting& setting : recipe.settings) m_scope.settings.push_back(setting.name);
  }

  void read() {
    if (m_recipe.name.empty()) m_problems.add(0, "a recipe needs a name");
    const Value* source = m_recipe.document.find("source");
    if (source == nullptr || ((*source)["sdist"].is_null() && (*source)["folder"].is_null() &&
                              (*source)["git"].is_null() && !(*source)["program"].boolean_or(false))) {
      m_problems.add(0, "a recipe needs a [source] with sdist, folder, git or program");
    }
    const Value* variants = m_recipe.document.find("variant");
    if (variants == nullptr || table_or_empty(*variants).empty()) {
      m_problems.add(0, "a recipe needs at least one of [variant.cpu], [variant.cuda] and [variant.rocm]");
    } else {
      for (const auto& [name, table] : table_or_empty(*variants)) read_variant(name, table);
    }
    m_problems.throw_if_any();
  }

 private:
  void read_variant(const std::string& name, const Value& table) {
    const auto variant = variant_named(name);
    if (!variant || !table["enabled"].boolean_or(true)) return;
    const Table layers = overlay(only_rules(m_recipe.document), only_rules(table_or_empty(table)));
    const Table& targets = table_or_empty(table["target"]);
    if (targets.empty()) read_one(*variant, "", layers, table);
    for (const auto& [target, over] : targets) {
      if (!over["enabled"].boolean_or(true)) continue;
      read_one(*variant, target, overlay(layers, only_rules(table_or_empty(over))), over);
    }
  }

  void read_one(Variant variant, const std::string& target, const Table& layers, const Value& where) {
    const Table merged = settled(layers);
    Rules rules;
    // Only one notation has names for AMD's.
    if (variant == Variant::rocm) rules.archs.spelling = ArchSpelling::gfx;
    TableReader in(merged, "the recipe", where.line, m_problems);
    read_rules(in, m_scope, rules);
    const std::string name = target.empty() ? fmt::format("[variant.{}]", to_string(variant))
                                            : fmt::format("[variant.{}.target.{}]", to_string(variant), target);
    const auto fail = [&](const Value& value, const std::string& what) {
      m_problems.add(value.is_null() ? where.line : value.line, name + ": " + what);
    };
    const Value merged_value(merged);
    if (rules.network && rules.network_why.empty())
      fail(merged_value["build"]["network"], "network = true needs a network-why");
    if (!rules.cache && rules.cache_why.empty())
      fail(merged_value["build"]["cache"], "cache = false needs a cache-why");
    const bool program = m_recipe.source.kind == Source::Kind::program;
    if (program != (rules.backend == Rules::Backend::program)) {
      fail(merged_value["build"]["backend"], "backend = \"program\" requires [source] program = true and vice versa");
    }
    check_archs(variant, rules, merged_value["archs"], fail);
    m_recipe.all_rules[{variant, target}] = std::move(rules);
  }

  template <class Fail>
  void check_archs(Variant variant, const Rules& rules, const Value& archs, const Fail& fail) {
    if (variant == Variant::cpu || rules.archs.fallback.empty()) return;
    try {
      const auto list = gpu::ArchList::parse(rules.archs.fallback);
      for (const gpu::ArchRequest& request : list.requests) {
        const bool nvidia = request.arch.vendor == gpu::Vendor::nvidia;
        if (nvidia != (variant == Variant::cuda)) {
          fail(archs["default"], gpu::to_string(request) + " is not an architecture of this variant");
          return;
        }
      }
      check_legal(list, rules.archs, m_recipe.name);
      (void)spell(list, rules.archs);
    } catch (const Error& e) {
      fail(archs["default"], e.what());
    }
  }

  Recipe& m_recipe;
  Problems m_problems;
  PlaceholderScope m_scope;
};

}  // namespace

void check_document(const Table& document, std::string_view file_name) {
  Problems problems(file_name);
  Recipe recipe;
  read_document(document, problems, recipe);
  problems.throw_if_any();
}

Recipe recipe_from(Table document, std::string_view file_name, bool lines) {
  Recipe recipe;
  Problems problems(file_name, lines);
  document.erase("extends");
  read_document(document, problems, recipe);
  problems.throw_if_any();
  recipe.origin = file_name;
  recipe.document = std::move(document);
  WholeReader(recipe, file_name, lines).read();
  return recipe;
}

Recipe parse_recipe(std::string_view toml, std::string_view file_name) {
  Table document = document::parse_toml(toml, file_name);
  check_document(document, file_name);
  if (const Value* extends = document.find("extends")) {
    throw Error(fmt::format("{}:{}: this recipe extends {} and must be read together with it", file_name, extends->line,
                            in_quotes(extends->text_or())));
  }
  return recipe_from(std::move(document), file_name, true);
}

}  // namespace wheelsmith::recipe
