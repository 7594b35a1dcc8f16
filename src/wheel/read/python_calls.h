#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace wheelsmith::wheel {

// Which functions importing a package calls, by name: a function or class at the top of a file, and what its text
// calls. A library that is loaded in a function that nothing calls at import is loaded later, for one feature, if at
// all.
class PythonCalls {
 public:
  using Name = std::uint64_t;                // the hash of an identifier
  static constexpr Name k_module_level = 0;  // code that is run by an import

  struct Call {
    Name caller = k_module_level, callee = k_module_level;
    bool operator==(const Call&) const = default;
  };
  struct Line {
    std::string_view text;
    Name function = k_module_level;  // where it stands
  };

  // The lines of a file with the functions that they stand in, and the calls in them. Only the text is read.
  static std::vector<Line> read(std::string_view text, std::vector<Call>& calls);

  void add(const std::vector<Call>& calls);
  // Before the first question; after it nothing may be added.
  void finish();
  // Whether importing may run the function: always, where there was too much to read.
  [[nodiscard]] bool is_run(Name function) const;

 private:
  struct Hash {
    std::size_t operator()(const Call& call) const { return call.caller * 31 + call.callee; }
  };
  std::unordered_set<Call, Hash> m_calls;
  std::unordered_set<Name> m_run;
  bool m_too_many = false;
};

}  // namespace wheelsmith::wheel
