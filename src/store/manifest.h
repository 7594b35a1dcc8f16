#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"

namespace wheelsmith::store {

// Every input that affects a step's result, as named values: "source", "patch:0001-fix.patch", "recipe",
// "env:CXXFLAGS", "tool:nvcc/cicc", "requires:setuptools", "torch", "step:pytorch-…", "archs". The key is their
// SHA-256; the reason for a build is the difference between two manifests.
class Manifest {
 public:
  void set(std::string_view name, std::string_view value);
  [[nodiscard]] const std::map<std::string, std::string>& inputs() const { return m_inputs; }
  [[nodiscard]] std::string key() const;  // 64 hex digits
  [[nodiscard]] document::Value to_value() const;
  static Manifest from_value(const document::Value& value);  // throws Error

  friend bool operator==(const Manifest&, const Manifest&) = default;

 private:
  std::map<std::string, std::string> m_inputs;
};

struct Change {
  enum class Kind { added, removed, changed } kind = Kind::changed;
  std::string name, before, after;
};
std::vector<Change> changes(const Manifest& before, const Manifest& after);
// One sentence: "tool:nvcc/cicc changed, env:CXXFLAGS is new" (three names, then a count).
std::string reason(const std::vector<Change>& changes);

}  // namespace wheelsmith::store
