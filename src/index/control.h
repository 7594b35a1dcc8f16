#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "index/file.h"
#include "pep/requirement.h"

// User input about files: index.toml in the folder, and --filter.

namespace wheelsmith::index {

inline constexpr const char* k_control_file = "index.toml";

// By PEP 792.
enum class ProjectStatus : std::uint8_t { active, archived, quarantined, deprecated };

struct Control {
  struct Rule {
    std::string pattern;  // of file names
    std::string text;
  };
  struct Status {
    ProjectStatus status = ProjectStatus::active;
    std::string reason;
  };
  std::vector<Rule> yanked;
  std::vector<Rule> upload_times;
  std::map<std::string, Status> projects;  // by normalized name

  // Throws Error "index.toml:LINE: …".
  static Control parse(std::string_view text);
};

// "torch*" (file or project), "!*-cp39-*" (not these), "torch>=2.9" (a requirement).
class Filter {
 public:
  // Throws Error for an invalid requirement.
  explicit Filter(const std::vector<std::string>& expressions);
  [[nodiscard]] bool takes(std::string_view file_name, const FileName& parts) const;
  [[nodiscard]] const std::vector<std::string>& expressions() const { return m_expressions; }

 private:
  struct Term {
    bool exclude = false;
    std::string pattern;
    std::optional<pep::Requirement> requirement;
  };
  [[nodiscard]] static bool matches(const Term& term, std::string_view file_name, const FileName& parts);

  std::vector<std::string> m_expressions;
  std::vector<Term> m_terms;
};

}  // namespace wheelsmith::index

template <>
struct wheelsmith::EnumNames<wheelsmith::index::ProjectStatus> {
  static constexpr std::array list = {"active", "archived", "quarantined", "deprecated"};
};
