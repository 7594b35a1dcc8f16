#include "base/text.h"
#include "diagnose/diagnose.h"

namespace wheelsmith::diagnose {

using document::Array;
using document::Table;
using document::Value;

namespace {

Value text_list(const std::vector<std::string>& texts) {
  Array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

}  // namespace

Value to_value(const Cause& cause) {
  Table table;
  table["id"] = cause.id;
  table["class"] = cause.kind;
  table["what"] = cause.what;
  table["fix"] = join(cause.fixes, "\n");
  table["line"] = cause.line;
  table["stage"] = cause.stage;
  table["sure"] = cause.sure;
  table["command"] = cause.command;
  Array why;
  for (const Quote& quote : cause.why) {
    Table one;
    one["line"] = quote.line;
    one["text"] = quote.text;
    why.emplace_back(std::move(one));
  }
  table["why"] = std::move(why);
  table["fixes"] = text_list(cause.fixes);
  table["sources"] = text_list(cause.sources);
  table["check"] = cause.check;
  return table;
}

Cause cause_from(const Value& value) {
  Cause cause;
  cause.id = value["id"].text_or();
  cause.kind = value["class"].text_or();
  cause.what = value["what"].text_or();
  cause.line = static_cast<std::uint64_t>(value["line"].integer_or(0));
  cause.stage = value["stage"].text_or();
  cause.sure = value["sure"].text_or();
  cause.command = value["command"].text_or();
  if (const Array* why = value["why"].array()) {
    for (const Value& quote : *why)
      cause.why.push_back({static_cast<std::uint64_t>(quote["line"].integer_or(0)), quote["text"].text_or()});
  }
  cause.fixes = value["fixes"].texts();
  cause.sources = value["sources"].texts();
  cause.check = value["check"].text_or();
  return cause;
}

}  // namespace wheelsmith::diagnose
