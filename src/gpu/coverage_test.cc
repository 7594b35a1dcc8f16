#include "gpu/coverage.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace wheelsmith::gpu {
namespace {

// "sm_80 compute_90 gfx942" to pieces, one for each word.
std::vector<CodePiece> pieces(std::string_view text) {
  std::vector<CodePiece> found;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const ArchRequest request = ArchList::parse(word).requests.at(0);
    const CodeKind kind = word.starts_with("lto_")             ? CodeKind::ltoir
                          : request.arch.vendor == Vendor::amd ? CodeKind::hip
                          : request.binary                     ? CodeKind::sass
                                                               : CodeKind::ptx;
    found.push_back({request.arch, kind});
  }
  return found;
}

std::string word_of(Coverage::State state) {
  constexpr const char* k_words[] = {"exact", "compatible", "jit", "missing"};
  return k_words[static_cast<std::size_t>(state)];
}

std::string shown(const Coverage& coverage) {
  std::vector<std::string> words;
  for (const Coverage::Item& item : coverage.items) {
    std::string word = to_string(item.request) + " " + word_of(item.state);
    if (!item.by.empty()) word += " " + item.by;
    words.push_back(word);
  }
  return join(words, ", ") + (coverage.unasked.empty() ? "" : " | " + join(coverage.unasked, " "));
}

TEST(Coverage, OfAList) {
  struct Row {
    const char *there, *wanted, *expected;
  };
  for (const Row& row : {
           Row{"sm_80 sm_90", "8.0;9.0", "8.0 exact sm_80, 9.0 exact sm_90"},
           {"sm_80", "8.6", "8.6 compatible sm_80"},
           {"sm_80 sm_86", "8.9", "8.9 compatible sm_86 | sm_80"},
           {"sm_86", "8.0", "8.0 missing | sm_86"},
           {"sm_80", "9.0", "9.0 missing | sm_80"},
           {"compute_80", "9.0", "9.0 jit compute_80"},
           {"compute_70 compute_80", "9.0", "9.0 jit compute_80 | compute_70"},
           {"sm_90 compute_80", "9.0", "9.0 exact sm_90 | compute_80"},
           {"sm_90a", "9.0a", "9.0a exact sm_90a"},
           {"sm_90", "9.0a", "9.0a compatible sm_90"},
           {"sm_90a", "9.0", "9.0 compatible sm_90a"},
           {"sm_90a", "10.0", "10.0 missing | sm_90a"},
           {"sm_100a", "10.0f", "10.0f missing | sm_100a"},
           {"sm_100", "10.0f", "10.0f compatible sm_100"},
           {"sm_100f", "10.3", "10.3 compatible sm_100f"},
           {"sm_100a", "10.3", "10.3 missing | sm_100a"},
           {"sm_90 compute_90", "9.0+PTX", "9.0 exact sm_90, compute_90 exact compute_90"},
           {"sm_90 compute_80", "9.0+PTX", "9.0 exact sm_90, compute_90 compatible compute_80"},
           {"sm_90", "9.0+PTX", "9.0 exact sm_90, compute_90 missing"},
           {"sm_90 compute_90a", "9.0+PTX", "9.0 exact sm_90, compute_90 missing | compute_90a"},
           {"compute_100f", "compute_103f", "compute_103f compatible compute_100f"},
           {"compute_120", "9.0+PTX", "9.0 missing, compute_90 missing | compute_120"},
           {"sm_90 compute_90", "9.0", "9.0 exact sm_90 | compute_90"},
           {"sm_75 sm_80 sm_90 compute_90", "8.0", "8.0 exact sm_80 | sm_75 sm_90 compute_90"},
           {"lto_90", "9.0", "9.0 missing"},
           {"lto_80 lto_90 sm_90 sm_80", "9.0", "9.0 exact sm_90 | sm_80"},
           {"sm_80", "8.7", "8.7 missing | sm_80"},
           {"gfx942", "gfx942", "gfx942 exact gfx942"},
           {"gfx90a:xnack+ gfx90a:xnack-", "gfx90a", "gfx90a compatible gfx90a:xnack- | gfx90a:xnack+"},
           {"gfx90a", "gfx90a:xnack-", "gfx90a:xnack- compatible gfx90a"},
           {"gfx9-4-generic amdgcnspirv", "gfx942", "gfx942 compatible gfx9-4-generic | amdgcnspirv"},
           {"gfx9-4-generic gfx942:xnack-", "gfx942", "gfx942 compatible gfx942:xnack- | gfx9-4-generic"},
           {"amdgcnspirv", "gfx1151", "gfx1151 jit amdgcnspirv"},
           {"gfx942", "gfx9-4-generic", "gfx9-4-generic missing | gfx942"},
           {"gfx942", "9.0", "9.0 missing | gfx942"},
           {"", "9.0", "9.0 missing"},
       }) {
    EXPECT_EQ(shown(cover(pieces(row.there), ArchList::parse(row.wanted))), row.expected)
        << row.wanted << " of " << row.there;
  }
}

TEST(Coverage, OfADevice) {
  struct Row {
    const char *there, *device, *expected;
  };
  for (const Row& row : {
           Row{"sm_80 sm_90", "H200", "9.0 exact sm_90 | sm_80"},
           {"sm_80 sm_90a", "H200", "9.0 exact sm_90a | sm_80"},
           {"sm_80 sm_86 compute_80", "RTX 4090", "8.9 compatible sm_86"},
           {"sm_80 compute_80", "H100", "9.0 jit compute_80 | sm_80"},
           {"sm_100a sm_100f", "B300", "10.3 compatible sm_100f | sm_100a"},
           {"sm_120", "DGX Spark", "12.1 compatible sm_120"},
           {"sm_80 sm_90", "Jetson AGX Orin", "8.7 missing | sm_80 sm_90"},
           {"gfx942 gfx1100", "MI300X", "gfx942:sramecc+:xnack- exact gfx942 | gfx1100"},
           {"gfx942:xnack+", "MI300X", "gfx942:sramecc+:xnack- missing | gfx942:xnack+"},
           {"gfx11-generic", "Strix Halo", "gfx1151 compatible gfx11-generic"},
       }) {
    EXPECT_EQ(shown(cover(pieces(row.there), find_device(row.device))), row.expected)
        << row.device << " with " << row.there;
  }
  EXPECT_EQ(cover({}, find_device("H200")).items.at(0).state, Coverage::State::missing);
  EXPECT_EQ(cover(pieces("compute_80"), find_device("H200")).items.at(0).state, Coverage::State::jit);
}

}  // namespace
}  // namespace wheelsmith::gpu
