#include <algorithm>
#include <stdexcept>

#include "base/hash.h"
#include "report/build/build_report.h"

// The page consists of static HTML, CSS and JavaScript, and the report's JSON document. Text from records, logs and
// wheels is only in that document, and the script displays it as text, never as markup. As a second line of defence,
// the page's content security policy allows only the embedded script, by its hash, and no loading from other places.

namespace wheelsmith::report {

namespace data {
extern const std::string_view report_html;
extern const std::string_view report_css;
extern const std::string_view tables_js;
extern const std::string_view timeline_js;
extern const std::string_view panels_js;
extern const std::string_view controls_js;
extern const std::string_view page_js;
}  // namespace data

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

std::string to_html(const BuildReport& report) {
  const std::string style = "\n" + std::string(data::report_css);
  std::string script = "\n\"use strict\";\n";
  for (const std::string_view part :
       {data::tables_js, data::timeline_js, data::panels_js, data::controls_js, data::page_js})
    script += part;
  const std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " +
                             source_hash(style) + "; script-src " + source_hash(script);
  // Only the template is searched for placeholders; the inserted texts may contain anything.
  std::string page;
  std::string_view rest = data::report_html;
  const auto put = [&](std::string_view place, std::string_view text) {
    const std::size_t at = rest.find(place);
    if (at == rest.npos) throw std::logic_error("the report's template has no " + std::string(place));
    page += rest.substr(0, at);
    page += text;
    rest.remove_prefix(at + place.size());
  };
  put("@POLICY@", policy);
  put("@STYLE@", style);
  put("@VERSION@", WHEELSMITH_VERSION);
  put("@DATA@", json_for_html(to_value(report)));
  put("@SCRIPT@", script);
  page += rest;
  return page;
}

}  // namespace wheelsmith::report
