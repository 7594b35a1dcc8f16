// The text form of policies (data/manylinux.toml explains it) to values. Users write such files too, so every error
// names its line, and unknown names get a suggestion.

#include "pep/policy_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"

// toml++ 3.3 asserts what a file should be made to prove ("[:key]" is one that fails), and in release it tells the
// compiler that it cannot fail. Here a failed assertion is an error in the file. (fuzz/corpus/policy.hex holds the
// case.)
namespace wheelsmith::pep {
[[noreturn]] static void refuse_toml() { throw Error("a key or value is malformed"); }
}  // namespace wheelsmith::pep
#undef NDEBUG
#define TOML_ASSERT(condition) (static_cast<bool>(condition) ? void() : ::wheelsmith::pep::refuse_toml())
#include <toml++/toml.h>

namespace wheelsmith::pep {
namespace {

const std::vector<std::string>& known_machines() {
  static const std::vector<std::string> machines = {"x86_64",  "i686",  "aarch64", "armv7l",     "ppc64",
                                                    "ppc64le", "s390x", "riscv64", "loongarch64"};
  return machines;
}

class Reader {
 public:
  Reader(std::string_view file_name, const std::vector<const Policy*>& extendable)
      : m_file_name(file_name), m_extendable(extendable) {}

  std::vector<Policy> read(const toml::table& root) {
    static const std::vector<std::string> keys = {"policy"};
    check_keys(root, keys, "a policy file");
    const toml::node* list = root.get("policy");
    if (list == nullptr) {
      fail(root, "there is no [[policy]]");
    }
    for (const toml::table* table : tables(*list, "policy")) {
      m_policies.push_back(policy(*table));
    }
    return std::move(m_policies);
  }

 private:
  [[noreturn]] void fail(const toml::node& where, const std::string& what) const {
    throw Error(fmt::format("{}:{}: {}", m_file_name, where.source().begin.line, what));
  }

  [[noreturn]] void fail_unknown(const toml::node& where, std::string_view kind, std::string_view word,
                                 const std::vector<std::string>& known) const {
    const auto near = nearest(word, known);
    fail(where, fmt::format("unknown {} \"{}\"{}", kind, printable(word),
                            near ? fmt::format(" (did you mean \"{}\"?)", *near) : std::string()));
  }

  void check_keys(const toml::table& table, const std::vector<std::string>& keys, std::string_view of) const {
    for (const auto& [key, value] : table) {
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
        fail_unknown(value, fmt::format("key of {}:", of), key.str(), keys);
      }
    }
  }

  std::vector<const toml::table*> tables(const toml::node& node, std::string_view name) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) {
      fail(node, fmt::format("write [[{}]]: it is a list of tables", name));
    }
    std::vector<const toml::table*> found;
    for (const toml::node& element : *array) {
      if (!element.is_table()) {
        fail(element, fmt::format("write [[{}]]: it is a list of tables", name));
      }
      found.push_back(element.as_table());
    }
    return found;
  }

  std::string string(const toml::node& node, std::string_view name) const {
    const auto* text = node.as_string();
    if (text == nullptr || text->get().empty()) {
      fail(node, fmt::format("{} must be a string", name));
    }
    return text->get();
  }

  std::vector<std::string> strings(const toml::node& node, std::string_view name) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) {
      fail(node, fmt::format("{} must be a list of strings", name));
    }
    std::vector<std::string> result;
    for (const toml::node& element : *array) {
      result.push_back(string(element, fmt::format("each element of {}", name)));
    }
    return result;
  }

  std::vector<std::string> machines(const toml::node& node, std::string_view name) const {
    std::vector<std::string> result = strings(node, name);
    const auto& known = known_machines();
    for (const std::string& machine : result) {
      if (std::find(known.begin(), known.end(), machine) == known.end()) {
        fail_unknown(node, "machine", machine, known);
      }
    }
    return result;
  }

  std::shared_ptr<const Policy> extended(const toml::node& node) const {
    const std::string name = string(node, "extends");
    std::vector<std::string> names;
    const auto candidates = [&](auto&& visit) {
      for (auto policy = m_policies.rbegin(); policy != m_policies.rend(); ++policy) {
        visit(*policy);
      }
      for (const Policy* policy : m_extendable) {
        visit(*policy);
      }
    };
    const Policy* found = nullptr;
    candidates([&](const Policy& policy) {
      names.push_back(policy.name);
      const auto& also = policy.aliases;
      if (found == nullptr && (policy.name == name || std::find(also.begin(), also.end(), name) != also.end())) {
        found = &policy;
      }
    });
    if (found == nullptr) {
      fail_unknown(node, "policy to extend (it must be defined above):", name, names);
    }
    return std::make_shared<const Policy>(*found);
  }

  VersionRange range(const toml::node& where, const std::string& text) const {
    const std::size_t dots = text.find("..");
    if (dots == std::string::npos) {
      return {text, text};
    }
    VersionRange result{text.substr(0, dots), text.substr(dots + 2)};
    const auto stem = [](std::string_view version) { return version.substr(0, version.rfind('.') + 1); };
    const auto count = [](std::string_view version) { return to_number(version.substr(version.rfind('.') + 1)); };
    const auto from = count(result.first);
    const auto to = count(result.last);
    if (stem(result.first) != stem(result.last) || !from || !to || *from > *to) {
      fail(where, fmt::format("\"{}\" is not a valid range: write \"3.4.1..3.4.8\", where only the last number differs",
                              printable(text)));
    }
    return result;
  }

  void add(const toml::table& table, Policy& policy) const {
    std::vector<std::string> to;
    if (const toml::node* node = table.get("to")) {
      to = machines(*node, "to");
      for (const std::string& machine : to) {
        if (!policy.exists_for(machine)) {
          fail(*node, fmt::format("{} is not in the machines of {}", machine, policy.name));
        }
      }
    }
    for (const auto& [key, node] : table) {
      const std::string_view family = key.str();
      if (family == "to") {
        continue;
      }
      // Families are upper case (GLIBC, GLIBCXX); anything else is a typo.
      if (to_lower(family) == family || family.find('_') != std::string_view::npos) {
        static const std::vector<std::string> known = {"to", "GLIBC", "GLIBCXX", "CXXABI", "GCC", "LIBATOMIC", "ZLIB"};
        fail_unknown(node, "key of [[policy.add]]:", family, known);
      }
      VersionGrant& grant = policy.grants.emplace_back();
      grant.machines = to;
      grant.family = family;
      for (const std::string& text : strings(node, family)) {
        grant.versions.push_back(range(node, text));
      }
    }
  }

  void change_blacklist(const toml::node& node, Policy& policy, bool forbid) const {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      fail(node, "forbid and permit are tables: soname = [symbols]");
    }
    for (const auto& [soname, symbols] : *table) {
      auto& list = policy.blacklist[std::string(soname.str())];
      for (std::string& symbol : strings(symbols, soname.str())) {
        if (forbid) {
          list.insert(std::move(symbol));
        } else if (list.erase(symbol) == 0) {
          fail(symbols, fmt::format("{} of {} was not forbidden", printable(symbol), soname.str()));
        }
      }
      if (list.empty()) {
        policy.blacklist.erase(std::string(soname.str()));
      }
    }
  }

  Policy policy(const toml::table& table) const {
    static const std::vector<std::string> keys = {"name",      "extends", "aliases", "priority", "machines",
                                                  "libraries", "add",     "forbid",  "permit"};
    check_keys(table, keys, "a policy");
    Policy result;
    if (const toml::node* node = table.get("extends")) {
      result.base = extended(*node);
      result.machines = result.base->machines;
      result.libraries = result.base->libraries;
      result.blacklist = result.base->blacklist;
    }
    const toml::node* name = table.get("name");
    const toml::node* priority = table.get("priority");
    if (name == nullptr || priority == nullptr) {
      fail(table, fmt::format("a policy needs a {}", name == nullptr ? "name" : "priority"));
    }
    result.name = string(*name, "name");
    const auto number = priority->value_exact<std::int64_t>();
    if (!number || *number < 1 || *number > std::numeric_limits<int>::max()) {
      fail(*priority, "priority must be an integer of at least 1 (only linux has 0)");
    }
    result.priority = static_cast<int>(*number);
    if (const toml::node* node = table.get("aliases")) {
      result.aliases = strings(*node, "aliases");
    }
    if (const toml::node* node = table.get("machines")) {
      result.machines = machines(*node, "machines");
    }
    if (const toml::node* node = table.get("libraries")) {
      for (std::string& soname : strings(*node, "libraries")) {
        result.libraries.insert(std::move(soname));
      }
    }
    if (const toml::node* node = table.get("forbid")) {
      change_blacklist(*node, result, true);
    }
    if (const toml::node* node = table.get("permit")) {
      change_blacklist(*node, result, false);
    }
    if (const toml::node* node = table.get("add")) {
      for (const toml::table* added : tables(*node, "policy.add")) {
        add(*added, result);
      }
    }
    return result;
  }

  std::string_view m_file_name;
  const std::vector<const Policy*>& m_extendable;
  std::vector<Policy> m_policies;
};

}  // namespace

std::vector<Policy> read_policies(std::string_view toml, std::string_view file_name,
                                  const std::vector<const Policy*>& extendable) {
  // Rejects input that toml++ cannot handle: non-ASCII characters in keys, lines with a thousand dots.
  (void)document::parse_toml(toml, file_name);
  toml::table root;
  try {
    root = toml::parse(toml, file_name);
  } catch (const toml::parse_error& e) {
    throw Error(fmt::format("{}:{}: {}", file_name, e.source().begin.line, e.description()));
  } catch (const Error& e) {
    throw e.in(file_name);
  }
  return Reader(file_name, extendable).read(root);
}

}  // namespace wheelsmith::pep
