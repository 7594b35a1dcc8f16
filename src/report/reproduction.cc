#include "report/reproduction.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/build/build.h"
#include "report/json_document.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Table;
using document::Value;
using Kind = wheel::MemberDifference::Kind;

constexpr std::size_t k_most_shown = 40, k_most_differences = 12;

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::only_first: return "only-in-wheel";
    case Kind::only_second: return "only-in-rebuilt";
    case Kind::differs: break;
  }
  return "differs";
}

std::string verdict_of(const run::Reproduction& item) {
  if (!item.comparison) return "failed";
  return item.same() ? "same" : "differs";
}

std::string shortened_value(const std::string& text) {
  if (text.empty()) return "nothing";
  return printable(text.size() > 60 ? text.substr(0, 60) + "…" : text);
}

std::string difference_lines(const wheel::WheelComparison& comparison, const Style& style) {
  std::string text;
  std::size_t shown = 0;
  for (const wheel::MemberDifference& member : comparison.members) {
    if (!style.details && ++shown > k_most_shown) {
      text += fmt::format("  {} more members differ (use --all to show)\n", comparison.members.size() - k_most_shown);
      break;
    }
    text += fmt::format("  {} {}\n",
                        member.kind == Kind::differs      ? style.yellow("differs")
                        : member.kind == Kind::only_first ? style.red("only in the wheel")
                                                          : style.red("only in the rebuilt wheel"),
                        printable(member.name));
    for (const std::string& reason : member.reasons) text += fmt::format("    {}\n", printable(reason));
  }
  for (const std::string& difference : comparison.archive)
    text += fmt::format("  {} {}\n", style.yellow("differs"), difference);
  return text;
}

}  // namespace

std::string reproduction_text(const run::Reproduction& item, const Style& style) {
  const std::string verdict = verdict_of(item);
  std::string text = fmt::format("{}: {}\n", printable(item.path.string()),
                                 verdict == "same" ? style.green(verdict) : style.red(verdict));
  text += fmt::format("  SHA-256 {}\n", item.sha256);
  if (item.comparison) {
    if (item.same())
      text += "  the rebuilt wheel is identical\n";
    else
      text += fmt::format("  rebuilt {}\n", item.rebuilt_sha256);
    text += difference_lines(*item.comparison, style);
    if (!item.same() && item.comparison->same_payload())
      text += "  all installed files are identical; only build metadata differs\n";
  }
  std::size_t shown = 0;
  for (const run::EnvironmentDifference& one : item.environment) {
    if (!style.details && ++shown > k_most_differences) {
      text += fmt::format("  {} {} more differences (use --all to show)\n", style.dim("environment:"),
                          item.environment.size() - k_most_differences);
      break;
    }
    text += fmt::format("  {} {} is {} here; the wheel records {}\n", style.dim("environment:"), printable(one.what),
                        shortened_value(one.here), shortened_value(one.recorded));
  }
  if (item.build && !item.build->made()) text += build_text({*item.build}, style);
  return text;
}

std::string reproductions_json(const std::vector<run::Reproduction>& items,
                               const std::vector<std::pair<std::string, std::string>>& errors) {
  Table document = new_document();
  Array list;
  for (const run::Reproduction& item : items) {
    Table table;
    table["path"] = item.path.string();
    table["verdict"] = verdict_of(item);
    table["sha256"] = item.sha256;
    table["rebuilt"] = item.rebuilt.string();
    table["rebuilt_sha256"] = item.rebuilt_sha256;
    table["same_payload"] = item.comparison && item.comparison->same_payload();
    Array members, archive, environment;
    if (item.comparison) {
      for (const wheel::MemberDifference& member : item.comparison->members) {
        Table one;
        one["name"] = member.name;
        one["kind"] = kind_name(member.kind);
        one["reasons"] = text_array(member.reasons);
        members.emplace_back(std::move(one));
      }
      archive = text_array(item.comparison->archive);
    }
    for (const run::EnvironmentDifference& difference : item.environment) {
      Table one;
      one["what"] = difference.what;
      one["recorded"] = difference.recorded;
      one["here"] = difference.here;
      environment.emplace_back(std::move(one));
    }
    table["members"] = std::move(members);
    table["archive"] = std::move(archive);
    table["environment"] = std::move(environment);
    if (item.build) table["build"] = item.build->to_value();
    list.emplace_back(std::move(table));
  }
  for (const auto& [path, error] : errors) {
    Table table;
    table["path"] = path;
    table["error"] = error;
    list.emplace_back(std::move(table));
  }
  document["items"] = std::move(list);
  return document_text(document);
}

}  // namespace wheelsmith::report
