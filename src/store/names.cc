#include "base/bytes.h"
#include "base/hash.h"
#include "store/store.h"

// Identities contain any user text ("torch;cuda;8.0+PTX"), but file names must not. The readable part is for users; the
// hash distinguishes texts that read alike.

namespace wheelsmith::store {

namespace {

constexpr std::size_t k_readable = 48;
constexpr std::size_t k_digits = 16;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
}

}  // namespace

std::string slug(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (name.size() == k_readable) break;
    if (is_plain(c) && !(name.empty() && c == '.'))
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  if (!name.empty() && name.back() != '-') name += '-';
  return name + to_hex(sha256(Bytes(text))).substr(0, k_digits);
}

std::string step_lock(std::string_view key) { return "step-" + std::string(key); }
std::string tree_lock(std::string_view identity) { return "tree-" + slug(identity); }
std::string env_lock(std::string_view key) { return "env-" + std::string(key); }
std::string toolkit_lock(std::string_view key) { return "toolkit-" + std::string(key); }
std::string download_lock(std::string_view sha256) { return "download-" + std::string(sha256); }

}  // namespace wheelsmith::store
