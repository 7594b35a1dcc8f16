#include "wheel/check/preload.h"

#include <gtest/gtest.h>

namespace wheelsmith::wheel {
namespace {

// The libraries that are said to be missing, when a library of the wheel needs these.
std::vector<std::string> missing(const std::string& module, const std::vector<std::string>& needed) {
  const TextTree tree({{"torch/_rocm_init.py", module}});
  ElfFacts hip;
  hip.path = "torch/lib/libtorch_hip.so";
  hip.needed = needed;
  ElfFacts own;
  own.path = "torch/lib/libroctx64.so.4";
  std::vector<std::string> result;
  for (const Finding& finding : check_preload(tree, tree.files(), {hip, own})) result.push_back(finding.what);
  return result;
}

TEST(CheckPreload, WhatTheBinariesNeedIsNamed) {
  const std::string module =
      "def initialize():\n    import rocm_sdk\n    rocm_sdk.initialize_process(preload_shortnames=[\n"
      "        'amdhip64', # \"hipfft\" is not meant\n        \"miopen\", 'hipdnn',\n    ], check_version='7.1')\n";
  using Names = std::vector<std::string>;
  const std::vector<std::pair<Names, Names>> cases = {
      {{"libamdhip64.so.7", "libMIOpen.so.1", "libhipdnn_backend.so", "libc.so.6", "libtorch_cpu.so"}, {}},
      {{"libhipfft.so.0"}, {"does not name hipfft, which torch/lib/libtorch_hip.so needs"}},
      {{"libroctx64.so.4"}, {}},
      {{"libamdhip64x.so", "libhipdnnx.so"}, {"does not name hipdnnx, which torch/lib/libtorch_hip.so needs"}},
  };
  for (const auto& [needed, wanted] : cases) EXPECT_EQ(missing(module, needed), wanted);
}

TEST(CheckPreload, AModuleWithoutAListNamesNothing) {
  for (const char* module :
       {"", "preload_shortnames", "preload_shortnames=[", "preload_shortnames=['a", "[\"amdhip64\"]"})
    EXPECT_EQ(missing(module, {"libamdhip64.so.7"}).size(), 1u) << module;
}

}  // namespace
}  // namespace wheelsmith::wheel
