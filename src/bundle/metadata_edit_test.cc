#include "bundle/metadata_edit.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "bundle/sdk_table.h"

namespace wheelsmith::bundle {
namespace {

TEST(EditMetadata, DropsWhatIsInsideAndKeepsTheRest) {
  const std::string text =
      "Metadata-Version: 2.1\r\nName: demo\nVersion: 1.0\nRequires-Dist: rocm[libraries]==7.10.0\n"
      "Requires-Dist: numpy>=2\nrequires-dist: ROCm_SDK_Core ; python_version >= \"3.9\"\n"
      "Description: one\n  two\n\nRequires-Dist: rocm\n";
  const auto is_inside = [](std::string_view name) { return sdk_table().is_inside(name); };
  const MetadataEdit edit = edit_metadata(text, is_inside, "");
  EXPECT_EQ(edit.text,
            "Metadata-Version: 2.1\r\nName: demo\nVersion: 1.0\nRequires-Dist: numpy>=2\n"
            "Description: one\n  two\n\nRequires-Dist: rocm\n");
  EXPECT_EQ(edit.dropped,
            (std::vector<std::string>{"rocm[libraries]==7.10.0", "ROCm_SDK_Core ; python_version >= \"3.9\""}));
  EXPECT_NE(edit_metadata(text, is_inside, "1.0+fat").text.find("\nVersion: 1.0+fat\n"), std::string::npos);
  EXPECT_EQ(edit_metadata("Name: x\nVersion: 1", is_inside, "").text, "Name: x\nVersion: 1");
  // A dropped field takes its continuation lines along.
  EXPECT_EQ(edit_metadata(
                "Requires-Dist: rocm;\n  python_version>'3'\nName: x\n", [](std::string_view) { return true; }, "")
                .text,
            "Name: x\n");
}

TEST(LocalLabel, Rows) {
  EXPECT_EQ(with_local_label("2.9.0", "fat"), "2.9.0+fat");
  EXPECT_EQ(with_local_label("2.9.0+rocm7.1", "fat"), "2.9.0+rocm7.1.fat");
  for (const char* bad : {"", "a b", "+x", "a/b", "-"}) EXPECT_THROW((void)with_local_label("1.0", bad), Error) << bad;
}

TEST(SdkTable, TheTableIsReadAndRefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(sdk_table().is_sdk_folder("_rocm_sdk_core"));
  EXPECT_TRUE(sdk_table().is_sdk_folder("_rocm_sdk_libraries_gfx94x_dcgpu"));
  EXPECT_FALSE(sdk_table().is_sdk_folder("torch"));
  EXPECT_TRUE(sdk_table().is_never("libc.so.6"));
  EXPECT_TRUE(sdk_table().is_never("libstdc++.so.6"));
  EXPECT_FALSE(sdk_table().is_never("libamdhip64.so.7"));
  EXPECT_FALSE(sdk_table().is_inside("torch"));
  EXPECT_FALSE(sdk_table().libraries.empty());
  EXPECT_THROW((void)read_sdk_table("[[library]]\nname = ['x']\n", "x.toml"), Error);
}

}  // namespace
}  // namespace wheelsmith::bundle
