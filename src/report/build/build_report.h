#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/value.h"
#include "gpu/code/device_code.h"
#include "report/build/build_record.h"
#include "run/run.h"
#include "settings/settings.h"

// The data of `wheelsmith report`, and its forms: an HTML page, a trace for profilers, and JSON.

namespace wheelsmith::report {

struct WheelSizes {
  std::string step, path;
  std::string error;  // why the wheel could not be read, or ""
  std::uint64_t size = 0, unpacked_size = 0, file_count = 0;
  std::vector<gpu::CodeSum> gpu;
};

struct BuildReport {
  std::string title;
  std::vector<BuildRecord> records;
  std::vector<run::StepOutcome> steps;
  std::vector<WheelSizes> wheels;
  std::optional<settings::Price> price;  // of core hours

  // Start of the first record, in seconds since 1970, and the duration of all records together.
  [[nodiscard]] double started() const;
  [[nodiscard]] double seconds() const;
};

// The document of `report --json` (docs/json.md); the page contains it, too. Times are relative to started().
document::Value to_value(const BuildReport& report);

std::string to_json(const BuildReport& report);

// What the compile cache saved: {"seconds"} and, if there is a price, {"amount", "currency"}.
document::Value saved_value(double seconds, const std::optional<settings::Price>& price);
// "12.3 min of CPU time (0.01 EUR)".
std::string saved_text(double seconds, const std::optional<settings::Price>& price);

// One self-contained HTML file.
std::string to_html(const BuildReport& report);

// The trace event format of chrome://tracing and Perfetto.
std::string to_trace(const BuildReport& report);

}  // namespace wheelsmith::report
