// Variant properties and the binaries that they describe.
//
// A property is a promise that an installer checks against the machine. NVIDIA's provider reports for a GPU of compute
// capability M.m the values "Mm_real" down to "M0_real" and "M0_virtual" of the feature sm_arch; a wheel is chosen if
// one of its values is among them. So "100_real" promises code for every GPU 10.x, and a value is true only if all of
// them find code: sm_100 runs on a 10.3, sm_100a does not, and there is no value for "exactly 10.0". Values that are
// not true are left out.
//
// The CUDA version is the lowest driver that works. Minor versions are compatible, so that is N.0 for a wheel that uses
// libcudart.so.N. A wheel that links the runtime statically names its CUDA version nowhere; its requirements or its
// local version do. The level of x86-64 comes from GNU property notes, which compilers write on request; instructions
// are not examined, because libraries choose among several levels at run time.

#include "wheel/tags/variant_properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "gpu/coverage.h"
#include "pep/requirement.h"

namespace wheelsmith::wheel {

namespace {

// Libraries whose SONAME has the major version of CUDA.
constexpr std::string_view k_cuda_libraries[] = {"libcudart", "libnvrtc", "libcublas", "libcublasLt", "libnvJitLink"};

struct VariantFacts {
  std::set<gpu::CodePiece> nvidia, amd;
  std::string cuda;  // "13.0", "" if unknown
  std::string cuda_why;
  std::string rocm;  // "7.1", "" if unknown
  bool uses_cuda = false, uses_rocm = false;
  bool kpack = false;  // the device code is in another package
  int x86_level = 0;   // 0: unknown or the baseline
  std::string x86_file;
};

// "12" of "libcudart.so.12", "libcudart-1b6b9b1f.so.12.8.90" and "libcudart.so.11.0".
std::optional<std::uint64_t> cuda_major(std::string_view library) {
  const std::size_t so = library.find(".so.");
  if (so == library.npos) return std::nullopt;
  std::string_view stem = library.substr(0, so);
  if (const std::size_t dash = stem.rfind('-'); dash != stem.npos) stem = stem.substr(0, dash);
  if (!is_one_of(stem, k_cuda_libraries)) return std::nullopt;
  const std::string_view version = library.substr(so + 4);
  return to_number(version.substr(0, version.find('.')));
}

// "7.1" of "==7.1.0", "~=7.1" and so on; "" if nothing bounds it from below.
std::string lowest_version(const pep::Requirement& requirement) {
  for (const pep::Specifier& one : requirement.specifiers) {
    if (one.op != "==" && one.op != "~=" && one.op != ">=" && one.op != "===") continue;
    const std::vector<std::string_view> parts = split(one.version, '.');
    if (!is_digits(parts[0])) continue;
    if (parts.size() < 2 || !is_digits(parts[1])) return std::string(parts[0]) + ".0";
    return fmt::format("{}.{}", parts[0], parts[1]);
  }
  return "";
}

void read_requirements(const Distribution& distribution, VariantFacts& facts) {
  if (!distribution.metadata) return;
  for (const std::string& text : distribution.metadata->all("Requires-Dist")) {
    const auto requirement = pep::Requirement::try_parse(text);
    if (!requirement) continue;
    const std::string name = pep::normalized_name(requirement->name);
    if (facts.cuda.empty() && name.starts_with("nvidia-cuda-runtime")) {
      const std::string_view suffix = std::string_view(name).substr(std::string_view("nvidia-cuda-runtime").size());
      const std::string version = lowest_version(*requirement);
      if (suffix.starts_with("-cu") && is_digits(suffix.substr(3)))
        facts.cuda = fmt::format("{}.0", suffix.substr(3));
      else if (!version.empty())
        facts.cuda = version.substr(0, version.find('.')) + ".0";
      if (!facts.cuda.empty()) facts.cuda_why = "Requires-Dist: " + text;
    }
    if (facts.rocm.empty() && (name == "rocm" || name == "rocm-sdk-core")) facts.rocm = lowest_version(*requirement);
  }
}

// "13.0" of "cu130", "7.1" of "rocm7.1.0".
void read_local_version(const Distribution& distribution, VariantFacts& facts) {
  const std::string version = distribution.version();
  const std::size_t plus = version.find('+');
  if (plus == std::string::npos) return;
  std::string_view local = std::string_view(version).substr(plus + 1);
  const auto digits = [](std::string_view text) {
    return text.substr(0, std::min(text.size(), text.find_first_not_of("0123456789.")));
  };
  if (local.starts_with("cu")) {
    const std::string_view number = digits(local.substr(2));
    if (facts.cuda.empty() && number.size() == 3 && is_digits(number)) {
      facts.cuda = fmt::format("{}.0", number.substr(0, 2));
      facts.cuda_why = "the local version " + std::string(local);
    }
  } else if (local.starts_with("rocm") && facts.rocm.empty()) {
    const std::string_view whole = digits(local.substr(4));
    const std::vector<std::string_view> parts = split(whole, '.');
    if (parts.size() >= 2 && is_digits(parts[0]) && is_digits(parts[1]))
      facts.rocm = fmt::format("{}.{}", parts[0], parts[1]);
  }
}

int x86_level_of(std::uint32_t isa_needed) {
  // GNU_PROPERTY_X86_ISA_1_BASELINE, _V2, _V3, _V4
  for (int level = 4; level >= 2; --level) {
    if ((isa_needed & (1U << (level - 1))) != 0) return level;
  }
  return 0;
}

VariantFacts facts_of(const Scan& scan, const Distribution& distribution) {
  VariantFacts facts;
  const auto add_code = [&](const gpu::DeviceCode& code) {
    for (const gpu::CodeSum& sum : code.sums) {
      // Link material runs only after a link by the driver, LTO IR never by itself.
      if (sum.relocatable || sum.kind == gpu::CodeKind::ltoir) continue;
      (sum.arch.vendor == gpu::Vendor::nvidia ? facts.nvidia : facts.amd).insert({sum.arch, sum.kind});
    }
    facts.kpack = facts.kpack || code.kpack.has_value();
  };
  std::uint64_t major = 0;
  for (const ElfFacts& file : scan.elf) {
    add_code(file.device_code);
    std::vector<std::string> libraries = file.needed;
    libraries.push_back(file.soname);
    for (const std::string& library : libraries) {
      if (library.starts_with("libamdhip64")) facts.uses_rocm = true;
      if (const auto found = cuda_major(library); found && *found > major && *found < 100) {
        major = *found;
        facts.cuda = fmt::format("{}.0", major);
        facts.cuda_why = fmt::format("{} needs {}", file.path, library);
      }
    }
    if (const int level = x86_level_of(file.x86_isa_needed); level > facts.x86_level) {
      facts.x86_level = level;
      facts.x86_file = file.path;
    }
  }
  for (const DeviceFile& file : scan.device_files) add_code(file.code);
  facts.uses_cuda = !facts.nvidia.empty() || !facts.cuda.empty();
  facts.uses_rocm = facts.uses_rocm || !facts.amd.empty();
  read_requirements(distribution, facts);
  read_local_version(distribution, facts);
  return facts;
}

// A value of sm_arch: 90 and "real" of "90_real".
struct SmValue {
  std::uint32_t number = 0;
  bool is_virtual = false;

  [[nodiscard]] std::string to_string() const { return fmt::format("{}_{}", number, is_virtual ? "virtual" : "real"); }
  // Whether the provider reports it for a GPU of this compute capability.
  [[nodiscard]] bool is_reported_for(std::uint32_t capability) const {
    if (number / 10 != capability / 10) return false;
    return is_virtual ? number % 10 == 0 : number <= capability;
  }
};

std::optional<SmValue> parse_sm(std::string_view text) {
  const std::size_t bar = text.find('_');
  const auto number = to_number(text.substr(0, bar));
  if (bar == text.npos || !number || *number < 10 || *number > 9999) return std::nullopt;
  const std::string_view kind = text.substr(bar + 1);
  if (kind != "real" && kind != "virtual") return std::nullopt;
  return SmValue{static_cast<std::uint32_t>(*number), kind == "virtual"};
}

bool runs_on(const std::set<gpu::CodePiece>& pieces, const gpu::Arch& device) {
  return std::ranges::any_of(
      pieces, [&](const gpu::CodePiece& piece) { return gpu::fit(piece.arch, piece.kind, device) != gpu::Fit::none; });
}

// Compute capabilities for which the value is reported and no code runs; the value's own one included.
std::vector<std::string> unserved(const SmValue& value, const std::set<gpu::CodePiece>& pieces) {
  std::set<std::uint32_t> capabilities = {value.number};
  for (const gpu::Device& device : gpu::known_devices()) {
    if (device.arch.vendor != gpu::Vendor::nvidia || !value.is_reported_for(device.arch.number)) continue;
    // Integrated GPUs (8.7) run no code of others; the provider does not tell them apart, and no wheel can help it.
    const gpu::CodeKind kind = value.is_virtual ? gpu::CodeKind::ptx : gpu::CodeKind::sass;
    if (gpu::fit(gpu::nvidia_arch(value.number), kind, device.arch) == gpu::Fit::none) continue;
    capabilities.insert(device.arch.number);
  }
  std::vector<std::string> result;
  for (const std::uint32_t capability : capabilities) {
    if (!runs_on(pieces, gpu::nvidia_arch(capability)))
      result.push_back(fmt::format("{}.{}", capability / 10, capability % 10));
  }
  return result;
}

void find_sm_values(const VariantFacts& facts, FoundProperties& found) {
  std::set<std::string> values, left_out;
  for (const gpu::CodePiece& piece : facts.nvidia) {
    const SmValue value{piece.arch.number, piece.kind == gpu::CodeKind::ptx};
    // Installers never report a virtual value of another minor version, but it says what is there.
    const std::vector<std::string> missing = unserved(value, facts.nvidia);
    if (missing.empty())
      values.insert(value.to_string());
    else
      left_out.insert(
          fmt::format("{} is not among the values of sm_arch: {} would also be chosen for {}, where it does "
                      "not run",
                      gpu::display_name(piece.arch, piece.kind), value.to_string(), join(missing, " and ")));
  }
  found.notes.insert(found.notes.end(), left_out.begin(), left_out.end());
  if (!values.empty())
    found.properties["nvidia"]["sm_arch"] = std::move(values);
  else if (!facts.nvidia.empty())
    found.notes.emplace_back("no value of sm_arch describes the wheel's device code; it would be chosen for any GPU");
}

// The processor of a target id, where a value can hold it: "gfx90a" of "gfx90a:xnack-".
std::string processor_of(const gpu::Arch& arch) { return arch.target.substr(0, arch.target.find(':')); }

bool is_plain_processor(std::string_view name) {
  return name.starts_with("gfx") && name.size() > 3 &&
         std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); });
}

void find_gfx_values(const VariantFacts& facts, FoundProperties& found) {
  std::set<std::string> values;
  for (const gpu::CodePiece& piece : facts.amd) {
    const std::string processor = processor_of(piece.arch);
    if (is_plain_processor(processor)) {
      values.insert(processor);
      continue;
    }
    // A generic target: the processors that it covers. SPIR-V covers all and has no value.
    std::size_t count = 0;
    for (const gpu::Device& device : gpu::known_devices()) {
      const std::string name = processor_of(device.arch);
      if (processor == "amdgcnspirv" || device.arch.vendor != gpu::Vendor::amd || !is_plain_processor(name)) continue;
      if (gpu::fit(piece.arch, piece.kind, device.arch) == gpu::Fit::none) continue;
      values.insert(name);
      ++count;
    }
    if (count == 0) found.notes.push_back(fmt::format("{} has no value of gfx_arch", piece.arch.target));
  }
  if (!values.empty()) found.properties["amd"]["gfx_arch"] = std::move(values);
}

// "gfx11" and "gfx115x" of rocm-bootstrap stand for families.
bool matches_family(std::string_view value, std::string_view processor) {
  const std::string_view prefix = value.substr(0, std::min(value.size(), value.find('x', 3)));
  return processor.size() > prefix.size() && processor.starts_with(prefix);
}

Finding false_property(const std::string& subject, const std::string& what) {
  return {"variant-property-false",
          Severity::error,
          subject,
          what,
          "an installer chooses the wheel for a machine on which it does not run",
          "write the properties from the binaries: wheelsmith variant --dialect pep825 WHEEL"};
}

Finding missing_property(const std::string& subject, const std::string& what) {
  return {"variant-property-missing",
          Severity::warning,
          subject,
          what,
          "an installer does not choose the wheel for a machine on which it runs",
          "write the properties from the binaries: wheelsmith variant --dialect pep825 WHEEL"};
}

void check_sm(const std::set<std::string>& declared, const VariantFacts& facts, const std::string& subject,
              std::vector<Finding>& findings) {
  std::vector<SmValue> values;
  for (const std::string& text : declared) {
    const auto value = parse_sm(text);
    if (!value) {
      findings.push_back({"variant-value-unknown", Severity::warning, subject,
                          fmt::format("nvidia :: sm_arch :: {} is not a value that the provider reports", text),
                          "no machine has this property", "write 90_real or 90_virtual"});
      continue;
    }
    values.push_back(*value);
    const std::vector<std::string> missing = unserved(*value, facts.nvidia);
    if (!missing.empty())
      findings.push_back(false_property(subject, fmt::format("nvidia :: sm_arch :: {} is declared, but no code in the "
                                                             "wheel runs on {}",
                                                             text, join(missing, " and "))));
  }
  for (const gpu::CodePiece& piece : facts.nvidia) {
    if (piece.kind != gpu::CodeKind::sass) continue;
    const bool reachable =
        std::ranges::any_of(values, [&](const SmValue& value) { return value.is_reported_for(piece.arch.number); });
    if (!reachable && unserved({piece.arch.number, false}, facts.nvidia).empty())
      findings.push_back(missing_property(subject, fmt::format("has {} code, but no value of sm_arch covers {}.{}",
                                                               gpu::display_name(piece.arch, piece.kind),
                                                               piece.arch.number / 10, piece.arch.number % 10)));
  }
}

void check_gfx(const std::set<std::string>& declared, const VariantFacts& facts, const std::string& subject,
               std::vector<Finding>& findings) {
  if (facts.kpack && facts.amd.empty()) return;
  for (const std::string& value : declared) {
    const bool served =
        runs_on(facts.amd, gpu::amd_arch(value)) || std::ranges::any_of(facts.amd, [&](const gpu::CodePiece& piece) {
          return processor_of(piece.arch) == value || matches_family(value, processor_of(piece.arch));
        });
    if (!served)
      findings.push_back(false_property(
          subject, fmt::format("amd :: gfx_arch :: {} is declared, but no code in the wheel runs on it", value)));
  }
  for (const gpu::CodePiece& piece : facts.amd) {
    const std::string processor = processor_of(piece.arch);
    if (!is_plain_processor(processor) || declared.contains(processor)) continue;
    if (std::ranges::none_of(declared, [&](const std::string& value) { return matches_family(value, processor); }))
      findings.push_back(
          missing_property(subject, fmt::format("has {} code, but gfx_arch does not name it", processor)));
  }
}

const std::set<std::string>* find_feature(const pep::VariantProperties& properties, const char* space,
                                          const char* feature) {
  const auto found = properties.find(space);
  if (found == properties.end()) return nullptr;
  const auto values = found->second.find(feature);
  return values == found->second.end() ? nullptr : &values->second;
}

}  // namespace

FoundProperties find_variant_properties(const Scan& scan, const Distribution& distribution) {
  FoundProperties found;
  const VariantFacts facts = facts_of(scan, distribution);
  find_sm_values(facts, found);
  if (facts.uses_cuda) {
    if (facts.cuda.empty()) {
      found.notes.emplace_back(
          "no library and no requirement names the CUDA version; add it with --property \"nvidia :: "
          "cuda_version_lower_bound :: 12.0\"");
    } else {
      found.properties["nvidia"]["cuda_version_lower_bound"] = {facts.cuda};
      found.notes.push_back(fmt::format("cuda_version_lower_bound is {}: {}", facts.cuda, facts.cuda_why));
    }
  }
  find_gfx_values(facts, found);
  if (facts.uses_rocm) {
    if (facts.rocm.empty())
      found.notes.emplace_back(
          "no requirement names the ROCm version; add it with --property \"amd :: rocm_version :: 7.1\"");
    else
      found.properties["amd"]["rocm_version"] = {facts.rocm};
  }
  if (facts.x86_level > 1) found.properties["x86_64"]["level"] = {fmt::format("v{}", facts.x86_level)};
  return found;
}

std::vector<Finding> check_variant_properties(const pep::VariantProperties& properties, const Scan& scan,
                                              const Distribution& distribution, const std::string& subject) {
  std::vector<Finding> findings;
  const VariantFacts facts = facts_of(scan, distribution);
  if (const auto* values = find_feature(properties, "nvidia", "sm_arch")) check_sm(*values, facts, subject, findings);
  if (const auto* values = find_feature(properties, "amd", "gfx_arch")) check_gfx(*values, facts, subject, findings);
  if (const auto* values = find_feature(properties, "nvidia", "cuda_version_lower_bound");
      values && !facts.cuda.empty()) {
    const auto needed = to_number(std::string_view(facts.cuda).substr(0, facts.cuda.find('.')));
    for (const std::string& value : *values) {
      const auto declared = to_number(std::string_view(value).substr(0, value.find('.')));
      if (declared && needed && *declared < *needed)
        findings.push_back(false_property(
            subject, fmt::format("nvidia :: cuda_version_lower_bound :: {} is declared, but it needs CUDA {} ({})",
                                 value, facts.cuda, facts.cuda_why)));
    }
  }
  const auto* levels = find_feature(properties, "x86_64", "level");
  if (levels != nullptr && facts.x86_level > 1) {
    for (const std::string& value : *levels) {
      const auto declared = value.starts_with("v") ? to_number(std::string_view(value).substr(1)) : std::nullopt;
      if (declared && *declared < static_cast<std::uint64_t>(facts.x86_level))
        findings.push_back(false_property(subject, fmt::format("x86_64 :: level :: {} is declared, but {} needs v{}",
                                                               value, facts.x86_file, facts.x86_level)));
    }
  }
  return findings;
}

std::vector<Finding> check_variant_file(const std::optional<pep::WheelName>& name, const Distribution& distribution,
                                        const FileTree& tree, std::optional<pep::VariantProperties>& properties) {
  const std::string member = distribution.dist_info + "/variant.json";
  const std::string label = name ? name->label : "";
  const std::optional<Blob> blob = tree.open(member);
  if (!blob) {
    if (label.empty()) return {};
    return {{"variant-file-missing", Severity::error, member,
             fmt::format("is missing, but the file name has the variant label {}", printable(label)),
             "installers cannot tell for which machines the wheel is", "run `wheelsmith variant` on the wheel"}};
  }
  const pep::VariantReading reading = pep::read_variant_file(blob->bytes.text());
  std::vector<Finding> findings;
  for (const std::string& problem : reading.problems)
    findings.push_back({"variant-file-invalid", Severity::error, member,
                        fmt::format("is not valid ({}): {}", pep::to_string(reading.file.dialect), problem),
                        "installers that support variants reject or ignore the wheel",
                        "run `wheelsmith variant` on the wheel"});
  if (!findings.empty()) return findings;
  const auto& variants = reading.file.variants;
  if (variants.size() != 1 || (name && variants.begin()->first != label)) {
    std::vector<std::string> labels;
    for (const auto& [one, ignored] : variants) labels.push_back(one);
    findings.push_back({"variant-label-differs", Severity::error, member,
                        fmt::format("describes {}, but the file name has {}", join(labels, ", "),
                                    label.empty() ? "no label" : "the label " + printable(label)),
                        "installers reject a wheel whose variant.json describes another label",
                        "run `wheelsmith variant` on the wheel"});
    return findings;
  }
  properties = variants.begin()->second;
  return findings;
}

}  // namespace wheelsmith::wheel
