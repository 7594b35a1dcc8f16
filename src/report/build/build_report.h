#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/value.h"
#include "gpu/code/device_code.h"
#include "report/build/build_record.h"
#include "run/run.h"

// A build from outside: what `wheelsmith report` shows, as a page, as a trace for browsers' profilers, and as JSON.

namespace wheelsmith::report {

struct WheelSizes {
  std::string step, path;
  std::string error;  // why nothing is known of it, or ""
  std::uint64_t size = 0, unpacked_size = 0, file_count = 0;
  std::vector<gpu::CodeSum> gpu;
};

struct BuildReport {
  std::string title;
  std::vector<BuildRecord> records;
  std::vector<run::StepOutcome> steps;
  std::vector<WheelSizes> wheels;

  // When the first of all records begins, in seconds since 1970, and how long they last together.
  [[nodiscard]] double started() const;
  [[nodiscard]] double seconds() const;
};

// The document of `report --json` (docs/json.md), which is in the page, too. Times count from started().
document::Value to_value(const BuildReport& report);

std::string to_json(const BuildReport& report);

// One file that needs nothing but a browser.
std::string to_html(const BuildReport& report);

// The trace event format that chrome://tracing and Perfetto read.
std::string to_trace(const BuildReport& report);

}  // namespace wheelsmith::report
