#include "recipe/layers.h"

#include <string>
#include <string_view>

namespace wheelsmith::recipe {
namespace {

constexpr std::string_view k_more = "more-";

void append(document::Value& list, const document::Value& added) {
  document::Array joined = *list.array();
  joined.insert(joined.end(), added.array()->begin(), added.array()->end());
  const std::uint32_t line = added.line;
  list = std::move(joined);
  list.line = line;
}

void lay_member(document::Table& result, const std::string& key, const document::Value& value) {
  if (key.starts_with(k_more) && value.array() != nullptr) {
    const std::string list = key.substr(k_more.size());
    // Where the list itself is not here it may be in a layer further down: then both additions wait for it.
    for (const std::string& name : {list, key}) {
      if (const document::Value* there = result.find(name); there != nullptr && there->array() != nullptr) {
        append(result[name], value);
        return;
      }
    }
    result[key] = value;
    return;
  }
  const document::Value* there = result.find(key);
  if (there != nullptr && there->table() != nullptr && value.table() != nullptr) {
    document::Value merged = overlay(*there->table(), *value.table());
    merged.line = value.line;
    result[key] = std::move(merged);
    return;
  }
  result.erase(std::string(k_more) + key);
  result[key] = value;
}

}  // namespace

document::Table overlay(const document::Table& below, const document::Table& above) {
  document::Table result = below;
  for (const auto& [key, value] : above) {
    if (!key.starts_with(k_more)) lay_member(result, key, value);
  }
  // A table that gives both KEY and more-KEY means both, in whatever order they stand.
  for (const auto& [key, value] : above) {
    if (key.starts_with(k_more)) lay_member(result, key, value);
  }
  return result;
}

document::Table settled(const document::Table& table) {
  document::Table result;
  for (const auto& [key, value] : table) {
    if (value.table() != nullptr) {
      result[key] = settled(*value.table());
      result[key].line = value.line;
    } else if (!key.starts_with(k_more) || value.array() == nullptr) {
      result[key] = value;
    }
  }
  for (const auto& [key, value] : table) {
    if (key.starts_with(k_more) && value.array() != nullptr) lay_member(result, key, value);
  }
  document::Table renamed;
  for (const auto& [key, value] : result) {
    const bool waits = key.starts_with(k_more) && value.array() != nullptr;
    renamed[waits ? std::string_view(key).substr(k_more.size()) : std::string_view(key)] = value;
  }
  return renamed;
}

}  // namespace wheelsmith::recipe
