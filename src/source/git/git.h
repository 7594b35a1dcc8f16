#pragma once

#include <string>
#include <string_view>

#include "source/git/git_command.h"
#include "source/git/repositories.h"
#include "source/source.h"

namespace wheelsmith::source {

struct GitPlace {
  std::string url, ref;
};
// "git+https://host/x.git@v1.2" to the URL and the ref ("" for the default branch).
GitPlace parse_git_url(const std::string& text);

// The version that a tag names: "v1.2", "NAME-v1.2", "release-1.2"; "" for other tags. In its normal form.
std::string version_of_tag(std::string_view tag, std::string_view project);

// Identifies a pinned commit in keys. Packages derive their version from the tag, so it affects the result, too.
std::string git_digest(const Pin& pin);

Repositories repositories_for(fetch::Fetcher& fetcher, store::Store& store);
GitTree tree_of(const Pin& pin);

}  // namespace wheelsmith::source
