// A page consists of static HTML, CSS and JavaScript, and a JSON document. Text from records, logs and wheels is only
// in that document, and the script displays it as text, never as markup. As a second line of defence, the page's
// content security policy allows only the embedded script, by its hash, and no loading from other places.

#include "report/html_page.h"

#include <algorithm>
#include <stdexcept>

#include "base/hash.h"

namespace wheelsmith::report {

namespace {

// JSON that is safe inside an HTML element: escapes characters that JSON has only inside strings.
std::string json_for_html(const document::Value& value) {
  const std::string json = document::to_json(value, -1);
  std::string safe;
  safe.reserve(json.size() + json.size() / 16);
  for (const char c : json) {
    switch (c) {
      case '<': safe += "\\u003c"; break;
      case '>': safe += "\\u003e"; break;
      case '&': safe += "\\u0026"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string source_hash(std::string_view text) {
  std::string hash = to_base64url(sha256(Bytes(text)));
  std::replace(hash.begin(), hash.end(), '-', '+');
  std::replace(hash.begin(), hash.end(), '_', '/');
  while (hash.size() % 4 != 0) hash += '=';
  return "'sha256-" + hash + "'";
}

}  // namespace

std::string html_page(std::string_view page_template, std::string_view page_style, std::string_view page_script,
                      const document::Value& document) {
  const std::string style = "\n" + std::string(page_style);
  const std::string script = "\n\"use strict\";\n" + std::string(page_script);
  const std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " +
                             source_hash(style) + "; script-src " + source_hash(script);
  // Only the template is searched for placeholders; the inserted texts may contain anything.
  std::string page;
  std::string_view rest = page_template;
  const auto put = [&](std::string_view place, std::string_view text) {
    const std::size_t at = rest.find(place);
    if (at == rest.npos) throw std::logic_error("the page's template has no " + std::string(place));
    page += rest.substr(0, at);
    page += text;
    rest.remove_prefix(at + place.size());
  };
  put("@POLICY@", policy);
  put("@STYLE@", style);
  put("@VERSION@", WHEELSMITH_VERSION);
  put("@DATA@", json_for_html(document));
  put("@SCRIPT@", script);
  page += rest;
  return page;
}

}  // namespace wheelsmith::report
