#pragma once

#include <vector>

#include "surgery/draft.h"
#include "surgery/item.h"
#include "wheel/check/check.h"
#include "wheel/read/scan.h"

namespace wheelsmith::surgery {

// What the check of the new wheel may take from the input's binaries instead of reading them again.
struct KnownBinaries {
  const wheel::Scan* scan = nullptr;  // made with `exported` and `layout`
  bool all = false;                   // it holds every binary of the input; else platform and symbols are not checked
};

// Errors of `after` that `before` does not have. The names of the new wheel and of its .dist-info folder count as the
// old ones.
std::vector<Finding> new_errors(const wheel::Verdict& before, const wheel::Verdict& after, const Draft& draft);

// Writes the draft beside its target, checks it and gives it its name. Throws Error, and leaves nothing behind, where
// the new wheel has errors that the input does not have; RequestError where it would replace the input. Notes of the
// draft and of the check go into `item`, and so does the output.
void publish(const Draft& draft, const KnownBinaries& known, const WriteOptions& options, Item& item);

// Options of `check` for the platform: libraries that count as provided by others.
struct PublishCheck {
  wheel::PlatformOptions platform;
};
void publish(const Draft& draft, const KnownBinaries& known, const PublishCheck& check, const WriteOptions& options,
             Item& item);

}  // namespace wheelsmith::surgery
