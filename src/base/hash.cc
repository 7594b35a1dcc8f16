#include "base/hash.h"

// SHA256_Init starts a millisecond faster than the EVP interface, which loads providers first.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace wheelsmith {

std::optional<Digest> digest(std::string_view algorithm, Bytes bytes) {
  const auto size = static_cast<std::size_t>(bytes.size());
  if (algorithm == "sha256") {
    Digest result(SHA256_DIGEST_LENGTH);
    SHA256(bytes.data(), size, result.data());
    return result;
  }
  if (algorithm == "sha384") {
    Digest result(SHA384_DIGEST_LENGTH);
    SHA384(bytes.data(), size, result.data());
    return result;
  }
  if (algorithm == "sha512") {
    Digest result(SHA512_DIGEST_LENGTH);
    SHA512(bytes.data(), size, result.data());
    return result;
  }
  return std::nullopt;
}

Digest sha256(Bytes bytes) { return *digest("sha256", bytes); }

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : m_state(std::make_unique<State>()) { SHA256_Init(&m_state->context); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(Bytes bytes) {
  if (!bytes.empty()) SHA256_Update(&m_state->context, bytes.data(), static_cast<std::size_t>(bytes.size()));
}

Digest Sha256::finish() {
  Digest result(SHA256_DIGEST_LENGTH);
  SHA256_Final(result.data(), &m_state->context);
  return result;
}

std::string to_hex(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string to_base64url(const Digest& digest) {
  static constexpr char k_alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const std::uint8_t byte : digest) {
    bits = (bits << 8) | byte;
    for (count += 8; count >= 6; count -= 6) text += k_alphabet[(bits >> (count - 6)) & 63];
  }
  if (count > 0) text += k_alphabet[(bits << (6 - count)) & 63];
  return text;
}

}  // namespace wheelsmith
