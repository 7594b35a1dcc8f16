#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/build/build_report.h"
#include "store/store.h"

// Where a report's facts are: a store's logs/ (or a copy of that folder) holds a file for each `wheelsmith build`
// (build-ID.json, by src/run) and a record of compiles for each governed build (compiles-ID.jsonl, by src/governor).

namespace wheelsmith::report {

using StoreOpener = std::function<store::Store&()>;

// A source is a file (a record, a build's outcomes, or what `build --json` printed), a folder of logs, whose newest
// build it is, or else the id of a step or the name of a package that the store has built. Without sources: the newest
// build of the store. Throws Error when there is no such thing.
BuildReport collect_report(const std::vector<std::string>& sources, const StoreOpener& open_store);

}  // namespace wheelsmith::report
