#include "base/byte_size.h"

#include <gtest/gtest.h>

namespace wheelsmith {
namespace {

TEST(ByteSizeTest, Sizes) {
  const struct {
    const char* text;
    std::optional<std::uint64_t> bytes;
  } rows[] = {
      {"250000000", 250'000'000},
      {"0", 0},
      {"7b", 7},
      {"100MB", 100'000'000},
      {" 1.5 GB ", 1'500'000'000},
      {"20g", 20'000'000'000},
      {"2k", 2000},
      {"1TB", 1'000'000'000'000},
      {"1KiB", 1024},
      {"3MiB", 3 * 1024 * 1024},
      {"0.5gib", 512ULL * 1024 * 1024},
      {".5kb", 500},
      {"1e3", std::nullopt},
      {"", std::nullopt},
      {"MB", std::nullopt},
      {"-1", std::nullopt},
      {"1.2.3MB", std::nullopt},
      {"10 gigs", std::nullopt},
      {"1TiB", std::nullopt},
      {"0x10", std::nullopt},
      {"nan", std::nullopt},
      {"inf", std::nullopt},
      {"9999999TB", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(parse_byte_size(row.text), row.bytes) << row.text;
}

}  // namespace
}  // namespace wheelsmith
