// module: source
// Texts that name sources: checkout manifests, PyTorch's lists of related commits, repository URLs. A manifest's paths
// stay inside, and parsed texts round-trip.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "archive/archive.h"
#include "base/error.h"
#include "source/bundle/source_manifest.h"
#include "source/git/git.h"
#include "source/source.h"
#include "source/torch_pins.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const auto projects = source::parse_manifest(text, "manifest.json");
    for (const source::ManifestProject& project : projects) {
      if (project.name.find('/') != std::string::npos || project.repo.starts_with('-')) std::abort();
      for (const auto& [path, commit] : project.submodules) {
        if (!archive::is_plain_name(path) || commit.size() != 40) std::abort();
      }
    }
    const std::string written = source::to_json(projects);
    if (source::to_json(source::parse_manifest(written, "manifest.json")) != written) std::abort();
  } catch (const Error&) {}
  try {
    (void)source::parse_related_commits(text, "related_commits");
  } catch (const Error&) {}
  try {
    (void)source::parse_pin(text, "pin.txt");
  } catch (const Error&) {}
  try {
    (void)source::parse_git_url(text);
  } catch (const Error&) {}
  try {
    (void)source::parse_override(text);
  } catch (const Error&) {}
  return 0;
}
