#pragma once

#include <filesystem>
#include <string>

#include "source/source.h"

namespace wheelsmith::source {

struct GitPlace {
  std::string url, ref;
};
// "git+https://host/x.git@v1.2" to the URL and the ref ("" for the default branch).
GitPlace parse_git_url(const std::string& text);

bool is_commit(std::string_view ref);

// The commit that a branch or tag stands for now; asks the remote. A full commit stands for itself. Messages hold no
// credentials.
std::string resolve_ref(const std::string& url, const std::string& ref);

// The files of the pin's commit with its submodules, without history, into an empty folder.
void checkout(const Pin& pin, const std::filesystem::path& folder);

}  // namespace wheelsmith::source
