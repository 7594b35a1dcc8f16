#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "surgery/input_wheel.h"
#include "surgery/item.h"

// Shared by the commands that change finished wheels.

namespace wheelsmith::cli {

struct SurgeryOptions {
  bool json = false, dry_run = false, force = false;
  std::string out = ".";
  unsigned threads = 0;
  std::vector<std::string> paths;

  // WHEEL, --out (or the given spellings of it), --dry-run, --force, --threads, --json.
  void add_to(CLI::App& command, const std::string& out_names = "-o,--out");
  [[nodiscard]] surgery::WriteOptions write_options() const;
};

// The time stamp of members: SOURCE_DATE_EPOCH, or 1980-01-01. Throws UsageError if it is not a number.
std::int64_t member_time();

// Runs the operation for each wheel; one that fails becomes an item with an error. Returns the exit status.
using WheelOperation =
    std::function<void(surgery::InputWheel& input, const surgery::WriteOptions& options, surgery::Item& item)>;
int operate(const SurgeryOptions& options, const WheelOperation& operation);

}  // namespace wheelsmith::cli
