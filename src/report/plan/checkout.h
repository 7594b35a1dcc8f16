#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/style.h"
#include "source/bundle/source_bundle.h"
#include "source/bundle/source_manifest.h"
#include "source/worktree/work_tree.h"

// Checkouts, manifests and bundles of sources.

namespace wheelsmith::report {

struct CheckoutItem {
  std::filesystem::path folder;
  std::string why;  // what determined the ref
  source::CheckoutResult result;
};
std::string checkout_text(const CheckoutItem& item, const Style& style);
std::string checkout_json(const std::vector<CheckoutItem>& items);

// A manifest that was written to `file`.
std::string manifest_json(const std::string& file, const std::vector<source::ManifestProject>& projects);

// The sources that were written to a bundle, or read from one.
std::string written_bundle_text(const std::string& file, const source::BundleContents& contents);
std::string read_bundle_text(const std::string& file, const source::BundleContents& contents);
std::string source_bundle_json(const std::string& file, const source::BundleContents& contents);

}  // namespace wheelsmith::report
