#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "gpu/arch.h"

namespace wheelsmith::gpu {
namespace {

std::string why_not(std::string_view text) {
  try {
    return "accepted as " + ArchList::parse(text).to_string();
  } catch (const Error& error) {
    return error.what();
  }
}

// Every notation, and the same list as torch and AMD would write it.
TEST(ArchList, ReadsEveryNotation) {
  struct Row {
    const char *text, *expected;
  };
  for (const Row& row : {
           // torch
           Row{"8.0;8.6 9.0a+PTX", "8.0;8.6;9.0a+PTX"},
           {"8.0+PTX", "8.0+PTX"},
           {"10.0f", "10.0f"},
           {"12.1a", "12.1a"},
           {"7.5,7.5;7.5+ptx", "7.5+PTX"},
           {"Kepler+Tesla Maxwell", "3.7;5.0;5.2+PTX"},
           {"Kepler;Pascal", "3.5+PTX;6.0;6.1+PTX"},
           {"Maxwell+Tegra Volta+Tegra Ampere+Tegra Blackwell+Tegra", "5.3;7.2;8.7;11.0"},
           {"Volta", "7.0+PTX"},
           {"turing", "7.5+PTX"},
           {"Ampere", "8.0;8.6+PTX"},
           {"Ampere+PTX", "8.0;8.6+PTX"},
           {"Blackwell+Tegra+PTX", "11.0+PTX"},
           {"Ada HOPPER", "8.9+PTX;9.0+PTX"},
           {"Blackwell", "10.0;10.3;12.0;12.1+PTX"},
           {"Rubin", "10.7+PTX"},
           // CMake; variants of wheels
           {"80-real;90a-virtual;100f", "8.0;compute_90a;10.0f"},
           {"80;90;100;110;120", "8.0;9.0;10.0;11.0;12.0"},
           {"90-real;90-virtual", "9.0+PTX"},
           {"90_real, 80_virtual", "9.0;compute_80"},
           // nvcc
           {"sm_90a", "9.0a"},
           {"SM90", "9.0"},
           {"compute_90", "compute_90"},
           {"lto_90", "9.0"},
           {"sm_90 compute_90", "9.0+PTX"},
           {"-gencode=arch=compute_80,code=sm_80", "8.0"},
           {"-gencode arch=compute_90a,code=[sm_90a,compute_90a]", "9.0a+PTX"},
           {"-gencode arch=compute_90,code=\\\"sm_90,compute_90\\\"", "9.0+PTX"},
           {"--generate-code=arch=compute_75,code=[compute_75,sm_75]", "7.5+PTX"},
           {"--generate-code arch=compute_80,code=compute_80", "compute_80"},
           {"arch=compute_80,code=compute_80", "compute_80"},
           {"-gencode=arch=compute_80,code=sm_86 -gencode=arch=compute_90,code=sm_90", "8.6;9.0"},
           {"-gencode arch=compute_100f,code=sm_100 -gencode arch=compute_120,code=sm_120", "10.0f;12.0"},
           {"-arch=sm_90", "9.0+PTX"},
           {"-arch sm_90 8.0", "9.0+PTX;8.0"},
           {"-arch=compute_80", "compute_80"},
           {"--gpu-architecture=compute_80 --gpu-code=sm_86,compute_80", "8.6;compute_80"},
           // AMD
           {"gfx1151", "gfx1151"},
           {"GFX90A:xnack-", "gfx90a:xnack-"},
           {"gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-"},
           {"gfx9-4-generic;amdgcnspirv", "gfx9-4-generic;amdgcnspirv"},
           {"--offload-arch=gfx942 --offload-arch gfx950", "gfx942;gfx950"},
           {"gfx94X-dcgpu", "gfx942"},
           {"gfx110X-all", "gfx1100;gfx1101;gfx1102;gfx1103"},
           {"gfx110X-dgpu", "gfx1100;gfx1101;gfx1102"},
           {"gfx120X-all gfx1201", "gfx1200;gfx1201"},
           {"gfx90X-dcgpu", "gfx906;gfx908;gfx90a"},
           {"GFX103x-DGPU", "gfx1030;gfx1031;gfx1032;gfx1034"},
           {"gfx101X-dgpu", "gfx1010;gfx1011;gfx1012"},
           {"gfx950-dcgpu", "gfx950"},
           // separators, quotes, the unheard-of
           {" ;, \"8.0;9.0\" ,;\n", "8.0;9.0"},
           {"['8.0', '9.0']", "8.0;9.0"},
           {"sm_77;gfx9999;19.9", "7.7;gfx9999;19.9"},
           {"9.0;gfx942", "9.0;gfx942"},
       }) {
    EXPECT_EQ(why_not(row.text), std::string("accepted as ") + row.expected) << row.text;
  }
}

TEST(ArchList, SaysWhatIsWrong) {
  struct Row {
    const char *text, *part;
  };
  for (const Row& row : {
           Row{"", "empty"},
           {" ;,\"\" ", "empty"},
           {"native", "the local GPU"},
           {"8.0;all", "compiler"},
           {"all-major", "compiler"},
           {"Auto", "the local GPU"},
           {"sm_9Oa", "did you mean sm_90a"},
           {"Hoper", "did you mean hopper"},
           {"gfx94X-dcgp", "did you mean gfx94X-dcgpu"},
           {"gfx9-5-generic", "-generic"},
           {"compte_90", "did you mean compute_90"},
           {"8", "did you mean 8.0"},
           {"1.0", "2.0 to 19.9"},
           {"200", "2.0 to 19.9"},
           {"08.0", "unknown"},
           {"9.00", "unknown"},
           {"9.", "unknown"},
           {".9", "unknown"},
           {"8.0a", "from 9.0a on"},
           {"9.0f", "from 10.0f on"},
           {"9.0b", "did you mean 9.0"},
           {"sm_90-real", "unknown"},
           {"99999999999999999999", "unknown"},
           {"gfx", "unknown"},
           {"gfx90", "unknown"},
           {"gfx942+PTX", "unknown"},
           {"gfx90a:xnak-", "unknown feature 'xnak-'"},
           {"gfx90a:xnack", "unknown feature"},
           {"gfx90a:", "unknown feature"},
           {"gfx90a:xnack-:xnack+", "twice"},
           {"gfx94X-dcgpu:xnack+", "unknown"},
           {"8.0 -arch", "missing"},
           {"-gencode arch=compute_80,code=gfx942", "unknown"},
           {"-arch=native", "the local GPU"},
           {"8.0\x1b[31m", "\\x1b"},
           {"+PTX", "unknown"},
       }) {
    EXPECT_NE(why_not(row.text).find(row.part), std::string::npos) << row.text << ": " << why_not(row.text);
  }
}

TEST(ArchList, HostileTextEndsSoon) {
  std::string distinct;
  for (int i = 0; i < 60000; ++i) distinct += "gfx" + std::to_string(10000 + i % 89999) + " ";
  EXPECT_EQ(ArchList::parse(distinct).requests.size(), 60000U);
  const std::string why = why_not(std::string(1'000'000, 'x'));
  EXPECT_LT(why.size(), 300U);
}

ArchRequest random_request(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  if (below(3) == 0) {
    static const char* const k_targets[] = {"gfx942",         "gfx90a:xnack-", "gfx90a:sramecc+:xnack-",
                                            "gfx9-4-generic", "amdgcnspirv",   "gfx1151",
                                            "gfx9999",        "gfx11-generic", "gfx90c"};
    return {amd_arch(k_targets[below(std::size(k_targets))]), true, false};
  }
  const auto number = static_cast<std::uint32_t>(20 + below(180));
  const char* const suffixes[] = {"", "a", "f"};
  const std::uint64_t choices = number >= 100 ? 3 : number >= 90 ? 2 : 1;
  const std::uint64_t form = below(3);
  return {nvidia_arch(number, suffixes[below(choices)]), form != 0, form != 1};
}

TEST(ArchList, WhatIsWrittenIsReadBack) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    ArchList list;
    for (std::uint64_t i = 0; i <= random() % 8; ++i) {
      const ArchRequest request = random_request(random);
      const auto same = [&](const ArchRequest& other) { return other.arch == request.arch; };
      if (std::none_of(list.requests.begin(), list.requests.end(), same)) list.requests.push_back(request);
    }
    ASSERT_EQ(ArchList::parse(list.to_string()), list) << list.to_string();
  }
}

}  // namespace
}  // namespace wheelsmith::gpu
