#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "index/indexes.h"

namespace wheelsmith::index {

inline constexpr std::string_view k_html_type = "text/html; charset=utf-8";
inline constexpr std::string_view k_json_type = "application/vnd.pypi.simple.v1+json";

struct PageOptions {
  std::string title = "Package index";
  std::string base_url;  // of the indexed folder; "": links are relative
  std::string to_files;  // from the folder of the pages to the indexed one, with a trailing '/'; "": the same
  bool html = true;
  bool json = true;
  bool find_links = false;
};

// A page to render. The result of render() depends only on the inputs of the fingerprint.
struct Page {
  std::string path;  // "torch/index.html"
  std::string fingerprint;
  std::function<std::string()> render;
};

// All pages of all indexes, sorted by path. They refer to the indexes and the catalogue, which must outlive them.
std::vector<Page> make_pages(const std::vector<Index>& indexes, const Catalogue& catalogue, const PageOptions& options,
                             std::vector<Finding>* findings);

}  // namespace wheelsmith::index
