// module: run
// Output of a step's process, line by line, and the log of a build: foreign code prints to both.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "run/executor.h"
#include "run/failure_finder.h"
#include "run/sandbox.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  run::FailureFinder whole, pieces;
  whole.feed(text);
  for (std::size_t at = 0; at < text.size(); at += 7) pieces.feed(text.substr(at, 7));
  const auto first = whole.first(), second = pieces.first();
  // A log arrives in arbitrary chunks.
  if (first.has_value() != second.has_value() || (first && first->command != second->command)) std::abort();
  for (const std::filesystem::path& path : run::paths_in(text)) {
    if (!path.is_absolute()) std::abort();
  }
  for (const std::string_view line : lines(text)) {
    try {
      const run::Report report = run::parse_report(line);
      if (report.kind != run::Report::Kind::event) continue;
      const std::string again = run::report_line(report.event);
      if (again.find('\n') != again.size() - 1 && again.find('\n') != again.npos) std::abort();
      (void)run::parse_report(trim(again));
    } catch (const Error&) {}
  }
  return 0;
}
