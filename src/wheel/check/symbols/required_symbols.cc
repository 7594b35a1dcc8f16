// `--require-symbol TEXT`: a symbol matches if its name is TEXT, or if TEXT occurs in its demangled name at the start
// of a name: "merge_pooled_embeddings(" and "fbgemm_gpu::merge_pooled_embeddings(" both find
//
//   fbgemm_gpu::merge_pooled_embeddings(std::vector<at::Tensor, …>, …)
//
// and "pooled_embeddings(" does not; nor does "at::Tensor", which occurs only among the parameters. Mangled names
// contain identifiers verbatim, so only names with the last identifier are demangled: a few of a million.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "base/text.h"
#include "wheel/check/symbols/symbols.h"
#include "wheel/check/torch/torch_names.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_candidates = 300000;  // names compared for suggestions

bool is_identifier_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "merge_pooled_embeddings" of "fbgemm_gpu::merge_pooled_embeddings(std::vector": the last identifier before
// parameters.
std::string_view last_identifier(std::string_view text) {
  text = text.substr(0, text.find_first_of("(<"));
  std::size_t end = text.size();
  while (end > 0 && !is_identifier_character(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_identifier_character(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

class Wanted {
 public:
  explicit Wanted(std::string_view text) : m_text(text), m_plain(text), m_identifier(last_identifier(text)) {
    if (m_plain.ends_with('(')) m_plain.remove_suffix(1);
    // Operators are mangled to two letters, so the word does not occur.
    if (m_identifier == "operator") m_identifier = {};
  }

  [[nodiscard]] std::string_view identifier() const { return m_identifier; }

  [[nodiscard]] bool matches(std::string_view symbol) const {
    if (symbol == m_plain) return true;
    if (!symbol.starts_with("_Z") || symbol.find(m_identifier) == std::string_view::npos) return false;
    const std::optional<std::string> name = demangle(symbol);
    return name && matches_demangled(*name);
  }

 private:
  [[nodiscard]] bool matches_demangled(std::string_view name) const {
    const std::size_t end = qualified_name(name).size();
    for (std::size_t at = name.find(m_text); at < end; at = name.find(m_text, at + 1)) {
      if (at == 0 || !is_identifier_character(name[at - 1])) return true;
    }
    return false;
  }

  std::string_view m_text;
  std::string_view m_plain;
  std::string_view m_identifier;
};

bool is_exported(const std::vector<ElfFacts>& own, const Wanted& wanted) {
  for (const ElfFacts& file : own) {
    for (const std::string& exported : file.exported) {
      if (wanted.matches(split_exported(exported).name)) return true;
    }
  }
  return false;
}

// The first file that references it, or null.
const ElfFacts* asking_file(const std::vector<ElfFacts>& own, const Wanted& wanted) {
  for (const ElfFacts& file : own) {
    for (const UndefinedSymbol& symbol : file.undefined) {
      if (wanted.matches(symbol.name)) return &file;
    }
  }
  return nullptr;
}

// The innermost of a mangled name's leading identifiers, or the whole plain name.
std::string_view own_identifier(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  symbol.remove_prefix(2);
  if (symbol.starts_with('N')) symbol.remove_prefix(1);
  symbol.remove_prefix(std::min(symbol.find_first_not_of("rVK"), symbol.size()));
  std::string_view last;
  while (!symbol.empty()) {
    const std::size_t digits = std::min(symbol.find_first_not_of("0123456789"), symbol.size());
    const std::uint64_t length = to_number(symbol.substr(0, digits)).value_or(0);
    if (length == 0 || length > symbol.size() - digits) break;
    last = symbol.substr(digits, length);
    symbol.remove_prefix(digits + length);
  }
  return last;
}

std::optional<std::string> nearest_exported(const std::vector<ElfFacts>& own, const Wanted& wanted) {
  std::unordered_map<std::string_view, std::string_view> symbols;  // by identifier
  for (const ElfFacts& file : own) {
    for (const std::string& exported : file.exported) {
      if (symbols.size() == k_most_candidates) break;
      const std::string_view name = split_exported(exported).name;
      const std::string_view identifier = own_identifier(name);
      if (!identifier.empty()) symbols.try_emplace(identifier, name);
    }
  }
  if (const auto same = symbols.find(wanted.identifier()); same != symbols.end()) return readable(same->second);
  std::vector<std::string> identifiers;
  for (const auto& [identifier, symbol] : symbols) identifiers.emplace_back(identifier);
  std::sort(identifiers.begin(), identifiers.end());
  const std::optional<std::string> near = nearest(wanted.identifier(), identifiers);
  if (!near) return std::nullopt;
  return readable(symbols.at(*near));
}

}  // namespace

std::vector<Finding> check_required_symbols(const std::vector<ElfFacts>& own, const std::vector<std::string>& wanted) {
  std::vector<Finding> findings;
  for (const std::string& text : wanted) {
    const Wanted symbol(text);
    if (is_exported(own, symbol)) continue;
    std::string what = "is not exported by any file of the wheel";
    if (const ElfFacts* asking = asking_file(own, symbol)) what += fmt::format("; {} references it", asking->path);
    if (const std::optional<std::string> near = nearest_exported(own, symbol)) {
      what += fmt::format("; the closest exported symbol is {}", *near);
    }
    findings.push_back(
        {.id = "symbol-required-missing",
         .severity = Severity::error,
         .subject = text,
         .what = std::move(what),
         .why = "The source file that defines it was not compiled or not linked, or the symbol is hidden.",
         .fix = "Check that the build compiles and links the defining source file, and its visibility settings."});
  }
  return findings;
}

}  // namespace wheelsmith::wheel
