#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file_tree.h"
#include "gpu/slim/slim.h"
#include "surgery/slim/slim.h"

// Shared by the operations on wheels, files and environments.

namespace wheelsmith::surgery {

// The decision about one file of a tree.
struct SlimPlan {
  std::string path;
  std::uint64_t size = 0;
  gpu::Slimmed slimmed;
};

// Reads the files (several at a time) and decides; those without device code are left out. Sorted by path.
std::vector<SlimPlan> plan_slim(const FileTree& tree, const std::vector<FileTree::File>& files,
                                const SlimRequest& request, unsigned threads);

// Files, notes and sizes. Throws Error if no kept GPU runs any of the code.
SlimSummary summarize(const std::vector<SlimPlan>& plans, const SlimRequest& request);

// Files that describe a dropped code object and are useless without it: Triton writes NAME.json, NAME.ttir and others
// beside NAME.cubin.
std::vector<std::string> companions(const std::string& dropped, const std::function<bool(const std::string&)>& exists);

// The entry in the provenance.
void add_details(document::Table& details, const SlimRequest& request, const SlimSummary& summary);

}  // namespace wheelsmith::surgery
