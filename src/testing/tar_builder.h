#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace wheelsmith::testing {

struct TarMember {
  std::string name{};
  std::string data{};
  char type = '0';  // '1' hard link, '2' symbolic link, '5' folder, '3' device, 'x' and 'g' pax, 'L' and 'K' GNU
  std::string target{};
  unsigned mode = 0644;
  std::int64_t mtime = 1'700'000'000;
  // What is set replaces what would be true.
  std::optional<std::string> size_field{};
  std::optional<std::string> checksum_field{};
  std::optional<std::string> prefix{};
  bool gnu = false;  // GNU's magic
};

// Archives for tests, true ones and such that lie.
//
//   const std::string tar = TarBuilder().add("a/b.py", "pass\n").add({.name = "l", .type = '2', .target =
//   "a"}).build();
class TarBuilder {
 public:
  TarBuilder& add(const TarMember& member);
  TarBuilder& add(const std::string& name, const std::string& data);
  TarBuilder& raw(const std::string& bytes);
  [[nodiscard]] std::string build() const;  // with the end mark
  [[nodiscard]] std::string without_end() const { return m_bytes; }

 private:
  std::string m_bytes;
};

// One pax record: "27 path=…\n".
std::string pax_record(const std::string& key, const std::string& value);
// A gzip member.
std::string gzip(const std::string& data);

}  // namespace wheelsmith::testing
