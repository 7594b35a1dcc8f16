#pragma once

#include <string_view>

namespace wheelsmith {

// Whether a variable of this name is likely to hold a password, token or key: API_TOKEN, DB_PASSWORD,
// AWS_SECRET_ACCESS_KEY. Its value is used and never printed.
bool names_a_secret(std::string_view variable);

// Whether a value looks secret, regardless of the name of its variable: a URL with a password, a private key, a token
// with a known prefix.
bool looks_secret(std::string_view value);

inline constexpr std::string_view k_hidden_value = "(hidden)";

}  // namespace wheelsmith
