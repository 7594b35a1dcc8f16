#include "report/wheel/diff.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "report/json_document.h"

namespace wheelsmith::report {

namespace {

constexpr std::size_t k_most_of_a_kind = 25;

std::string difference_text(const wheel::Difference& one) {
  std::string text = "  " + printable(one.subject);
  if (one.right.empty())
    text += fmt::format(" - {}", printable(one.left));
  else if (one.left.empty())
    text += fmt::format(" + {}", printable(one.right));
  else
    text += fmt::format(": {} | {}", printable(one.left), printable(one.right));
  text += '\n';
  for (const std::string& reason : one.reasons) text += fmt::format("      {}\n", printable(reason));
  return text;
}

}  // namespace

std::string diff_text(const wheel::Diff& diff, const Style& style) {
  if (diff.equal()) return "no differences\n";
  std::map<wheel::Difference::Kind, std::size_t> counts;
  for (const wheel::Difference& one : diff.differences) ++counts[one.kind];
  std::string text;
  std::map<wheel::Difference::Kind, std::size_t> shown;
  for (const wheel::Difference& one : diff.differences) {
    std::size_t& count = shown[one.kind];
    if (count == 0) text += style.bold(fmt::format("{} ({})", enum_name(one.kind), counts[one.kind])) + "\n";
    ++count;
    if (style.details || count <= k_most_of_a_kind) text += difference_text(one);
    if (!style.details && count == counts[one.kind] && count > k_most_of_a_kind)
      text += fmt::format("  {} more; --all shows them\n", count - k_most_of_a_kind);
  }
  return text;
}

std::string diff_json(const std::string& left, const std::string& right, const wheel::Diff& diff) {
  document::Table document = new_document();
  document["left"] = left;
  document["right"] = right;
  document["equal"] = diff.equal();
  document::Array differences;
  for (const wheel::Difference& one : diff.differences) {
    document::Table item;
    item["kind"] = std::string(enum_name(one.kind));
    item["subject"] = one.subject;
    item["left"] = one.left.empty() ? document::Value() : document::Value(one.left);
    item["right"] = one.right.empty() ? document::Value() : document::Value(one.right);
    if (!one.reasons.empty()) item["reasons"] = text_array(one.reasons);
    differences.emplace_back(std::move(item));
  }
  document["differences"] = std::move(differences);
  return document_text(document);
}

}  // namespace wheelsmith::report
