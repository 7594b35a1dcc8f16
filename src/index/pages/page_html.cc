// Pages for installers and users (PEP 503, frozen at version 1.4 by PEP 833). Installers read every <a> of a page as a
// file or a project, so links to other pages are buttons. Users get a table, a command to copy, light and dark colours;
// the page loads nothing from elsewhere, and its content security policy forbids it.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "index/pages/page_parts.h"

namespace wheelsmith::index {

namespace data {
extern const std::string_view page_css;
extern const std::string_view page_js;
}  // namespace data

namespace {

constexpr int k_form = 3;  // of the HTML and JSON below; changing it regenerates all pages

std::string source_hash(std::string_view text) {
  std::string hash = to_base64url(sha256(Bytes(text)));
  std::replace(hash.begin(), hash.end(), '-', '+');
  std::replace(hash.begin(), hash.end(), '_', '/');
  while (hash.size() % 4 != 0) hash += '=';
  return "'sha256-" + hash + "'";
}

std::string policy() {
  return "default-src 'none'; base-uri 'none'; form-action 'self'; style-src " + source_hash(data::page_css) +
         "; script-src " + source_hash(data::page_js);
}

std::string chip(std::string_view text, std::string_view kind = "") {
  return text.empty() ? "" : fmt::format(R"(<span class="chip {}">{}</span>)", kind, html_escaped(text));
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "" : "<br>") + html_escaped(text);
  return result;
}

std::string words_of_tags(std::string_view tags) {
  const std::vector<std::string_view> parts = split(tags, '.');
  return lines_of({parts.begin(), parts.end()});
}

constexpr std::string_view k_file_table =
    "<table class=\"files\"><thead><tr><th>File</th><th class=\"number\">Size</th><th>Python</th><th>Platform</th>"
    "<th>Requires Python</th></tr></thead><tbody>\n";

std::string file_row(const Link& link) {
  std::string row = "<tr><td>" + file_anchor(link);
  if (link.file == nullptr)
    return row + fmt::format("</td><td>{}</td><td></td><td></td><td></td></tr>\n", human_bytes(link.size));
  const File& file = *link.file;
  if (file.yanked) {
    row += fmt::format(" {}<span class=\"why\">{}</span>", chip("yanked", "bad"), html_escaped(*file.yanked));
  }
  row += chip(file.parts.label);
  const bool wheel = file.parts.kind == FileKind::wheel;
  row += fmt::format("</td><td class=\"number\">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                     human_bytes(link.size), wheel ? words_of_tags(file.parts.python) : "source",
                     wheel ? lines_of(platform_words(file.parts.platform)) : "any",
                     html_escaped(file.facts.requires_python));
  return row;
}

std::string meta_of(const ProjectView& view) {
  std::string meta;
  if (view.status == nullptr) return meta;
  meta += fmt::format("<meta name=\"pypi:project-status\" content=\"{}\">\n", enum_name(view.status->status));
  if (!view.status->reason.empty())
    meta +=
        fmt::format("<meta name=\"pypi:project-status-reason\" content=\"{}\">\n", html_escaped(view.status->reason));
  return meta;
}

std::string pip_line(std::string_view up, std::string_view project) {
  return fmt::format(
      "<p class=\"line\"><code id=\"pip\" data-up=\"{}\" data-project=\"{}\">pip install --index-url "
      "URL-OF-THIS-INDEX {}</code> <button id=\"copy\" type=\"button\" hidden>Copy</button></p>\n",
      html_escaped(up), html_escaped(project), html_escaped(project));
}

std::string project_rows(const Index& index) {
  std::string rows;
  for (const Project& project : index.projects) {
    std::uint64_t size = 0;
    for (const File* file : project.files) size += file->stat.size;
    rows += fmt::format(
        "<tr><td><a href=\"{0}/\">{0}</a></td><td>{1}</td><td class=\"number\">{2}</td><td "
        "class=\"number\">{3}</td></tr>\n",
        html_escaped(project.name), project.files.empty() ? "" : html_escaped(project.files.front()->parts.version),
        project.files.size(), human_bytes(size));
  }
  return rows;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return is_valid_utf8(result) ? result : to_valid_utf8(result);
}

std::string url_escaped(std::string_view path) {
  static constexpr char k_digits[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || c == '/';
    if (plain) {
      result += c;
    } else {
      result += {'%', k_digits[byte >> 4], k_digits[byte & 15]};
    }
  }
  return result;
}

std::string page_version() {
  return fmt::format("{}{}{}", k_form, to_hex(sha256(Bytes(data::page_css))), to_hex(sha256(Bytes(data::page_js))));
}

std::string file_anchor(const Link& link) {
  std::string anchor = fmt::format("<a href=\"{}#sha256={}\"", html_escaped(link.url), link.sha256);
  if (link.file != nullptr) {
    const File& file = *link.file;
    const auto attribute = [&](std::string_view name, std::string_view value) {
      anchor += fmt::format(" {}=\"{}\"", name, html_escaped(value));
    };
    if (!file.facts.requires_python.empty()) attribute("data-requires-python", file.facts.requires_python);
    if (file.has_sidecar && !file.facts.metadata_sha256.empty()) {
      attribute("data-core-metadata", "sha256=" + file.facts.metadata_sha256);
      attribute("data-dist-info-metadata", "sha256=" + file.facts.metadata_sha256);
    }
    if (file.yanked) attribute("data-yanked", *file.yanked);
    if (file.has_provenance) attribute("data-provenance", link.url + ".provenance");
    if (file.has_beside(".asc")) attribute("data-gpg-sig", "true");
  }
  return anchor + ">" + html_escaped(link.name) + "</a>";
}

std::string html_page(std::string_view title, std::string_view meta, std::string_view body) {
  static const std::string k_policy = policy();
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"pypi:repository-version\" content=\"1.4\">\n<meta name=\"generator\" content=\"wheelsmith\">\n";
  page += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", html_escaped(k_policy));
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  page += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  page += meta;
  page += fmt::format("<title>{}</title>\n<style>", html_escaped(title));
  page += data::page_css;
  page += "</style>\n</head>\n<body>\n";
  page += body;
  page += "<script>";
  page += data::page_js;
  page += "</script>\n</body>\n</html>\n";
  return page;
}

std::string project_html(const ProjectView& view) {
  const Project& project = *view.project;
  std::string body = "<header><form action=\"../\"><button>All projects</button></form>\n";
  body += fmt::format("<h1>{}</h1>", html_escaped(project.name));
  if (view.status != nullptr) {
    body += chip(enum_name(view.status->status), view.status->status == ProjectStatus::active ? "good" : "bad");
    body += fmt::format(" <span class=\"why\">{}</span>", html_escaped(view.status->reason));
  }
  std::uint64_t total = 0;
  std::size_t versions = 0;
  const std::string* last = nullptr;
  for (const File* file : project.files) {
    total += file->stat.size;
    if (last == nullptr || *last != file->parts.version) ++versions;
    last = &file->parts.version;
  }
  body += fmt::format("<p class=\"quiet\">{}, {}, {}</p>\n", counted(versions, "version"),
                      counted(project.files.size(), "file"), human_bytes(total));
  if (!project.files.empty()) body += pip_line("../", project.name);
  body += "</header>\n<main>\n";
  last = nullptr;
  for (const Link& link : view.links) {
    const std::string* version = link.file != nullptr ? &link.file->parts.version : nullptr;
    if (&link == &view.links.front() || (version == nullptr) != (last == nullptr) ||
        (version != nullptr && *version != *last)) {
      if (&link != &view.links.front()) body += "</tbody></table></section>\n";
      body +=
          fmt::format("<section><h2>{}</h2>{}", version != nullptr ? html_escaped(*version) : "Variants", k_file_table);
    }
    last = version;
    body += file_row(link);
  }
  if (!view.links.empty()) body += "</tbody></table></section>\n";
  return html_page(project.name, meta_of(view), body + "</main>\n");
}

std::string root_html(const RootView& view) {
  std::string body = fmt::format("<header><h1>{}</h1>", html_escaped(view.title));
  body += fmt::format("<p class=\"quiet\">{}, {}</p>\n", counted(view.index->projects.size(), "project"),
                      counted(view.index->file_count(), "file"));
  if (view.lists_projects) body += pip_line("./", "PROJECT");
  if (!view.sub_indexes.empty()) {
    body += "<p class=\"quiet\">Indexes by target:</p><div class=\"places\">";
    for (const std::string& place : view.sub_indexes)
      body += fmt::format("<form action=\"{}/\"><button>{}</button></form>", html_escaped(url_escaped(place)),
                          html_escaped(place));
    body += "</div>\n";
  }
  body += "</header>\n<main>\n";
  if (view.lists_projects) {
    body +=
        "<section><p><input id=\"filter\" type=\"search\" placeholder=\"Filter\" aria-label=\"Filter\" hidden></p>"
        "<table><thead><tr><th>Project</th><th>Newest version</th><th class=\"number\">Files</th>"
        "<th class=\"number\">Size</th></tr></thead><tbody id=\"projects\">\n";
    body += project_rows(*view.index) + "</tbody></table></section>\n";
  }
  if (!view.links.empty()) {
    body += fmt::format("<section><h2>Files</h2>{}", k_file_table);
    for (const Link& link : view.links) body += file_row(link);
    body += "</tbody></table></section>\n";
  }
  return html_page(view.title, "", body + "</main>\n");
}

}  // namespace wheelsmith::index
