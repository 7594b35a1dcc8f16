#include <optional>

#include "base/text.h"
#include "pep/project/html.h"
#include "pep/project/project_file_list.h"
#include "pep/wheel_name.h"

namespace wheelsmith::pep {

namespace {

std::string page_name(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  if (url.ends_with("/index.html")) url.remove_suffix(std::string_view("index.html").size());
  while (url.ends_with('/')) url.remove_suffix(1);
  const std::string name = percent_decoded(base_name(url));
  return is_safe_file_name(name) ? normalized_name(name) : "";
}

void add_anchor(FileList& files, const HtmlTag& tag, std::string_view text) {
  const std::string* link = tag.find("href");
  if (link == nullptr) return;
  ProjectFile file;
  if (const std::string* value = tag.find("data-requires-python")) file.requires_python = trim(*value);
  if (const std::string* value = tag.find("data-yanked")) file.yanked = *value;
  files.add(std::move(file), *link, text);
}

}  // namespace

ProjectPage parse_project_html(std::string_view html, std::string_view url) {
  FileList files(url);
  HtmlReader reader(html);
  bool has_base = false;
  std::optional<HtmlTag> anchor;  // open: its text comes before the next tag
  for (std::optional<HtmlTag> tag = reader.next();; tag = reader.next()) {
    if (anchor) add_anchor(files, *anchor, reader.text_before());
    anchor.reset();
    if (!tag) break;
    if (tag->name == "a") {
      anchor = std::move(tag);
    } else if (tag->name == "base" && !has_base) {
      if (const std::string* base = tag->find("href")) {
        files.set_base(resolve_url(url, trim(*base)));
        has_base = true;
      }
    } else if (tag->name == "meta") {
      const std::string* name = tag->find("name");
      const std::string* content = tag->find("content");
      if (name != nullptr && content != nullptr && *name == "pypi:repository-version") {
        check_repository_version(*content);
      }
    }
  }
  return {.name = page_name(url), .files = files.take()};
}

}  // namespace wheelsmith::pep
