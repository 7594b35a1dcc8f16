#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "document/value.h"

namespace wheelsmith::attest {

// What a wheel built by wheelsmith contains about its build, in its .dist-info folder. The wheel is untrusted: none
// of this is proved by being there.
struct CarriedFiles {
  std::string dist_info;  // "small-1.0.dist-info"
  document::Value provenance;
  std::string recipe;                    // TOML
  std::optional<document::Value> build;  // what a rebuild needs; absent in wheels of older versions
  std::optional<std::string> sbom;       // CycloneDX
};

inline constexpr std::string_view k_sbom_name = "sboms/wheelsmith.cdx.json";

// Throws Error for a wheel that was not built by wheelsmith.
CarriedFiles read_carried_files(Bytes wheel);

}  // namespace wheelsmith::attest
