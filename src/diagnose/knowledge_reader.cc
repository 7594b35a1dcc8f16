// The knowledge's files, read strictly: a misspelt key would be a pattern that never fires.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "diagnose/knowledge.h"
#include "document/value.h"

namespace wheelsmith::diagnose {

namespace data {
extern const std::string_view oom_toml, cuda_missing_toml, cuda_mismatch_toml, host_compiler_toml, arch_toml, abi_toml,
    submodule_toml, cmake_toml, isolation_toml, python_env_toml, disk_toml, network_toml, rocm_toml, linker_toml,
    wheel_platform_toml, glibc_toml, driver_toml, source_bug_toml, unknown_toml, structure_toml, missing_toml,
    test_toml, programs_toml;
}  // namespace data

namespace {

using document::Table;
using document::Value;

const std::vector<std::string> k_pattern_keys = {"id",     "class",    "stage",  "match",     "unless",  "seen",
                                                 "unseen", "priority", "weak",   "hard",      "cause",   "sources",
                                                 "fix",    "check",    "sample", "build-fix", "indirect"};
const std::vector<std::string> k_fact_keys = {"name", "match", "keep", "sample"};
const std::vector<std::string> k_stages = {"fetch",  "configure", "compile", "link",    "package", "install",
                                           "import", "run",       "audit",   "publish", "any"};

class RowReader {
 public:
  RowReader(const Value& row, std::string_view file, const std::vector<std::string>& keys) : m_row(row), m_file(file) {
    if (row.table() == nullptr) fail(row, "expected a table");
    for (const auto& [key, value] : *row.table()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      const auto near = nearest(key, keys);
      fail(value, fmt::format("unknown key {}{}", key, near ? "; did you mean " + *near + "?" : ""));
    }
  }

  [[noreturn]] void fail(const Value& where, const std::string& what) const {
    throw Error(fmt::format("{}:{}: {}", m_file, where.line == 0 ? m_row.line : where.line, what));
  }

  [[nodiscard]] std::string text(std::string_view key, bool needed) const {
    const Value& value = m_row[key];
    if (value.is_null() && !needed) return {};
    if (value.text() == nullptr || value.text()->empty()) fail(value, fmt::format("{}: expected a string", key));
    return *value.text();
  }

  // A text, or a list of texts.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key, bool needed) const {
    const Value& value = m_row[key];
    if (value.is_null() && !needed) return {};
    if (value.text() != nullptr) return {*value.text()};
    std::vector<std::string> result = value.texts();
    if (value.array() == nullptr || result.empty() || result.size() != value.array()->size())
      fail(value, fmt::format("{}: expected a string or a list of strings", key));
    return result;
  }

  [[nodiscard]] std::string word(std::string_view key, const std::vector<std::string>& words) const {
    std::string result = text(key, true);
    if (std::find(words.begin(), words.end(), result) == words.end()) {
      const auto near = nearest(result, words);
      fail(m_row[key], fmt::format("{}: no such {}{}", result, key, near ? "; did you mean " + *near + "?" : ""));
    }
    return result;
  }

  [[nodiscard]] bool flag(std::string_view key) const {
    const Value& value = m_row[key];
    if (!value.is_null() && value.boolean() == nullptr) fail(value, fmt::format("{}: expected a boolean", key));
    return value.boolean_or(false);
  }

  [[nodiscard]] std::string where(std::string_view key) const { return fmt::format("{}:{}", m_file, m_row[key].line); }

  [[nodiscard]] const Value& row() const { return m_row; }

 private:
  const Value& m_row;
  std::string_view m_file;
};

Pattern read_pattern(const RowReader& row) {
  std::vector<std::string> kinds = all_classes();
  kinds.insert(kinds.end(), {"harmless", "wrapper", "fallback", "success"});
  Pattern pattern;
  pattern.id = row.text("id", true);
  pattern.where = row.where("match");
  pattern.kind = row.word("class", kinds);
  pattern.role = pattern.kind == "harmless"   ? Role::harmless
                 : pattern.kind == "wrapper"  ? Role::wrapper
                 : pattern.kind == "fallback" ? Role::fallback
                 : pattern.kind == "success"  ? Role::success
                                              : Role::cause;
  pattern.stage = row.word("stage", k_stages);
  pattern.match = row.texts("match", true);
  const std::vector<std::string> unless = row.texts("unless", false);
  for (const std::string& expression : unless) pattern.unless += (pattern.unless.empty() ? "" : "|") + expression;
  pattern.seen = row.texts("seen", false);
  pattern.unseen = row.texts("unseen", false);
  const Value& priority = row.row()["priority"];
  if (!priority.is_null() && (priority.integer() == nullptr || *priority.integer() < 0 || *priority.integer() > 100))
    row.fail(priority, "priority: expected a number from 0 to 100");
  pattern.priority = static_cast<int>(priority.integer_or(50));
  pattern.weak = row.flag("weak");
  pattern.hard = row.flag("hard");
  pattern.indirect = row.flag("indirect");
  const bool is_cause = pattern.role == Role::cause;
  pattern.cause = row.text("cause", is_cause);
  pattern.fix = row.texts("fix", is_cause);
  pattern.build_fix = row.texts("build-fix", false);
  pattern.sources = row.texts("sources", false);
  pattern.check = row.text("check", false);
  pattern.samples = row.texts("sample", false);
  return pattern;
}

Fact read_fact(const RowReader& row) {
  Fact fact;
  fact.name = row.text("name", true);
  fact.where = row.where("match");
  fact.match = row.texts("match", true);
  fact.last = !row.row()["keep"].is_null() && row.word("keep", {"first", "last"}) == "last";
  fact.samples = row.texts("sample", false);
  return fact;
}

}  // namespace

const std::vector<std::string>& all_classes() {
  static const std::vector<std::string> classes = {
      "oom",       "cuda-missing", "cuda-mismatch", "host-compiler", "arch", "abi",    "submodule",      "cmake",
      "isolation", "python-env",   "disk",          "network",       "rocm", "linker", "wheel-platform", "glibc",
      "driver",    "source-bug",   "unknown"};
  return classes;
}

void Knowledge::add(std::string_view toml, std::string_view file_name, bool ours) {
  const Table document = document::parse_toml(toml, file_name);
  for (const auto& [key, rows] : document) {
    const bool is_pattern = key == "pattern";
    if ((!is_pattern && key != "fact") || rows.array() == nullptr)
      throw Error(fmt::format("{}:{}: unknown table {}; valid tables are [[pattern]] and [[fact]]", file_name,
                              rows.line, printable(key)));
    for (const Value& row : *rows.array()) {
      if (is_pattern) {
        Pattern pattern = read_pattern(RowReader(row, file_name, k_pattern_keys));
        pattern.ours = ours;
        std::erase_if(m_patterns, [&](const Pattern& known) { return known.id == pattern.id; });
        m_patterns.push_back(std::move(pattern));
      } else {
        m_facts.push_back(read_fact(RowReader(row, file_name, k_fact_keys)));
        m_facts.back().ours = ours;
      }
    }
  }
}

std::vector<std::pair<std::string_view, std::string_view>> builtin_files() {
  using namespace data;
  return {{"oom.toml", oom_toml},
          {"cuda-missing.toml", cuda_missing_toml},
          {"cuda-mismatch.toml", cuda_mismatch_toml},
          {"host-compiler.toml", host_compiler_toml},
          {"missing.toml", missing_toml},
          {"arch.toml", arch_toml},
          {"abi.toml", abi_toml},
          {"submodule.toml", submodule_toml},
          {"cmake.toml", cmake_toml},
          {"isolation.toml", isolation_toml},
          {"python-env.toml", python_env_toml},
          {"disk.toml", disk_toml},
          {"network.toml", network_toml},
          {"rocm.toml", rocm_toml},
          {"linker.toml", linker_toml},
          {"wheel-platform.toml", wheel_platform_toml},
          {"glibc.toml", glibc_toml},
          {"driver.toml", driver_toml},
          {"source-bug.toml", source_bug_toml},
          {"test.toml", test_toml},
          {"programs.toml", programs_toml},
          {"unknown.toml", unknown_toml},
          {"structure.toml", structure_toml}};
}

namespace {

Knowledge read_builtin() {
  Knowledge all;
  for (const auto& [name, text] : builtin_files()) all.add(text, name, true);
  return all;
}

}  // namespace

const Knowledge& builtin_knowledge() {
  static const Knowledge knowledge = [] {
    Knowledge all = read_builtin();
    all.compile();
    return all;
  }();
  return knowledge;
}

std::vector<std::string> failures_seen_by(std::string_view check) {
  static const Knowledge knowledge = read_builtin();
  std::vector<const Pattern*> seen;
  for (const Pattern& pattern : knowledge.patterns()) {
    if (pattern.check == check) seen.push_back(&pattern);
  }
  std::stable_sort(seen.begin(), seen.end(),
                   [](const Pattern* a, const Pattern* b) { return a->priority > b->priority; });
  std::vector<std::string> ids;
  for (const Pattern* pattern : seen) ids.push_back(pattern->id);
  return ids;
}

}  // namespace wheelsmith::diagnose
