#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/session.h"
#include "source/git/repositories.h"

// `checkout --bundle` and `--unbundle`, `plan --bundle`.

namespace wheelsmith::cli {

struct BundleWish {
  const recipe::Recipe* recipe = nullptr;
  std::optional<recipe::Variant> variant;
  std::string target;
  std::string origin, ref;  // "" for a source that is no git repository
  std::optional<std::vector<std::string>> submodules;
};

int bundle_sources(const std::vector<BundleWish>& wishes, const std::string& file, Session& session,
                   source::Repositories& repositories, const OutputOptions& output);
int bundle_plan(const plan::Plan& plan, const std::string& file, Session& session, const OutputOptions& output);
int unbundle_sources(const std::string& file, Session& session, const OutputOptions& output);

}  // namespace wheelsmith::cli
