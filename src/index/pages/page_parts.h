#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/pages/pages.h"
#include "index/variants.h"

// Private to this module: the building blocks of pages.

namespace wheelsmith::index {

// A file as listed on a page: strings are not escaped yet.
struct Link {
  std::string name;
  std::string url;  // without fragment
  std::string sha256;
  std::uint64_t size = 0;
  const File* file = nullptr;  // null: a variants.json
};

struct ProjectView {
  const Project* project = nullptr;
  const Control::Status* status = nullptr;
  std::vector<Link> links;
  unsigned depth = 1;  // of the page's folder below its index
};

struct RootView {
  std::string title;
  const Index* index = nullptr;
  std::vector<std::string> sub_indexes;  // paths, for users
  std::vector<Link> links;               // for find-links pages
  bool lists_projects = true;
};

std::string project_html(const ProjectView& view);
std::string project_json(const ProjectView& view);
std::string root_html(const RootView& view);
std::string root_json(const Index& index);

std::string html_escaped(std::string_view text);
// Escapes everything except letters, digits, "-._~" and '/' as %XX.
std::string url_escaped(std::string_view path);

// The frame of a page: head with style and policy, heading, body, script. `meta` and `body` are HTML.
std::string html_page(std::string_view title, std::string_view meta, std::string_view body);
// The anchor of a file, as the standards require.
std::string file_anchor(const Link& link);
// "manylinux_2_28_x86_64.manylinux_2_34_x86_64" -> {"Linux x86_64, glibc ≥ 2.28"}.
std::vector<std::string> platform_words(std::string_view tags);
// Identifies the page format of this version of the program: style, script and a number.
std::string page_version();

}  // namespace wheelsmith::index
