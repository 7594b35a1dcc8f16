#include <algorithm>
#include <cmath>

#include "report/build/build_report.h"

// Each record is a process, each slot a thread, each compile a complete event ("X"). Waits are async events of the same
// process, because they may overlap; memory is a counter.

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Member;
using document::Table;
using document::Value;

double microseconds(double seconds) { return std::round(seconds * 1e6); }

Value event(std::string_view phase, std::string_view name, double at, std::size_t process, std::size_t thread,
            Table arguments) {
  Table table(std::vector<Member>{{"ph", phase}, {"name", name}, {"ts", microseconds(at)}});
  table["pid"] = process;
  table["tid"] = thread;
  if (!arguments.empty()) table["args"] = std::move(arguments);
  return table;
}

Table named(std::string_view name) {
  Table table;
  table["name"] = name;
  return table;
}

Table arguments_of(const Compile& compile) {
  return Table(std::vector<Member>{{"outcome", compile.outcome},
                                   {"exit", compile.exit},
                                   {"peak", compile.peak},
                                   {"reserved", compile.reserved},
                                   {"estimate", compile.estimate},
                                   {"estimate from", compile.from},
                                   {"waited", compile.wait},
                                   {"waited for", compile.why},
                                   {"paused", compile.paused},
                                   {"try", compile.tries},
                                   {"threads", compile.threads},
                                   {"output", compile.output}});
}

// Colour names of the trace event format.
std::string_view colour_of(const Compile& compile) {
  if (compile.outcome == "failed" || compile.outcome == "lost") return "terrible";
  return compile.outcome == "done" ? "" : "bad";
}

void add_compile(Array& events, const Compile& compile, double origin, std::size_t process, std::size_t number) {
  Value item = event("X", compile.name.empty() ? "?" : compile.name, compile.start - origin, process, compile.slot + 1,
                     arguments_of(compile));
  Table& table = *item.table();
  table["dur"] = microseconds(compile.seconds);
  table["cat"] = compile.kind.empty() ? "compile" : compile.kind;
  if (const std::string_view colour = colour_of(compile); !colour.empty()) table["cname"] = colour;
  events.push_back(std::move(item));
  if (compile.wait <= 0) return;
  for (const bool begins : {true, false}) {
    Value wait =
        event(begins ? "b" : "e", compile.why.empty() ? "waiting" : "waiting for " + compile.why,
              compile.start - (begins ? compile.wait : 0) - origin, process, 0, begins ? named(compile.name) : Table());
    (*wait.table())["cat"] = "wait";
    (*wait.table())["id"] = number;
    events.push_back(std::move(wait));
  }
}

}  // namespace

std::string to_trace(const BuildReport& report) {
  const double origin = report.started();
  Array events;
  std::size_t number = 0;
  for (std::size_t i = 0; i < report.records.size(); ++i) {
    const BuildRecord& record = report.records[i];
    const std::size_t process = i + 1;
    events.push_back(event(
        "M", "process_name", 0, process, 0,
        named((record.name.empty() ? "build" : record.name) + (record.node.empty() ? "" : " on " + record.node))));
    for (unsigned slot = 0; slot < record.slots; ++slot) {
      events.push_back(event("M", "thread_name", 0, process, slot + 1, named("slot " + std::to_string(slot + 1))));
    }
    for (const Compile& compile : record.compiles) add_compile(events, compile, origin, process, ++number);
  }
  for (const MemorySample& sample : merged_memory(report.records)) {
    Table arguments;
    arguments["used"] = sample.used;
    arguments["reserved and not used"] = sample.reserved - std::min(sample.reserved, sample.used);
    events.push_back(event("C", "memory", sample.at - origin, 1, 0, std::move(arguments)));
    Table available;
    available["available"] = sample.available;
    events.push_back(event("C", "available memory", sample.at - origin, 1, 0, std::move(available)));
  }
  Table document;
  document["displayTimeUnit"] = "ms";
  document["traceEvents"] = std::move(events);
  return document::to_json(document, -1) + "\n";
}

}  // namespace wheelsmith::report
