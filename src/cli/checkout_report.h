#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "document/value.h"
#include "report/style.h"
#include "source/worktree/work_tree.h"

namespace wheelsmith::cli {

struct CheckoutItem {
  std::filesystem::path folder;
  std::string why;  // what decided the ref
  source::CheckoutResult result;
};

std::string checkout_text(const CheckoutItem& item, const report::Style& style);
document::Value checkout_value(const CheckoutItem& item);
std::string checkout_json(const std::vector<CheckoutItem>& items);

}  // namespace wheelsmith::cli
