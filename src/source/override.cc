#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "source/source.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

// NAME==VERSION never means a file of that name, which another user may have put into the current folder.
bool is_there(const std::string& text) {
  std::error_code ignored;
  if (text.find('/') == std::string::npos && text.find("==") != std::string::npos) return false;
  return !text.empty() && fs::exists(text, ignored);
}

bool is_url(std::string_view text) { return text.find("://") != std::string_view::npos || text.starts_with("git+"); }

void check_url(const std::string& url) {
  const bool git = url.starts_with("git+");
  const std::string_view plain = git ? std::string_view(url).substr(4) : std::string_view(url);
  const std::string scheme = to_lower(plain.substr(0, plain.find("://")));
  const bool known = scheme == "https" || scheme == "file" || (git ? scheme == "ssh" : scheme == "http");
  if (known && (git || !plain.ends_with(".git"))) return;
  const std::string shown = printable(fetch::without_credentials(plain));
  if (!git && (scheme == "ssh" || plain.ends_with(".git"))) {
    throw Error(fmt::format("{} looks like a repository; use git+{}", shown, shown));
  }
  throw Error(fmt::format("{}: unsupported protocol \"{}\"; use {}", shown, printable(scheme),
                          git ? "https, ssh or file" : "https, http or file"));
}

bool looks_like_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.starts_with('.') || text.ends_with(".gz") ||
         text.ends_with(".zip") || text.ends_with(".xz") || text.ends_with(".zst") || text.ends_with(".tar");
}

void read_what(const std::string& text, Override& result) {
  if (is_there(text)) {
    result.path = fs::absolute(text).lexically_normal();
  } else if (is_url(text)) {
    check_url(text);
    result.url = text;
  } else if (looks_like_path(text)) {
    throw Error(fmt::format("--source {}: no such file or folder", printable(text)));
  } else {
    const pep::Requirement requirement = pep::Requirement::parse(text);
    if (requirement.specifiers.empty() || !requirement.extras.empty() || !requirement.marker.empty()) {
      throw Error("no version");
    }
    result.project = requirement.name;
    std::vector<std::string> parts;
    for (const pep::Specifier& specifier : requirement.specifiers) parts.push_back(specifier.op + specifier.version);
    result.specifier = join(parts, ",");
  }
}

}  // namespace

Override parse_override(const std::string& text) {
  Override result;
  result.text = text;
  std::string what = text;
  const std::size_t equals = text.find('=');
  const bool named = !is_there(text) && equals != std::string::npos && equals + 1 < text.size() &&
                     text[equals + 1] != '=' && pep::is_valid_name(std::string_view(text).substr(0, equals));
  if (named) {
    result.name = text.substr(0, equals);
    what = text.substr(equals + 1);
  }
  try {
    read_what(what, result);
  } catch (const Error& error) {
    if (is_url(what) || looks_like_path(what)) throw;
    throw Error(fmt::format("--source {} is not an existing file or folder, a URL, or NAME==VERSION", printable(text)));
  }
  return result;
}

}  // namespace wheelsmith::source
