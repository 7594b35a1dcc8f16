#include "report/wheel/treemap.h"

#include "report/html_page.h"
#include "report/json_document.h"

namespace wheelsmith::report {

namespace data {
extern const std::string_view report_css;
extern const std::string_view treemap_css;
extern const std::string_view treemap_html;
extern const std::string_view treemap_js;
}  // namespace data

namespace {

document::Table size_node_table(const wheel::SizeNode& node) {
  document::Table table;
  table["name"] = node.name;
  table["kind"] = wheel::to_string(node.kind);
  if (!node.type.empty()) table["type"] = node.type;
  table["bytes"] = node.bytes;
  if (node.packed_bytes != 0) table["packed"] = node.packed_bytes;
  if (!node.children.empty()) {
    document::Array children;
    for (const wheel::SizeNode& child : node.children) children.emplace_back(size_node_table(child));
    table["children"] = std::move(children);
  }
  return table;
}

}  // namespace

std::string treemap_html(const wheel::SizeNode& tree, std::uint64_t file_bytes) {
  document::Table document = new_document();
  document["file_bytes"] = file_bytes;
  document["tree"] = size_node_table(tree);
  return html_page(data::treemap_html, std::string(data::report_css) + std::string(data::treemap_css), data::treemap_js,
                   document);
}

}  // namespace wheelsmith::report
