#include "source/git/git.h"

#include <algorithm>

#include "base/text.h"
#include "pep/version.h"

namespace wheelsmith::source {

namespace {

// As project names are compared; '/' also occurs in tags.
std::string plain_name(std::string_view text) {
  std::string name = to_lower(text);
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '_' || c == '.' || c == '/'; }, '-');
  return name;
}

}  // namespace

GitPlace parse_git_url(const std::string& text) {
  std::string_view rest = text;
  if (rest.starts_with("git+")) rest.remove_prefix(4);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t scheme = rest.find("://");
  const std::size_t path = rest.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  const std::size_t at = rest.rfind('@');
  // An '@' before the path belongs to the user's name.
  if (at == std::string_view::npos || path == std::string_view::npos || at < path) return {std::string(rest), ""};
  return {std::string(rest.substr(0, at)), std::string(rest.substr(at + 1))};
}

std::string version_of_tag(std::string_view tag, std::string_view project) {
  const std::string name = plain_name(project) + "-";
  for (bool stripped = true; stripped && !tag.empty();) {
    if (const auto version = pep::Version::try_parse(tag)) return version->to_string();
    stripped = false;
    const std::string plain = plain_name(tag);
    for (const std::string_view prefix :
         {std::string_view(name), std::string_view("release-"), std::string_view("releases-"), std::string_view("rel-"),
          std::string_view("version-"), std::string_view("v-")}) {
      if (stripped || prefix == "-" || !plain.starts_with(prefix)) continue;
      tag.remove_prefix(prefix.size());
      stripped = true;
    }
  }
  return "";
}

Repositories repositories_for(fetch::Fetcher& fetcher, store::Store& store) {
  const fetch::FetchOptions& options = fetcher.options();
  Repositories repositories(store, options.mirrors, options.offline, options.stop);
  if (const auto& told = options.on_progress)
    repositories.on_progress([told](const std::string& sentence) { told({sentence, 0, 0}); });
  return repositories;
}

GitTree tree_of(const Pin& pin) { return {pin.git_url, pin.git_commit, pin.git_ref, pin.git_tag, pin.submodules}; }

}  // namespace wheelsmith::source
