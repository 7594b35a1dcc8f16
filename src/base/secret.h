#pragma once

#include <string_view>

namespace wheelsmith {

// Whether a variable of this name is likely to hold a password, token or key: API_TOKEN, DB_PASSWORD,
// AWS_SECRET_ACCESS_KEY. Its value is used and never printed.
bool names_a_secret(std::string_view variable);

inline constexpr std::string_view k_hidden_value = "(hidden)";

}  // namespace wheelsmith
