#pragma once

#include <string>
#include <vector>

#include "report/style.h"
#include "settings/settings.h"
#include "settings/trust.h"

namespace wheelsmith::report {

struct TrustItem {
  settings::TrustedFile trusted;
  std::string state;  // "trusted", "changed", "missing", "removed"
  std::vector<settings::Settings::RiskyOption> options;
};

std::string trust_text(const std::vector<TrustItem>& items, const Style& style);
std::string trust_json(const std::vector<TrustItem>& items);

}  // namespace wheelsmith::report
