#pragma once

#include <string>

#include "report/style.h"
#include "source/patches/patch_work.h"

// `patches save`, `list` and `apply`.

namespace wheelsmith::report {

std::string saved_set_text(const source::SavedSet& set);
std::string saved_set_json(const source::SavedSet& set);

std::string patch_sets_text(const source::PatchSetList& list, const Style& style);
std::string patch_sets_json(const source::PatchSetList& list);

std::string applied_set_text(const source::AppliedSet& set);
std::string applied_set_json(const source::AppliedSet& set);

}  // namespace wheelsmith::report
