#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace wheelsmith::wheel {

// Which functions run when a package is imported, by name: top-level functions and classes, and the calls in their
// bodies. A library loaded in a function that no import calls is loaded later, for one feature, if at all.
class PythonCalls {
 public:
  using Name = std::uint64_t;                // the hash of an identifier
  static constexpr Name k_module_level = 0;  // code run by an import

  struct Call {
    Name caller = k_module_level, callee = k_module_level;
    bool operator==(const Call&) const = default;
  };
  struct Line {
    std::string_view text;
    Name function = k_module_level;  // the enclosing function
  };

  // The lines of a file with their enclosing functions and calls. Only the text is read.
  static std::vector<Line> read(std::string_view text, std::vector<Call>& calls);

  void add(const std::vector<Call>& calls);
  // Call before the first query; nothing may be added afterwards.
  void finish();
  // Whether importing may run the function; always true if there was too much to read.
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
