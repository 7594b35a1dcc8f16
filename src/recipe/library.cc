#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "recipe/builtin.h"
#include "recipe/layers.h"
#include "recipe/recipe.h"
#include "recipe/recipe_reader.h"
#include "recipe/table_reader.h"
#include "recipe/text_checks.h"

namespace wheelsmith::recipe {
namespace {

constexpr std::size_t k_longest_chain = 16;

struct Entry {
  std::string path;
  document::Table document;
  std::string name;  // normalized
};

// A recipe that names a source of its own means that one, not both.
void drop_other_sources(document::Table& below, const document::Table& above) {
  const std::vector<std::string_view> kinds = {"sdist", "folder", "git", "program"};
  const document::Value* wanted = above.find("source");
  const document::Value* there = below.find("source");
  if (wanted == nullptr || there == nullptr || there->table() == nullptr) return;
  if (std::all_of(kinds.begin(), kinds.end(), [&](auto kind) { return (*wanted)[kind].is_null(); })) return;
  for (const std::string_view kind : kinds) below["source"].table()->erase(kind);
}

class Resolver {
 public:
  void add(const std::string& path, std::string_view text) {
    document::Table document = document::parse_toml(text, path);
    check_document(document, path);
    const document::Value* name = document.find("name");
    if (name == nullptr) throw Error(path + ": a recipe needs a name");
    m_entries.push_back({path, std::move(document), pep::normalized_name(name->text_or())});
    m_by_name[m_entries.back().name].push_back(m_entries.size() - 1);
  }

  [[nodiscard]] const std::map<std::string, std::vector<std::size_t>>& by_name() const { return m_by_name; }
  [[nodiscard]] const Entry& entry(std::size_t index) const { return m_entries[index]; }

  // The entry with those it extends below it.
  [[nodiscard]] Recipe resolve(std::size_t index) const {
    std::vector<std::size_t> chain = {index};
    while (const document::Value* extends = m_entries[chain.back()].document.find("extends")) {
      const std::size_t next = extended(chain.back(), *extends);
      if (std::find(chain.begin(), chain.end(), next) != chain.end()) {
        throw Error(
            fmt::format("{}:{}: recipes extend each other in a cycle", m_entries[chain.back()].path, extends->line));
      }
      if (chain.size() == k_longest_chain) {
        throw Error(fmt::format("{}: more than {} recipes extend each other", m_entries[index].path, k_longest_chain));
      }
      chain.push_back(next);
    }
    document::Table merged;
    for (auto one = chain.rbegin(); one != chain.rend(); ++one) {
      // A name is a recipe's own; what is built is what it builds, unless it says otherwise.
      if (const document::Value* name = merged.find("name"); name != nullptr && merged.find("project") == nullptr) {
        const document::Value project = *name;  // a copy: a new member may move the others
        merged["project"] = project;
      }
      drop_other_sources(merged, m_entries[*one].document);
      merged = overlay(merged, m_entries[*one].document);
    }
    return recipe_from(std::move(merged), m_entries[index].path, chain.size() == 1);
  }

 private:
  // Of its own name: the one that it replaces.
  [[nodiscard]] std::size_t extended(std::size_t index, const document::Value& extends) const {
    const Entry& entry = m_entries[index];
    const std::string wanted = pep::normalized_name(extends.text_or());
    const auto found = m_by_name.find(wanted);
    if (found != m_by_name.end() && wanted != entry.name) return found->second.back();
    if (found != m_by_name.end() && found->second.front() < index) {
      return *std::prev(std::lower_bound(found->second.begin(), found->second.end(), index));
    }
    std::vector<std::string> names;
    for (const auto& [name, entries] : m_by_name) {
      if (name != entry.name) names.push_back(name);
    }
    throw Error(fmt::format("{}:{}: extends {}, but there is no such recipe{}", entry.path, extends.line,
                            in_quotes(extends.text_or()), suggestion(wanted, names)));
  }

  std::vector<Entry> m_entries;
  std::map<std::string, std::vector<std::size_t>> m_by_name;
};

}  // namespace

Library::Library(const std::vector<File>& users) {
  Resolver resolver;
  const std::string built_in = "built in";
  for (const auto& [file, text] : builtin_recipes()) resolver.add(fmt::format("{}: {}", built_in, file), text);
  for (const File& file : users) {
    try {
      resolver.add(file.path, file.text);
    } catch (const Error& e) {
      m_broken[file.path] = e.what();
    }
  }
  for (const auto& [name, entries] : resolver.by_name()) {
    try {
      Recipe recipe = resolver.resolve(entries.back());
      if (recipe.origin.starts_with(built_in)) recipe.origin = built_in;
      m_recipes.emplace(name, std::move(recipe));
    } catch (const Error& e) {
      m_broken[name] = e.what();
    }
  }
}

std::vector<std::string> Library::names() const {
  std::vector<std::string> result;
  for (const auto& [name, recipe] : m_recipes) result.push_back(recipe.name);
  return result;
}

const Recipe* Library::find(std::string_view name) const {
  const auto found = m_recipes.find(pep::normalized_name(name));
  return found == m_recipes.end() ? nullptr : &found->second;
}

}  // namespace wheelsmith::recipe
