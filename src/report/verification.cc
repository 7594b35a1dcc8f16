#include "report/verification.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_document.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Table;
using document::Value;

Array signatures_value(const std::vector<attest::CheckedSignature>& signatures) {
  Array items;
  for (const attest::CheckedSignature& signature : signatures) {
    Table item;
    item["path"] = signature.path.string();
    item["method"] = enum_name(signature.method);
    item["state"] = enum_name(signature.result.state);
    item["signer"] = signature.result.signer;
    item["why"] = signature.result.why;
    items.emplace_back(std::move(item));
  }
  return items;
}

Value statement_value(const attest::WheelVerification& item) {
  Table statement;
  statement["path"] = item.statement.string();
  statement["state"] = item.statement.empty() ? "absent" : item.statement_problems.empty() ? "good" : "bad";
  statement["problems"] = text_array(item.statement_problems);
  statement["signatures"] = signatures_value(item.statement_signatures);
  return statement;
}

std::string signature_lines(const std::vector<attest::CheckedSignature>& signatures, const Style& style) {
  using State = attest::Verification::State;
  std::string text;
  for (const attest::CheckedSignature& signature : signatures) {
    const State state = signature.result.state;
    const std::string word(enum_name(state));
    text += fmt::format(
        "  {}: {}{}\n", printable(signature.path.filename().string()),
        state == State::good  ? style.green("good")
        : state == State::bad ? style.red(word)
                              : style.yellow(word),
        state == State::good ? ", by " + printable(signature.result.signer) : ": " + printable(signature.result.why));
  }
  return text;
}

}  // namespace

std::string verification_text(const attest::WheelVerification& item, const Style& style) {
  const std::string why = item.why();
  std::string text =
      fmt::format("{}: {}\n", printable(item.path.string()), why.empty() ? style.green("good") : style.red("bad"));
  if (!why.empty()) text += "  " + printable(why) + "\n";
  text += signature_lines(item.signatures, style);
  for (const std::string& problem : item.statement_problems)
    text += fmt::format("  {}: {}\n", printable(item.statement.filename().string()), printable(problem));
  if (!item.statement.empty() && item.statement_problems.empty())
    text += fmt::format("  {}: {}\n", printable(item.statement.filename().string()), "agrees with the wheel");
  return text + signature_lines(item.statement_signatures, style);
}

std::string verifications_json(const std::vector<attest::WheelVerification>& items) {
  Table document = new_document();
  Array list;
  for (const attest::WheelVerification& item : items) {
    Table table;
    table["path"] = item.path.string();
    table["verdict"] = item.good() ? "good" : "bad";
    table["why"] = item.why();
    table["sha256"] = item.sha256;
    table["signatures"] = signatures_value(item.signatures);
    table["statement"] = statement_value(item);
    if (!item.error.empty()) table["error"] = item.error;
    list.emplace_back(std::move(table));
  }
  document["items"] = std::move(list);
  return document_text(document);
}

}  // namespace wheelsmith::report
