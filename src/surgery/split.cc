#include "surgery/split.h"

// One wheel with code for twelve architectures becomes several, each with the code for a group of GPUs. `slim` decides
// what a group needs, `variant` says for whom the wheel is.
//
// The properties of a group come from its GPUs, not from the architectures that remain: a library without sm_86 serves
// an 8.6 by sm_80, and the wheel for the 8.6 is then not one for an 8.0. A GPU that runs code without JIT gives
// "86_real", one that needs PTX "80_virtual", the only virtual value that providers report for it. Whether the wheel
// keeps these promises is checked before it is published, as for any variant wheel.
//
// GPUs of no group find no wheel. The original wheel, in the same index, serves them: installers take wheels without a
// label last.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "surgery/draft.h"
#include "surgery/publish.h"
#include "surgery/slim/slim.h"
#include "surgery/variant.h"
#include "wheel/read/inspect.h"
#include "wheel/tags/variant_properties.h"

namespace wheelsmith::surgery {

namespace {

// A wheel in the making.
struct GroupDraft {
  std::unique_ptr<Draft> draft;
  std::string label;
  pep::VariantProperties properties;
};

std::vector<gpu::ArchList> groups_in(const wheel::Scan& scan) {
  std::set<gpu::Arch> archs;
  for (const gpu::CodeSum& sum : wheel::sum_up(scan.elf, scan.device_files)) {
    if (sum.relocatable || (sum.kind != gpu::CodeKind::sass && sum.kind != gpu::CodeKind::hip)) continue;
    if (sum.arch.vendor == gpu::Vendor::nvidia) {
      archs.insert(gpu::nvidia_arch(sum.arch.number));  // sm_90 and sm_90a serve one GPU
    } else if (const std::string target = sum.arch.target.substr(0, sum.arch.target.find(':'));
               target.find("generic") == std::string::npos && target.starts_with("gfx")) {
      archs.insert(gpu::amd_arch(target));
    }
  }
  std::vector<gpu::ArchList> groups;
  for (const gpu::Arch& arch : archs) groups.push_back({{{arch, true, false}}});
  return groups;
}

std::set<gpu::CodePiece> kept_code(const SlimSummary& summary) {
  std::set<gpu::CodePiece> pieces;
  for (const SlimmedFile& file : summary.files) {
    for (const gpu::CodeChange& change : file.code) {
      if (change.kept_count != 0) pieces.insert({change.arch, change.kind});
    }
  }
  return pieces;
}

void add_group_properties(const gpu::ArchList& group, const std::set<gpu::CodePiece>& pieces,
                          pep::VariantProperties& properties) {
  for (const gpu::ArchRequest& request : group.requests) {
    const gpu::Arch& arch = request.arch;
    if (arch.vendor == gpu::Vendor::amd) {
      properties["amd"]["gfx_arch"].insert(arch.target.substr(0, arch.target.find(':')));
      continue;
    }
    gpu::Fit best = gpu::Fit::none;
    for (const gpu::CodePiece& piece : pieces)
      best = std::max(best, gpu::fit(piece.arch, piece.kind, gpu::nvidia_arch(arch.number)));
    std::set<std::string>& values = properties["nvidia"]["sm_arch"];
    if (best == gpu::Fit::native) values.insert(fmt::format("{}_real", arch.number));
    if (best == gpu::Fit::jit || (request.ptx && pieces.contains({gpu::nvidia_arch(arch.number), gpu::CodeKind::ptx})))
      values.insert(fmt::format("{}_virtual", arch.number / 10 * 10));
    if (values.empty()) properties["nvidia"].erase("sm_arch");
  }
}

void remove_outputs(const std::vector<Output>& outputs, std::size_t first) {
  for (std::size_t i = first; i < outputs.size(); ++i) {
    std::error_code ignored;  // the error that stopped the operation is the one to report
    std::filesystem::remove(outputs[i].path, ignored);
  }
}

}  // namespace

std::vector<gpu::ArchList> parse_groups(std::string_view text) {
  std::vector<gpu::ArchList> groups;
  std::set<std::string> labels;
  for (const std::string_view part : split(text, ';')) {
    if (trim(part).empty()) continue;
    groups.push_back(gpu::ArchList::parse(part));
    if (!labels.insert(group_label(groups.back())).second)
      throw Error(fmt::format("two groups have the label {}", group_label(groups.back())));
  }
  if (groups.empty()) throw Error("no group of architectures");
  return groups;
}

std::string group_label(const gpu::ArchList& group) {
  std::vector<std::string> words;
  const bool nvidia = !group.requests.empty() && group.requests[0].arch.vendor == gpu::Vendor::nvidia;
  bool ptx = false;
  for (const gpu::ArchRequest& request : group.requests) {
    ptx = ptx || request.ptx;
    std::string word = request.arch.vendor == gpu::Vendor::nvidia
                           ? std::to_string(request.arch.number) + request.arch.suffix
                           : request.arch.target.substr(0, request.arch.target.find(':'));
    std::erase_if(word, [](char c) { return !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z')); });
    if (!words.empty() && word.starts_with("gfx")) word.erase(0, 3);
    if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
  }
  const std::string prefix = nvidia ? "sm" : "";
  const std::string end = ptx ? "ptx" : "";
  std::string label = prefix + join(words, "_") + end;
  if (label.size() > pep::k_longest_label) label = prefix + words.front() + "to" + words.back() + end;
  return label.substr(0, pep::k_longest_label);
}

void split_wheel(InputWheel& input, const SplitRequest& request, const WriteOptions& options, Item& item) {
  const std::string vendor = restricted_vendor(input.distribution().name());
  if (!vendor.empty() && !request.vendor_libraries)
    throw Error(
        fmt::format("the licence of {}'s packages restricts modified copies; add --vendor-libraries to split it "
                    "for your own use",
                    vendor));
  if (!input.name().label.empty()) throw Error("is a variant wheel already; split the wheel that it was made from");
  input.start_hash();
  const wheel::Scan scan = wheel::scan(input.tree(), {.threads = options.threads, .exported = true, .layout = true});
  const std::vector<gpu::ArchList> groups = request.groups.empty() ? groups_in(scan) : request.groups;
  if (groups.empty()) throw Error("has no device code that could be split");
  wheel::FoundProperties found = wheel::find_variant_properties(scan, input.distribution());
  if (found.properties.contains("nvidia")) found.properties["nvidia"].erase("sm_arch");
  if (found.properties.contains("amd")) found.properties["amd"].erase("gfx_arch");
  std::erase_if(found.properties, [](const auto& space) { return space.second.empty(); });

  // All decisions first: a group that cannot be made must not leave the wheels of the others behind.
  std::vector<GroupDraft> drafts;
  for (const gpu::ArchList& group : groups) {
    SlimRequest slim;
    slim.keep.add(group);
    slim.vendor_libraries = request.vendor_libraries;
    GroupDraft made{std::make_unique<Draft>(input, "split"), group_label(group), found.properties};
    const SlimSummary summary = slim_members(*made.draft, slim, options.threads);
    add_group_properties(group, kept_code(summary), made.properties);
    set_variant(*made.draft, request.dialect, made.label, made.properties);
    for (const std::string& note : summary.notes) made.draft->note(fmt::format("{}: {}", made.label, note));
    drafts.push_back(std::move(made));
  }
  const std::size_t first = item.outputs.size();
  try {
    for (const GroupDraft& made : drafts) {
      publish(*made.draft, {&scan, true}, options, item);
      item.outputs.back().label = made.label;
      item.outputs.back().properties = pep::to_strings(made.properties);
    }
  } catch (...) {  // all or none
    if (!options.dry_run) remove_outputs(item.outputs, first);
    throw;
  }
}

}  // namespace wheelsmith::surgery
