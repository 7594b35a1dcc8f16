#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/build/build_report.h"
#include "store/store.h"

// Collects the data of a report. The folder logs/ of a store (or a copy of it) has a file for each `wheelsmith build`
// (build-ID.json, by src/run) and a compile record for each governed build (compiles-ID.jsonl, by src/governor).

namespace wheelsmith::report {

using StoreOpener = std::function<store::Store&()>;

// A source is a file (a compile record, the outcomes of a build, or the output of `build --json`), a folder of logs
// (its newest build is used), or the id of a step or the name of a package that was built. Without sources: the newest
// build in the store. Throws Error if a source does not exist.
BuildReport collect_report(const std::vector<std::string>& sources, const StoreOpener& open_store);

}  // namespace wheelsmith::report
