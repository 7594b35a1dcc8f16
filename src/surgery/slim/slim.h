#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gpu/slim/keep.h"
#include "surgery/draft.h"
#include "surgery/input_wheel.h"
#include "surgery/item.h"

namespace wheelsmith::surgery {

struct SlimRequest {
  gpu::KeepSet keep;
  bool vendor_libraries = false;  // also change libraries whose licence restricts modified copies
  bool shorten = true;            // cut freed space out of files where that is safe
};

// What happened to the files with device code.
struct SlimSummary {
  std::vector<SlimmedFile> files;  // by path
  std::vector<std::string> notes;  // sentences
  bool changes_anything = false;
};

// Replaces the files of the draft by ones with the code for the kept GPUs. Call it before other edits of these members.
// Throws Error if no kept GPU runs any of the device code. For operations that make several wheels of one (`split`),
// with a draft and a keep set for each.
SlimSummary slim_members(Draft& draft, const SlimRequest& request, unsigned threads);

// The whole operation: one new wheel. A wheel of a vendor whose licence restricts modified copies is reported on, and
// nothing is written. Throws Error; RequestError for invalid values.
void slim_wheel(InputWheel& input, const SlimRequest& request, const WriteOptions& options, Item& item);

// The same for one library or file of device code; the new file has its name and is in the folder `options.out`.
void slim_file(const std::filesystem::path& path, const SlimRequest& request, const WriteOptions& options, Item& item);

// The distributions that are installed in a folder, in place: an item for each that has device code. `only`: normalized
// names of distributions; empty: all. See environment.cc.
std::vector<Item> slim_environment(const std::filesystem::path& site_packages, const SlimRequest& request,
                                   const std::vector<std::string>& only, const WriteOptions& options);

// Whose package it is, if its licence restricts modified copies ("NVIDIA"); otherwise "".
std::string restricted_vendor(const std::string& package);

}  // namespace wheelsmith::surgery
