#pragma once

#include <filesystem>
#include <vector>

#include "surgery/draft.h"
#include "surgery/item.h"
#include "wheel/check/check.h"
#include "wheel/read/scan.h"

namespace wheelsmith::surgery {

// Facts of the input's binaries, so that the check of the new wheel does not read them again.
struct KnownBinaries {
  const wheel::Scan* scan = nullptr;  // made with `exported` and `layout`
  bool all = false;  // contains every binary of the input; otherwise platform and symbols are not checked
};

// Errors of `after` that `before` does not have. The names of the new wheel and of its .dist-info folder count as the
// old ones.
std::vector<Finding> new_errors(const wheel::Verdict& before, const wheel::Verdict& after, const Draft& draft);

// Writes the draft beside its target, checks it and renames it. Throws Error, and leaves nothing behind, if the new
// wheel has errors that the input does not have; RequestError if it would replace the input. Adds the output and the
// notes of the draft and of the check to `item`.
void publish(const Draft& draft, const KnownBinaries& known, const WriteOptions& options, Item& item);

// Throws Error if this command has written the file already, for another input.
void refuse_second(const std::filesystem::path& target, const WriteOptions& options);

// Options of `check` for the platform: libraries that count as provided by others.
struct PublishCheck {
  wheel::PlatformOptions platform;
};
void publish(const Draft& draft, const KnownBinaries& known, const PublishCheck& check, const WriteOptions& options,
             Item& item);

}  // namespace wheelsmith::surgery
