#include "store/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

// A key must distinguish any two manifests, so the hashed text is injective: each name and value follows its length,
// and no choice of bytes can shift the boundary between them. The first line names this format; changing the format
// changes the line, and all keys with it.

namespace wheelsmith::store {

namespace {

constexpr std::string_view k_format = "wheelsmith manifest 1\n";
constexpr std::size_t k_named = 3;

std::string hex(std::string_view bytes) { return to_hex(Digest(bytes.begin(), bytes.end())); }

std::string from_hex(const std::string& text) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    throw Error("invalid hex digits in a manifest's raw value");
  };
  if (text.size() % 2 != 0) throw Error("invalid hex digits in a manifest's raw value");
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) bytes += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  return bytes;
}

std::string in_words(const Change& change) {
  const std::string name = printable(change.name);
  switch (change.kind) {
    case Change::Kind::added: return name + " is new";
    case Change::Kind::removed: return name + " was removed";
    case Change::Kind::changed: break;
  }
  return name + " changed";
}

}  // namespace

void Manifest::set(std::string_view name, std::string_view value) {
  m_inputs.insert_or_assign(std::string(name), std::string(value));
}

std::string Manifest::key() const {
  std::string text(k_format);
  const auto add = [&](const std::string& part) {
    text += std::to_string(part.size());
    text += ':';
    text += part;
  };
  for (const auto& [name, value] : m_inputs) {
    add(name);
    add(value);
  }
  return to_hex(sha256(Bytes(text)));
}

// JSON contains only UTF-8, but a variable may contain any bytes: values that are not UTF-8 go to "raw", in hex.
document::Value Manifest::to_value() const {
  document::Array inputs;
  document::Array raw;
  for (const auto& [name, value] : m_inputs) {
    const bool text = is_valid_utf8(name) && is_valid_utf8(value);
    if (text)
      inputs.emplace_back(document::Array{name, value});
    else
      raw.emplace_back(document::Array{hex(name), hex(value)});
  }
  document::Table table;
  table["inputs"] = std::move(inputs);
  if (!raw.empty()) table["raw"] = std::move(raw);
  return table;
}

Manifest Manifest::from_value(const document::Value& value) {
  Manifest manifest;
  const auto take = [&](const document::Value& list, bool in_hex) {
    const document::Array* pairs = list.array();
    if (pairs == nullptr) throw Error(fmt::format("a manifest's inputs are {}, not a list", list.kind()));
    for (const document::Value& entry : *pairs) {
      const document::Array* pair = entry.array();
      if (pair == nullptr || pair->size() != 2 || (*pair)[0].text() == nullptr || (*pair)[1].text() == nullptr)
        throw Error("an input of a manifest is not a pair of name and value");
      const std::string name = in_hex ? from_hex(*(*pair)[0].text()) : *(*pair)[0].text();
      const std::string text = in_hex ? from_hex(*(*pair)[1].text()) : *(*pair)[1].text();
      if (!manifest.m_inputs.emplace(name, text).second)
        throw Error(fmt::format("a manifest names {} twice", printable(name)));
    }
  };
  take(value["inputs"], false);
  if (!value["raw"].is_null()) take(value["raw"], true);
  return manifest;
}

// Changed inputs first, then new, then removed ones, each sorted by name. The container comes before all: it changes
// the interpreter and every tool.
std::vector<Change> changes(const Manifest& before, const Manifest& after) {
  std::vector<Change> changed;
  std::vector<Change> added;
  std::vector<Change> removed;
  for (const auto& [name, value] : after.inputs()) {
    const auto old = before.inputs().find(name);
    if (old == before.inputs().end())
      added.push_back({Change::Kind::added, name, "", value});
    else if (old->second != value)
      changed.push_back({Change::Kind::changed, name, old->second, value});
  }
  for (const auto& [name, value] : before.inputs())
    if (!after.inputs().contains(name)) removed.push_back({Change::Kind::removed, name, value, ""});
  changed.insert(changed.end(), added.begin(), added.end());
  changed.insert(changed.end(), removed.begin(), removed.end());
  std::ranges::stable_partition(changed, [](const Change& change) { return change.name == "container"; });
  return changed;
}

std::string reason(const std::vector<Change>& changes) {
  if (changes.empty()) return "nothing changed";
  std::vector<std::string> words;
  for (std::size_t i = 0; i < changes.size() && i < k_named; ++i) words.push_back(in_words(changes[i]));
  std::string text = join(words, ", ");
  if (changes.size() > k_named) text += fmt::format(" and {} more", changes.size() - k_named);
  return text;
}

}  // namespace wheelsmith::store
