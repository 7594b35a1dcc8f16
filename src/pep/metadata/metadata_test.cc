#include "pep/metadata/metadata.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace wheelsmith::pep {
namespace {

Headers parse_headers(std::string_view text) { return Headers::parse(Bytes(text)); }

// "error metadata-name", …
std::vector<std::string> ids(const std::vector<Finding>& findings) {
  std::vector<std::string> result;
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.subject, "M");
    EXPECT_FALSE(finding.what.empty() || finding.why.empty() || finding.fix.empty()) << finding.id;
    result.push_back(std::string(to_string(finding.severity)) + ' ' + finding.id);
  }
  return result;
}

std::vector<std::string> check(const std::string& version, const std::string& more) {
  return ids(check_metadata(parse_headers("Metadata-Version: " + version + "\nName: a\nVersion: 1.0\n" + more), "M"));
}

TEST(Headers, FieldsAndBody) {
  const Headers headers = parse_headers(
      "Name: a\r\nLicense: MIT\r\n        |second line\r\n\tthird\r\nname:b\r\nEmpty:\r\n\r\nBody: is not a field\r\n");
  EXPECT_EQ(headers.get("NAME"), "a");
  EXPECT_EQ(headers.all("Name"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(headers.get("License"), "MIT\n        |second line\n\tthird");
  EXPECT_TRUE(headers.has("empty"));
  EXPECT_FALSE(headers.has("Body"));
  EXPECT_EQ(headers.body, "Body: is not a field\r\n");
  EXPECT_TRUE(parse_headers("").fields.empty());
  EXPECT_EQ(parse_headers("A: 1\rB: 2\n\n\nx").body, "\nx");
  EXPECT_TRUE(parse_headers("\xef\xbb\xbfName: a").has_byte_order_mark);
}

TEST(Headers, MalformedLinesAreNamed) {
  struct Row {
    const char *text, *message;
  };
  for (const Row& row : {Row{" x: y", "line 1: a continuation line"},
                         {"A: 1\nno field\n", "line 2: \"no field\" is not a"},
                         {"A b: 1", "line 1:"},
                         {": x", "line 1:"},
                         {"\xc3\xa4: x", "line 1:"}}) {
    try {
      parse_headers(row.text);
      ADD_FAILURE() << row.text;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(row.message)) << error.what();
    }
  }
}

TEST(Headers, EndlessFieldsAreRefused) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "a:\n";
  EXPECT_EQ(Headers::parse(Bytes(text)).fields.size(), 20'000U);
  EXPECT_THROW(Headers::parse(Bytes(text + "a:\n")), Error);
}

TEST(Metadata, WhatIsRightIsSilent) {
  EXPECT_TRUE(check("2.1",
                    "Summary: x\nRequires-Dist: b[c] (>=1) ; extra == 'D_e'\nProvides-Extra: d-E\nRequires-Python: "
                    ">=3.9, !=3.10.*\nProject-URL: Home, https://example.com\nDescription-Content-Type: text/markdown; "
                    "charset=utf-8; variant=GFM\nClassifier: License :: OSI Approved\nClassifier: A\n\nText")
                  .empty());
  EXPECT_TRUE(check("2.5",
                    "License-Expression: MIT\nLicense-File: a/LICENSE\nDynamic: license-file\nImport-Name: a.b_1 ; "
                    "private\nImport-Namespace: a\n")
                  .empty());
}

TEST(Metadata, EachMistakeHasItsFinding) {
  struct Row {
    const char *version, *more, *finding;
  };
  for (const Row& row : {
           Row{"", "", "error metadata-version-missing"},
           {"x", "", "error metadata-version-unknown"},
           {"3.0", "", "error metadata-version-unknown"},
           {"2.6", "", "warning metadata-version-newer"},
           {"2.0", "Provides-Extra: a\n", "warning metadata-version-withdrawn"},
           {"2.1", "Version: 2\n", "error metadata-field-repeated"},
           {"2.1", "Keywords: a\nkeywords: b\n", "error metadata-field-repeated"},
           {"2.1", "License-Expression: MIT\n", "warning metadata-field-too-new"},
           {"2.1", "License-File: ../LICENSE\n", "note metadata-field-too-new"},
           {"2.1", "Dynamic: summary\n", "warning metadata-field-too-new"},
           {"2.4", "Import-Name: a\n", "warning metadata-field-too-new"},
           {"1.1", "Requires-Dist: a\n", "warning metadata-field-too-new"},
           {"2.1", "Sumary: a\n", "warning metadata-field-unknown"},
           {"2.1", "Requires-Dist: b >= x\n", "error metadata-requires-dist"},
           {"2.1", "Requires-Dist: b @ https://example.com/b.whl\n", "warning metadata-requires-url"},
           {"2.1", "Requires-Dist: b; extra == 'c'\n", "note metadata-extra-undeclared"},
           {"2.1", "Requires-Python: >=3.6.*\n", "error metadata-requires-python"},
           {"2.1", "Provides-Extra: a b\n", "error metadata-extra"},
           {"2.3", "Provides-Extra: A_b\n", "note metadata-extra-spelling"},
           {"2.1", "Description-Content-Type: text/x-markdown\n", "error metadata-description-type"},
           {"2.1", "Description-Content-Type: text/markdown; charset=latin-1\n", "error metadata-description-type"},
           {"2.1", "Description-Content-Type: text/markdown; variant=x\n", "error metadata-description-type"},
           {"2.1", "Description: a\n\nb", "warning metadata-description-twice"},
           {"2.1", "Summary: a\n  b\n", "error metadata-summary"},
           {"2.1", "Project-URL: https://example.com\n", "error metadata-project-url"},
           {"2.1", "Project-URL: abcdefghijklmnopqrstuvwxyz0123456, https://example.com\n",
            "error metadata-project-url"},
           {"2.4", "License-Expression: MIT\nLicense: MIT\n", "error metadata-license-twice"},
           {"2.4", "License-Expression: MIT\nClassifier: License :: X\n", "warning metadata-license-classifier"},
           {"2.4", "License-File: ../LICENSE\n", "error metadata-license-file"},
           {"2.2", "Dynamic: Name\n", "error metadata-dynamic"},
           {"2.2", "Dynamic: foo\n", "error metadata-dynamic"},
           {"2.5", "Import-Name: 1a\n", "error metadata-import-name"},
           {"2.1", "Author: \xff\n", "error metadata-not-utf-8"},
           {"2.1", "\n\xff\n", "error metadata-not-utf-8"},
       }) {
    EXPECT_EQ(check(row.version, row.more), std::vector<std::string>{row.finding}) << row.more;
  }
}

TEST(Metadata, Identity) {
  EXPECT_EQ(ids(check_metadata(parse_headers("Metadata-Version: 2.1\n"), "M")),
            (std::vector<std::string>{"error metadata-name", "error metadata-version"}));
  EXPECT_EQ(ids(check_metadata(parse_headers("Metadata-Version: 2.1\nName: a b\nVersion: 1.0-x\n"), "M")),
            (std::vector<std::string>{"error metadata-name", "error metadata-version"}));
  EXPECT_EQ(ids(check_metadata(parse_headers("\xef\xbb\xbfMetadata-Version: 2.1\nName: a\nVersion: 1\n"), "M")),
            (std::vector<std::string>{"error metadata-byte-order-mark"}));
}

TEST(Metadata, AFloodOfUnknownFieldsIsToldInAFewWords) {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "X-" + std::to_string(i) + ": y\n";
  EXPECT_EQ(check("2.1", text).size(), 20u);
}

TEST(WheelFile, Check) {
  struct Row {
    const char* text;
    std::vector<std::string> findings;
  };
  const std::string good = "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n";
  EXPECT_TRUE(check_wheel_file(parse_headers(good), "M").empty());
  EXPECT_TRUE(check_wheel_file(parse_headers(good + "Build: 1local\n"), "M").empty());
  for (const Row& row :
       {Row{"Wheel-Version: 1.1\nRoot-Is-Purelib: True\nTag: a-b-c\n", {"warning wheel-version-newer"}},
        {"Wheel-Version: 2.0\nRoot-Is-Purelib: true\nTag: a-b-c\n", {"error wheel-version-unknown"}},
        {"Wheel-Version: 1\nRoot-Is-Purelib: true\nTag: a-b-c\n", {"error wheel-version-unknown"}},
        {"Wheel-Version: 1.0\nRoot-Is-Purelib: yes\nTag: a-b\n",
         {"error wheel-root-is-purelib", "error wheel-tag-malformed"}},
        {"Wheel-Version: 1.0\nRoot-Is-Purelib: true\n\nTag: a-b-c\n", {"warning wheel-tag-missing"}},
        {"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: a.b-c-d\nTag: a.b-c-d\n",
         {"note wheel-tag-compressed", "note wheel-tag-compressed", "note wheel-tag-repeated"}},
        {"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: a-b-c\nBuild: x\n", {"error wheel-build"}},
        {"", {"error wheel-version-missing", "error wheel-root-is-purelib", "warning wheel-tag-missing"}}}) {
    EXPECT_EQ(ids(check_wheel_file(parse_headers(row.text), "M")), row.findings) << row.text;
  }
}

}  // namespace
}  // namespace wheelsmith::pep
