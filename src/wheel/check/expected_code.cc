#include "wheel/check/expected_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

// Code that the runtime selects directly: no linker input, no PTX.
std::set<gpu::Arch> binary_archs(const ElfFacts& file) {
  std::set<gpu::Arch> archs;
  for (const gpu::CodeSum& sum : file.device_code.sums) {
    const bool binary = sum.kind == gpu::CodeKind::sass || sum.kind == gpu::CodeKind::hip;
    if (binary && !sum.relocatable) archs.insert(sum.arch);
  }
  return archs;
}

std::string list_of_archs(const std::set<gpu::Arch>& archs) {
  std::vector<std::string> names;
  for (const gpu::Arch& arch : archs) names.push_back(gpu::list_name(arch));
  return names.empty() ? "no device code" : join(names, ", ");
}

void add_findings(const std::string& path, const std::set<gpu::Arch>& code, const gpu::ExpectedCode& expected,
                  bool named, const gpu::CodeJudgement& judgement, std::vector<Finding>& findings) {
  const auto why = [&](const char* otherwise) { return expected.why.empty() ? otherwise : expected.why; };
  for (const std::string& what : judgement.missing) {
    findings.push_back({"arch-missing-in-file", named ? Severity::error : Severity::warning, path,
                        fmt::format("has no device code for {}; it has {}", what, list_of_archs(code)),
                        why("kernels fail on it with \"no kernel image is available for execution on the device\""),
                        "search the build log for the architectures passed to its compile commands"});
  }
  for (const gpu::Arch& arch : judgement.unexpected) {
    findings.push_back({"arch-unexpected", Severity::error, path,
                        fmt::format("contains device code for {}, which the recipe excludes", gpu::list_name(arch)),
                        why("this code does not work"), "remove it from the architecture list"});
  }
  if (!judgement.unasked.empty()) {
    findings.push_back(
        {"arch-unasked", Severity::warning, path,
         fmt::format("contains device code that was not requested: {}", list_of_archs(judgement.unasked)),
         "it increases wheel size and build time", "remove it from the architecture list"});
  }
}

}  // namespace

std::vector<Finding> check_expected_code(const std::vector<ElfFacts>& files, const gpu::ArchList& asked,
                                         const std::vector<gpu::ExpectedCode>& expected) {
  static const gpu::ExpectedCode k_whole_list;
  std::vector<Finding> findings;
  for (const ElfFacts& file : files) {
    const auto named = std::find_if(expected.begin(), expected.end(),
                                    [&](const gpu::ExpectedCode& one) { return glob_match(one.library, file.path); });
    const std::set<gpu::Arch> code = binary_archs(file);
    if (named == expected.end() && code.empty()) continue;
    const gpu::ExpectedCode& one = named == expected.end() ? k_whole_list : *named;
    add_findings(file.path, code, one, named != expected.end(), gpu::judge_code(code, asked, one), findings);
  }
  return findings;
}

}  // namespace wheelsmith::wheel
