#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith {

using Digest = std::vector<std::uint8_t>;

// The digest of the bytes by an algorithm's name ("sha256", "sha384", "sha512"), or nothing for an unknown or insecure
// algorithm (md5, sha1).
std::optional<Digest> digest(std::string_view algorithm, Bytes bytes);

Digest sha256(Bytes bytes);

// Incremental SHA-256.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(Bytes bytes);
  void update(std::string_view text) { update(Bytes(text)); }
  // Call once, at the end.
  [[nodiscard]] Digest finish();

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

std::string to_hex(const Digest& digest);
// URL-safe base64 without '=', as RECORD requires.
std::string to_base64url(const Digest& digest);

}  // namespace wheelsmith
