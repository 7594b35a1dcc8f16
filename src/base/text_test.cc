#include "base/text.h"

#include <gtest/gtest.h>

#include <array>

#include "base/secret.h"

namespace wheelsmith {
namespace {

// 200 candidates and a word of 100 kB took 3 s.
TEST(Text, NearestToAWordThatIsFarTooLong) {
  const std::vector<std::string> candidates(100'000, "record-missing");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), candidates), std::nullopt);
  EXPECT_EQ(nearest("record-mising", std::vector<std::string>{"other", "record-missing"}), "record-missing");
}

TEST(Text, IsOneOf) {
  constexpr std::array<std::string_view, 2> k_words{"a", "bc"};
  EXPECT_TRUE(is_one_of("bc", k_words));
  EXPECT_FALSE(is_one_of("b", k_words));
  EXPECT_TRUE(is_one_of("a", std::vector<std::string>{"a"}));
  EXPECT_FALSE(is_one_of("", std::vector<std::string>()));
}

TEST(Text, IsDigits) {
  for (const char* text : {"0", "90", "0123456789"}) EXPECT_TRUE(is_digits(text)) << text;
  for (const char* text : {"", "9.0", "-1", " 1", "1a", "\xd9\xa1"}) EXPECT_FALSE(is_digits(text)) << text;
}

TEST(Text, GlobMatch) {
  struct Row {
    const char *pattern, *text;
    bool expected;
  };
  for (const Row& row : {Row{"libcuda.so*", "libcuda.so.1", true},
                         {"lib*", "mylib", false},
                         {"*", "", true},
                         {"lib?.so", "liba.so", true},
                         {"lib[ab].so", "libb.so", true},
                         {"lib[!ab].so", "libb.so", false},
                         {"lib[a-c]*", "libcuda", true},
                         {"a*b*c", "axxbyyc", true},
                         {"a*b*c", "axxbyy", false},
                         {"[", "[", true},
                         {"a[b", "a[b", true},
                         {"", "", true},
                         {"", "a", false}}) {
    EXPECT_EQ(glob_match(row.pattern, row.text), row.expected) << row.pattern << " on " << row.text;
  }
}

TEST(Text, HostileGlobEndsSoon) { EXPECT_FALSE(glob_match(std::string(2000, '*') + "b", std::string(20000, 'a'))); }

TEST(Text, Utf8) {
  EXPECT_TRUE(is_valid_utf8("grün €"));
  for (const char* bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(is_valid_utf8(bad)) << bad;
    EXPECT_TRUE(is_valid_utf8(to_valid_utf8(bad)));
  }
  EXPECT_EQ(to_valid_utf8("a\xff"
                          "b"),
            "a\xef\xbf\xbd"
            "b");
}

TEST(Text, PrintableLeavesNothingForATerminalToObey) {
  EXPECT_EQ(printable("\x1b[31mred\n"), "\\x1b[31mred\\x0a");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");
  EXPECT_EQ(printable("grün"), "grün");
  EXPECT_EQ(printable("a\u202eb\u2066c\u2069\u20ac"), "a\\u202eb\\u2066c\\u2069\u20ac");
}

TEST(Text, HumanBytes) {
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_bytes(99'950), "100 kB");
  EXPECT_EQ(human_bytes(999'600), "1.0 MB");
  EXPECT_EQ(human_bytes(1'330'000'000), "1.3 GB");
}

TEST(Text, Nearest) {
  const std::string words[] = {"manylinux_2_28", "manylinux_2_34", "musllinux_1_2"};
  EXPECT_EQ(nearest("manylinux_2_29", words), "manylinux_2_28");
  EXPECT_EQ(nearest("zebra", words), std::nullopt);
  const std::string commands[] = {"build", "builds", "plan", "doctor", "inspect", "check"};
  EXPECT_EQ(nearest("biuld", commands), "build");  // two letters swapped
  EXPECT_EQ(nearest("paln", commands), "plan");
  EXPECT_EQ(nearest("dcotor", commands), "doctor");
  EXPECT_EQ(nearest("chekc", commands), "check");
}

TEST(Text, Demangle) {
  EXPECT_EQ(demangle("_ZN3c106detail14torchCheckFailEPKcS2_jS2_"),
            "c10::detail::torchCheckFail(char const*, char const*, unsigned int, char const*)");
  EXPECT_EQ(demangle("printf"), std::nullopt);
  EXPECT_EQ(demangle("_ZN"), std::nullopt);
}

TEST(Text, DemangleIsNoBomb) {
  // Each type names the one before twice: the text doubles with every step.
  std::string symbol = "_Z1g1AIiiE";
  const auto substitution = [](int n) {
    if (n == 0) return std::string("S_");
    std::string digits;
    for (--n;; n /= 36) {
      digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n % 36]);
      if (n < 36) break;
    }
    return "S" + digits + "_";
  };
  for (int i = 0; i < 40; ++i) {
    symbol += std::string("1") + static_cast<char>('B' + i % 20) + "I";
    symbol += substitution(2 * i + 1) + substitution(2 * i + 1) + "E";
  }
  EXPECT_EQ(demangle(symbol), std::nullopt);
}

TEST(Secrets, AreToldByTheNamesOfVariables) {
  for (const char* name : {"TOKEN", "HF_TOKEN", "DB_PASSWORD", "AWS_SECRET_ACCESS_KEY", "api_key", "GIT_PAT",
                           "BASIC_AUTH", "PGPASSWORD", "MYSQL_PWD", "SSHPASS"})
    EXPECT_TRUE(names_a_secret(name)) << name;
  for (const char* name :
       {"", "PATH", "PWD", "PYTHONPATH", "KEYBOARD", "MONKEY", "TORCH_CUDA_ARCH_LIST", "AUTHOR", "MAX_JOBS"})
    EXPECT_FALSE(names_a_secret(name)) << name;
}

TEST(Secrets, AreToldByTheFormOfValues) {
  for (const char* value : {"redis://user:word@host/0", "x https://token@host/simple", "-----BEGIN PRIVATE KEY-----",
                            "ghp_0123456789abcdef"})
    EXPECT_TRUE(looks_secret(value)) << value;
  for (const char* value : {"", "https://host/simple/", "file:///folder", "a@b", "ghp_", "git+https://host/x.git@v1"})
    EXPECT_FALSE(looks_secret(value)) << value;
}

}  // namespace
}  // namespace wheelsmith
