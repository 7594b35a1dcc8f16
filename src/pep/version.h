#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::pep {

// A version by PEP 440: [epoch!]release[{a|b|rc}N][.postN][.devN][+local].
class Version {
 public:
  // Throws Error for an invalid version; all spellings that the PEP allows are accepted ("v1.0-ALPHA.1"). Numbers over
  // 64 bits are rejected, except in the local version (dates, decimal hashes).
  static Version parse(std::string_view text);
  // The same, or nothing.
  static std::optional<Version> try_parse(std::string_view text);
  // The normal form.
  [[nodiscard]] std::string to_string() const;
  // By the PEP's order; 1.0 equals 1.0.0.
  friend std::strong_ordering operator<=>(const Version& a, const Version& b);
  friend bool operator==(const Version& a, const Version& b) { return (a <=> b) == 0; }

  [[nodiscard]] bool is_prerelease() const { return pre.has_value() || dev.has_value(); }
  [[nodiscard]] bool is_postrelease() const { return post.has_value(); }
  // Without the local part.
  [[nodiscard]] Version public_version() const;
  // Epoch and release only.
  [[nodiscard]] Version base_version() const;

  std::uint64_t epoch = 0;
  std::vector<std::uint64_t> release;
  struct Pre {
    char phase = 'a';  // 'a', 'b', 'r' (rc)
    std::uint64_t number = 0;
  };
  std::optional<Pre> pre;
  std::optional<std::uint64_t> post;
  std::optional<std::uint64_t> dev;
  std::vector<std::string> local;  // lower-case parts; numbers without leading zeros
};

}  // namespace wheelsmith::pep
