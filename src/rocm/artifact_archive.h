#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rocm/artifacts.h"

namespace wheelsmith::rocm {

inline constexpr const char* k_artifact_manifest = "artifact_manifest.txt";

// The base folders without duplicates. Throws Error for one that leads out of the artifact.
std::vector<std::string> read_artifact_manifest(std::string_view text);

// An artifact that is an archive; its contents are unpacked into a file in `scratch`.
Artifact read_artifact_archive(const std::filesystem::path& file, ArtifactName name,
                               const std::filesystem::path& scratch, std::vector<Finding>& findings);

}  // namespace wheelsmith::rocm
