#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "gpu/arch.h"

namespace wheelsmith::gpu {
namespace {

TEST(Devices, AreFoundByCommonNames) {
  struct Row {
    const char *name, *arch;
  };
  for (const Row& row : {
           Row{"RTX 4090", "sm_89"},
           {"rtx4090", "sm_89"},
           {"RTX-4090", "sm_89"},
           {"4090", "sm_89"},
           {"GeForceRTX4090", "sm_89"},
           {"NVIDIA GeForce RTX 4090 Laptop GPU", "sm_89"},
           {"GeForce RTX™ 4090 D", "sm_89"},
           {"NVIDIA GeForce RTX 4070 Ti SUPER", "sm_89"},
           {"geforce rtx 3060 ti", "sm_86"},
           {"NVIDIA GeForce GTX 1060 6GB", "sm_61"},
           {"GeForce GTX 1650 with Max-Q Design", "sm_75"},
           {"GeForce GTX 1650 Max-Q", "sm_75"},
           {"NVIDIA H100 80GB HBM3", "sm_90"},
           {"NVIDIA H100 PCIe", "sm_90"},
           {"NVIDIA A100-SXM4-80GB", "sm_80"},
           {"A100 80 GB", "sm_80"},
           {"NVIDIA A10G", "sm_86"},
           {"Tesla V100-SXM2-16GB", "sm_70"},
           {"Tesla T4", "sm_75"},
           {"K80", "sm_37"},
           {"H200", "sm_90"},
           {"NVIDIA GH200 480GB", "sm_90"},
           {"GB200", "sm_100"},
           {"B300", "sm_103"},
           {"NVIDIA GB10", "sm_121"},
           {"DGX Spark", "sm_121"},
           {"Quadro RTX 6000", "sm_75"},
           {"NVIDIA RTX A6000", "sm_86"},
           {"NVIDIA RTX 6000 Ada Generation", "sm_89"},
           {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "sm_120"},
           {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "sm_120"},
           {"RTX 5090", "sm_120"},
           {"Jetson AGX Orin 64GB", "sm_87"},
           {"Jetson Thor", "sm_110"},
           {"AMD Instinct MI300X", "gfx942:sramecc+:xnack-"},
           {"mi250x", "gfx90a:sramecc+:xnack-"},
           {"MI355X", "gfx950:sramecc+:xnack-"},
           {"Radeon VII", "gfx906:xnack-"},
           {"AMD Radeon(TM) RX 7900 XTX", "gfx1100"},
           {"7900 xtx", "gfx1100"},
           {"RX 9070 XT", "gfx1201"},
           {"Strix Halo", "gfx1151"},
           {"AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "gfx1151"},
           {"AMD Radeon 890M Graphics", "gfx1150"},
           {"Radeon PRO W7900", "gfx1100"},
           {"Steam Deck", "gfx1033"},
           {"sm_90", "sm_90"},
           {"9.0", "sm_90"},
           {"sm_90a", "sm_90"},
           {"gfx942", "gfx942"},
           {"gfx90a:xnack+", "gfx90a:xnack+"},
       }) {
    std::string arch = "missing";
    try {
      arch = display_name(find_device(row.name).arch, CodeKind::sass);
    } catch (const Error&) {}
    EXPECT_EQ(arch, row.arch) << row.name;
  }
}

TEST(Devices, AnUnknownNameIsAnsweredWithTheNearest) {
  struct Row {
    const char *name, *part;
  };
  for (const Row& row : {Row{"RTX 4095", "RTX 40"},
                         {"MI305X", "MI30"},
                         {"rtx 6000 adda", "RTX 6000 Ada"},
                         {"", "sm_90"},
                         {"NVIDIA", "sm_90"},
                         {"toaster", "sm_90"},
                         {"Ampere", "sm_90"},
                         {"gfx9-4-generic", "sm_90"}}) {
    try {
      FAIL() << row.name << " is " << find_device(row.name).name;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(row.part), std::string::npos) << row.name << ": " << error.what();
    }
  }
}

TEST(Devices, EachIsFoundByItsOwnNameAndHasAnArchitectureOfItsOwnVendor) {
  std::set<std::string> names;
  for (const Device& device : known_devices()) {
    const Device found = find_device(device.name);
    EXPECT_EQ(found.name, device.name);
    EXPECT_EQ(found.arch, device.arch) << device.name;
    EXPECT_TRUE(names.insert(device.name).second) << device.name << " is there twice";
    EXPECT_TRUE(device.arch.suffix.empty()) << device.name;
  }
  EXPECT_GT(names.size(), 250U);
}

}  // namespace
}  // namespace wheelsmith::gpu
