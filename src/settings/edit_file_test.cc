#include "settings/edit_file.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::settings {
namespace {

using document::Array;
using document::Value;

TEST(EditFile, ChangesOneKeyAndNothingElse) {
  struct Row {
    const char *what, *before, *table, *key;
    std::optional<Value> value;
    const char* after;
  };
  for (const Row& row : std::vector<Row>{
           {"an empty file", "", "", "jobs", "4", "jobs = \"4\"\n"},
           {"another key", "# mine\nout = \"w\"\n", "", "jobs", "4", "# mine\nout = \"w\"\njobs = \"4\"\n"},
           {"a comment after it is kept", "jobs = 2  # laptop\n", "", "jobs", "4", "jobs = \"4\"  # laptop\n"},
           {"a # in a string is not a comment", "out = \"a#b\"\n", "", "out", "c", "out = \"c\"\n"},
           {"before the tables", "a-comment-only = 1\n\n# variables\n[env]\nA = \"1\"\n", "", "jobs", "4",
            "a-comment-only = 1\njobs = \"4\"\n\n# variables\n[env]\nA = \"1\"\n"},
           {"a list over lines", "arch = [\n  \"8.0\", # A100\n  \"9.0\",\n]\nout = \"w\"\n", "", "arch", Array{"10.0"},
            "arch = [\"10.0\"]\nout = \"w\"\n"},
           {"removed", "# mine\njobs = 2\nout = \"w\"\n", "", "jobs", std::nullopt, "# mine\nout = \"w\"\n"},
           {"not there", "out = \"w\"\n", "", "jobs", std::nullopt, "out = \"w\"\n"},
           {"a table's key", "[env]\nA = \"1\"\n", "env", "B", "2", "[env]\nB = \"2\"\nA = \"1\"\n"},
           {"a table's old key", "[env]\nA = \"1\"\n[set]\nA = \"x\"\n", "env", "A", "2",
            "[env]\nA = \"2\"\n[set]\nA = \"x\"\n"},
           {"a new table", "jobs = 1\n", "env", "A", "2", "jobs = 1\n\n[env]\nA = \"2\"\n"},
           {"a dotted key", "env.A = \"1\"\njobs = 1\n", "env", "A", "2", "env.A = \"2\"\njobs = 1\n"},
           {"a key that needs quotes", "[mirrors]\n", "mirrors", "https://x/", "/y",
            "[mirrors]\n\"https://x/\" = \"/y\"\n"},
       }) {
    EXPECT_EQ(edited_file(row.before, "config.toml", row.table, row.key, row.value), row.after) << row.what;
  }
}

TEST(EditFile, RejectsUnsupportedSyntax) {
  EXPECT_THROW(edited_file("env = { A = \"1\", B = \"2\" }\n", "config.toml", "env", "A", Value("2")), Error);
  EXPECT_THROW(edited_file("jobs = \n", "config.toml", "", "jobs", Value("2")), Error);
}

}  // namespace
}  // namespace wheelsmith::settings
