#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/build_report.h"

// Where a report's facts are: a store's logs/ (or a copy of that folder) holds a file for each `wheelsmith build`
// (build-ID.json, by src/run) and a record of compiles for each governed build (compiles-ID.jsonl, by src/governor).

namespace wheelsmith::cli {

// Adds what the file holds: a record, a build's outcomes, or what `build --json` printed. Throws Error for others.
void add_file(report::BuildReport& report, const std::filesystem::path& file);

// Adds the newest build of a folder of logs, with the records of its steps. Throws Error when there is none.
void add_newest(report::BuildReport& report, const std::filesystem::path& logs);

// Adds the newest build of that step, rather one that compiled it than one that found it in the store; only the step
// and its records. The name is a step's id or a package's name. Throws Error when there is none.
void add_build_of_step(report::BuildReport& report, const std::filesystem::path& logs, const std::string& name);

// "flash-attn", "torch, vision and 3 more", "ninja -C build": what the report is about.
std::string title_of(const report::BuildReport& report);

}  // namespace wheelsmith::cli
