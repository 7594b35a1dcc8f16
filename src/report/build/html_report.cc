#include "report/build/build_report.h"
#include "report/html_page.h"

// The page of `report`: html_page.cc says how it is put together.

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

std::string to_html(const BuildReport& report) {
  std::string script;
  for (const std::string_view part :
       {data::tables_js, data::timeline_js, data::panels_js, data::controls_js, data::page_js})
    script += part;
  return html_page(data::report_html, data::report_css, script, to_value(report));
}

}  // namespace wheelsmith::report
