#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file_tree.h"
#include "base/finding.h"
#include "gpu/arch.h"
#include "gpu/code/expected_code.h"
#include "wheel/check/loader/loader.h"
#include "wheel/read/provider.h"
#include "wheel/read/scan.h"
#include "wheel/tags/platform.h"

namespace wheelsmith::wheel {

// Members of a wheel that were copied from another one, unread. What is known of them comes from there.
struct CarriedMembers {
  std::function<bool(const std::string& member)> is_carried;
  // The binaries among them, under the names that they have now, and which rules may rely on them.
  const Scan* scan = nullptr;
  bool all_binaries = false;  // `scan` has all of them; else rules about binaries, other than tags, are left out
};

struct CheckOptions {
  unsigned threads = 1;
  std::string policy;  // "" for the policy of the file's own tag
  PlatformOptions platform;
  std::vector<Provider> against;
  std::vector<std::string> required_symbols;
  std::optional<gpu::ArchList> archs;
  std::vector<gpu::ExpectedCode>
      expected_code;  // which library contains which of `archs`; empty: every library contains all
  std::vector<gpu::Device> devices;
  std::optional<std::uint64_t> max_size;    // none: PyPI's default limit, as a note
  const CarriedMembers* carried = nullptr;  // check_wheel() only
};

// The result of `check` for one wheel or installed folder.
struct Verdict {
  std::string path;
  std::string error;  // not empty: it could not be read at all
  std::vector<Finding> findings;

  [[nodiscard]] bool is_good() const;
};

// All checks: archive, metadata, platform, symbols, torch, architectures, layout. Never throws because of the wheel's
// contents; continues after each finding.
Verdict check_wheel(const std::string& path, Bytes file, const CheckOptions& options);

// The same for an unpacked wheel or a site-packages; `machine` is where it would be loaded.
Verdict check_folder(const std::string& path, const FileTree& tree, const LoaderMachine& machine,
                     const CheckOptions& options);

}  // namespace wheelsmith::wheel
