#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A project's page of a package index: PEP 503 (HTML) and PEP 691 (JSON), with PEP 592 (yanked), 658/714 (metadata),
// 700.

namespace wheelsmith::pep {

struct ProjectFile {
  std::string name;                           // file name
  std::string url;                            // absolute, without fragment
  std::map<std::string, std::string> hashes;  // "sha256" -> lower-case hex; from the fragment or the document
  std::string requires_python;                // specifiers; "" for none
  std::optional<std::string> yanked;          // the reason, may be ""
  std::optional<std::uint64_t> size;
  std::string upload_time;

  [[nodiscard]] bool is_wheel() const;
  [[nodiscard]] bool is_sdist() const;  // .tar.gz, .zip and the older .tar.bz2, .tgz, .tar.xz
};

struct ProjectPage {
  std::string name;
  std::vector<ProjectFile> files;  // in the page's order
};

// `url` is the final URL of the page (after redirects); links are made absolute against it, or against the page's
// <base href>. Both throw Error; both are safe for hostile pages. A file name that is a path is rejected.
ProjectPage parse_project_html(std::string_view html, std::string_view url);
ProjectPage parse_project_json(std::string_view json, std::string_view url);

// By RFC 3986. Used for links of pages and redirects.
std::string resolve_url(std::string_view base, std::string_view reference);
std::string percent_decoded(std::string_view text);
// Escapes characters that a URL must not contain (control characters, spaces, quotes, non-ASCII bytes) as %XX;
// everything else, also '%', stays.
std::string percent_encoded(std::string_view text);
// The path of "file:///a%20b" or "file://host/a"; nothing for any other URL. Query and fragment are left out.
std::optional<std::string> path_of_file_url(std::string_view url);
// "file:///…" of an absolute path; characters with a meaning in URLs are escaped.
std::string file_url(std::string_view absolute_path);

// Whether an untrusted name can be used as a file name: one part, printable, at most 255 bytes, no leading '.' or
// '-'.
bool is_safe_file_name(std::string_view name);

// "torch_scatter-2.1.2.tar.gz" of project "torch-scatter" -> "2.1.2"; nothing if it is a file of another project.
std::optional<std::string> sdist_version(std::string_view file_name, std::string_view project);

}  // namespace wheelsmith::pep
