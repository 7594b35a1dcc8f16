// Compares device code with the requested architectures. The union over all files decides whether the wheel can run at
// all. A kernel is loaded from the library that launches it, so a library that lacks an architecture its siblings have
// gets a warning. It is not an error: packages bundle libraries for single architectures and choose among them in
// Python.

#include "wheel/check/archs.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "gpu/coverage.h"

namespace wheelsmith::wheel {

namespace {

using Pieces = std::set<gpu::CodePiece>;
using gpu::Coverage;

std::vector<gpu::CodePiece> as_vector(const Pieces& pieces) { return {pieces.begin(), pieces.end()}; }

// LTO IR and relocatable code are linker input: the runtime never selects them for a device.
void add_pieces(const gpu::DeviceCode& code, Pieces& pieces) {
  for (const gpu::CodeSum& sum : code.sums) {
    if (sum.kind != gpu::CodeKind::ltoir && !sum.relocatable) pieces.insert({sum.arch, sum.kind});
  }
}

std::string list_of(const Pieces& pieces) {
  std::vector<std::string> names;
  for (const gpu::CodePiece& piece : pieces) names.push_back(gpu::display_name(piece.arch, piece.kind));
  return names.empty() ? "no device code" : join(names, ", ");
}

std::string wish_name(const gpu::ArchRequest& request) {
  if (request.arch.vendor == gpu::Vendor::amd) return gpu::display_name(request.arch, gpu::CodeKind::hip);
  return gpu::display_name(request.arch, request.binary ? gpu::CodeKind::sass : gpu::CodeKind::ptx);
}

// "9.0a" is requested because the code needs instructions of the a variant (CUTLASS traps without them); plain sm_90
// code would load there, but is not equivalent.
bool lacks_special_code(const Coverage::Item& item) {
  return item.state == Coverage::State::compatible && item.request.binary && !item.request.arch.suffix.empty();
}

// The requested architecture, as the user wrote it and parsed.
struct MissingTarget {
  std::string name;
  std::string arch;
};

MissingTarget wish_of(const Coverage::Item& item, const std::string& device) {
  const std::string arch = wish_name(item.request);
  return {device.empty() ? arch : device, arch};
}

std::string fix_for(const MissingTarget& wish) {
  return fmt::format("rebuild with {} in the architecture list", wish.arch);
}

Finding missing(const std::string& subject, Severity severity, const MissingTarget& wish, const std::string& there) {
  return {severity == Severity::error ? "arch-missing" : "arch-missing-in-file",
          severity,
          subject,
          fmt::format("has no device code for {}; it has {}", wish.name, there),
          "kernels fail on it with \"no kernel image is available for execution on the device\"",
          fix_for(wish)};
}

void judge(const Coverage& coverage, const std::string& device, const std::string& subject, const Pieces& pieces,
           std::vector<Finding>& findings) {
  for (const Coverage::Item& item : coverage.items) {
    const MissingTarget wish = wish_of(item, device);
    if (item.state == Coverage::State::missing) {
      findings.push_back(missing(subject, Severity::error, wish, list_of(pieces)));
    } else if (lacks_special_code(item) && device.empty()) {
      findings.push_back(missing(subject, Severity::error, wish, list_of(pieces)));
    } else if (item.state == Coverage::State::jit) {
      findings.push_back({"arch-jit-only", Severity::warning, subject,
                          fmt::format("runs on {} only by JIT-compiling {}", wish.name, item.by),
                          "the first start takes minutes and needs a driver that supports this PTX or SPIR-V",
                          fix_for(wish)});
    } else if (item.state == Coverage::State::compatible) {
      findings.push_back({"arch-compatible", Severity::note, subject,
                          fmt::format("has no code for exactly {}; {} runs on it", wish.name, item.by),
                          "it works, but does not use features specific to that architecture", ""});
    }
  }
}

void judge_library(const std::string& path, const Pieces& own, const Coverage& whole, const Coverage& coverage,
                   const std::string& device, std::vector<Finding>& findings) {
  for (std::size_t i = 0; i < coverage.items.size() && i < whole.items.size(); ++i) {
    const bool lacks = coverage.items[i].state == Coverage::State::missing;
    if (!lacks || whole.items[i].state == Coverage::State::missing) continue;  // already reported for the whole wheel
    const MissingTarget wish = wish_of(coverage.items[i], device);
    findings.push_back(missing(path, Severity::warning, wish, list_of(own)));
  }
}

}  // namespace

std::vector<Finding> check_archs(const std::vector<ElfFacts>& files, const std::vector<DeviceFile>& device_files,
                                 const std::optional<gpu::ArchList>& wanted, const std::vector<gpu::Device>& devices,
                                 const std::string& subject) {
  std::vector<Finding> findings;
  if (!wanted && devices.empty()) return findings;
  Pieces all;
  for (const ElfFacts& file : files) add_pieces(file.device_code, all);
  for (const DeviceFile& file : device_files) add_pieces(file.code, all);

  const auto judge_wish = [&](const auto& wish, const std::string& device_name) {
    const Coverage whole = gpu::cover(as_vector(all), wish);
    judge(whole, device_name, subject, all, findings);
    for (const ElfFacts& file : files) {
      Pieces own;
      add_pieces(file.device_code, own);
      if (!own.empty()) judge_library(file.path, own, whole, gpu::cover(as_vector(own), wish), device_name, findings);
    }
    return whole;
  };
  if (wanted) {
    const Coverage whole = judge_wish(*wanted, "");
    if (!whole.unasked.empty()) {
      findings.push_back({"arch-unasked", Severity::warning, subject,
                          fmt::format("contains device code that was not requested: {}", join(whole.unasked, ", ")),
                          "it increases wheel size and build time", "remove it from the architecture list"});
    }
  }
  for (const gpu::Device& device : devices) {
    judge_wish(device, fmt::format("{} ({})", device.name,
                                   gpu::display_name(device.arch, device.arch.vendor == gpu::Vendor::amd
                                                                      ? gpu::CodeKind::hip
                                                                      : gpu::CodeKind::sass)));
  }
  return findings;
}

}  // namespace wheelsmith::wheel
