#include "wheel/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "wheel/check/archs.h"
#include "wheel/check/claimed_platform.h"
#include "wheel/check/expected_code.h"
#include "wheel/check/finding_limit.h"
#include "wheel/check/identity.h"
#include "wheel/check/names.h"
#include "wheel/check/preload.h"
#include "wheel/check/record.h"
#include "wheel/check/run_paths.h"
#include "wheel/check/symbols/symbols.h"
#include "wheel/check/torch/torch_abi.h"
#include "wheel/read/file_roles.h"
#include "wheel/read/python_use.h"
#include "wheel/read/scan.h"
#include "wheel/read/symbol_names.h"
#include "wheel/read/wheel_tree.h"
#include "wheel/tags/required_packages.h"
#include "wheel/tags/variant_properties.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::uint64_t k_registry_limit = 100'000'000;
constexpr std::size_t k_most_owners = 8;  // packages of a folder that list the same file; each costs a hash

using Findings = std::vector<Finding>;

void append(Findings& to, Findings&& more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

RecordCheck::Names names_of(const std::vector<FileTree::File>& files) {
  RecordCheck::Names names;
  names.reserve(files.size());
  for (const FileTree::File& file : files) names.insert(file.name);
  return names;
}

std::optional<pep::Record> read_record(const FileTree& tree, const Distribution& distribution, Findings& findings) {
  if (!distribution.has_record) return std::nullopt;
  const std::string name = distribution.dist_info + "/RECORD";
  try {
    const std::optional<Blob> blob = tree.open(name);
    if (blob) return pep::Record::parse(blob->bytes);
  } catch (const Error& error) {
    findings.push_back({"record-malformed", Severity::error, name, error.what(),
                        "installers cannot read the list of files", "rebuild the wheel"});
  }
  return std::nullopt;
}

void check_size(const std::string& subject, std::uint64_t size, const CheckOptions& options, Findings& findings) {
  if (size <= options.max_size.value_or(k_registry_limit)) return;
  findings.push_back(
      {"size-large", options.max_size ? Severity::error : Severity::note, subject,
       options.max_size
           ? fmt::format("is {}; the limit is {}", human_bytes(size), human_bytes(*options.max_size))
           : fmt::format("is {}; PyPI accepts {} by default", human_bytes(size), human_bytes(k_registry_limit)),
       "uploads above the limit are rejected, and large wheels are slow to install",
       "build for fewer architectures, strip debug information, or request a higher limit"});
}

// Inputs of the binary checks besides the binaries.
struct BinaryContext {
  std::string subject;  // names the wheel
  FileRoles roles;
  RequiredPackages required;
  std::set<std::string> packages;  // the folders at the top
  std::vector<Provider> around;    // of the machine, for an installed folder
};

std::set<std::string> top_folders(const std::vector<FileTree::File>& files) {
  std::set<std::string> result;
  for (const FileTree::File& file : files) {
    if (const std::size_t slash = file.name.find('/'); slash != std::string::npos) {
      result.insert(file.name.substr(0, slash));
    }
  }
  return result;
}

// Users of a wheel do not run its test programs, so all findings about them become one note.
void check_test_programs(const Scan& found, const BinaryContext& context, Findings& findings) {
  std::vector<std::string> tests;
  for (const ElfFacts& file : found.elf) {
    if (context.roles.is_test(file.path)) tests.push_back(file.path);
  }
  if (tests.empty()) return;
  std::erase_if(findings, [&](const Finding& finding) { return context.roles.is_test(finding.subject); });
  findings.push_back({"binaries-test-programs", Severity::note, context.subject,
                      fmt::format("has {} that {} not checked: {}", counted(tests.size(), "test program"),
                                  tests.size() == 1 ? "was" : "were", list_some(tests, 3)),
                      "They take disk space in every installation, and the package does not use them.",
                      "Exclude them from the wheel."});
}

void check_binaries(const Scan& found, const BinaryContext& context, const CheckOptions& options, Findings& findings) {
  const SymbolScope scope{options.against, context.around, context.roles};
  append(findings, check_symbols(found.elf, scope));
  append(findings, check_second_libstdcxx(found.elf, scope));
  append(findings, check_required_symbols(found.elf, options.required_symbols));
  append(findings, check_torch_abi(found.elf, options.against));
  Findings archs = check_archs(found.elf, found.device_files, options.archs, options.devices, context.subject);
  if (options.archs && !options.expected_code.empty()) {
    // Expectations for specific libraries replace the general ones.
    std::erase_if(archs,
                  [](const Finding& one) { return one.id == "arch-missing-in-file" || one.id == "arch-unasked"; });
    append(archs, check_expected_code(found.elf, *options.archs, options.expected_code));
  }
  append(findings, std::move(archs));
  append(findings, check_run_paths(found.elf, context.required, context.packages));
  const auto malformed = [&](const char* id, const std::string& path, const std::string& what) {
    findings.push_back({id, Severity::warning, path, what,
                        "an unreadable part may not load either, and was not checked",
                        "rebuild the file with current tools"});
  };
  for (const ElfFacts& file : found.elf) {
    for (const Finding& finding : file.layout) findings.push_back(finding);
    for (const std::string& problem : file.device_code.problems) malformed("gpu-code-malformed", file.path, problem);
  }
  for (const DeviceFile& file : found.device_files) {
    for (const std::string& problem : file.code.problems) malformed("gpu-code-malformed", file.path, problem);
  }
  check_test_programs(found, context, findings);
}

// Errors first, then warnings, then notes; within each in the order found. Sorted before the limit applies, so that
// omitted findings are never more severe than reported ones.
void arrange(Findings& findings) {
  const auto is_worse = [](const Finding& a, const Finding& b) { return a.severity < b.severity; };
  std::stable_sort(findings.begin(), findings.end(), is_worse);
  findings = limited(std::move(findings));
  std::stable_sort(findings.begin(), findings.end(), is_worse);
}

void add_carried(Scan& found, const CarriedMembers& carried) {
  if (carried.scan == nullptr) return;
  const auto add = [&](auto& to, const auto& from) {
    for (const auto& one : from) {
      if (carried.is_carried(one.path)) to.push_back(one);
    }
    std::ranges::sort(to, {}, [](const auto& one) -> const std::string& { return one.path; });
  };
  add(found.elf, carried.scan->elf);
  add(found.device_files, carried.scan->device_files);
  for (const Finding& finding : carried.scan->unreadable) {
    if (carried.is_carried(finding.subject)) found.unreadable.push_back(finding);
  }
}

std::optional<pep::WheelName> parse_name(const std::string& path, Findings& findings) {
  const std::string file_name(base_name(path));
  try {
    const pep::WheelName name = pep::WheelName::parse(file_name);
    append(findings, pep::check_wheel_name(name, file_name));
    return name;
  } catch (const Error& error) {
    findings.push_back({"name-invalid", Severity::error, file_name, error.what(),
                        "installers read name, version and tags from the file name and reject this one",
                        "rename it to {name}-{version}-{python}-{abi}-{platform}.whl"});
    return std::nullopt;
  }
}

}  // namespace

bool Verdict::is_good() const {
  return error.empty() && std::none_of(findings.begin(), findings.end(),
                                       [](const Finding& finding) { return finding.severity == Severity::error; });
}

Verdict check_wheel(const std::string& path, Bytes file, const CheckOptions& options) {
  Verdict verdict;
  verdict.path = path;
  Findings& findings = verdict.findings;
  const std::optional<pep::WheelName> name = parse_name(path, findings);
  if (gpu::file_kind(file.clamp(0, 64)) != gpu::FileKind::other) {
    throw Error("is a binary, not a wheel; run `wheelsmith inspect` to show its contents");
  }
  const zip::Archive archive = zip::Archive::open(file);
  append(findings, archive.check());
  std::vector<std::string> raw_names;
  for (const zip::Entry& entry : archive.entries()) raw_names.push_back(entry.name);
  append(findings, check_member_names(raw_names));

  const WheelTree tree(archive);
  const std::vector<FileTree::File> files = tree.files();
  const std::vector<Distribution> distributions = find_distributions(tree, files);
  append(findings, check_identity(name, distributions));

  // One pass over all members collects hashes for RECORD and facts about the binaries.
  std::optional<pep::Record> record;
  if (!distributions.empty()) record = read_record(tree, distributions[0], findings);
  std::unique_ptr<RecordCheck> record_check;
  if (record) {
    record_check =
        std::make_unique<RecordCheck>(distributions[0].dist_info + "/RECORD", *record, RecordCheck::Where::archive);
  }
  PythonUse python(files);
  ScanOptions scan_options{.threads = options.threads, .exported = true, .layout = true};
  scan_options.each = [&](const std::string& member, Bytes bytes) {
    if (record_check) record_check->see(member, bytes);
    python.see(member, bytes);
  };
  if (options.carried != nullptr) scan_options.skip = options.carried->is_carried;
  Scan found = scan(tree, scan_options);
  if (options.carried != nullptr) add_carried(found, *options.carried);
  python.finish();
  append(findings, std::move(found.unreadable));
  if (record_check) append(findings, record_check->finish(names_of(files)));

  const std::string subject(base_name(path));
  const std::vector<std::string> tags = name ? name->platforms() : std::vector<std::string>();
  BinaryContext context{subject, FileRoles(found.elf, python), {}, top_folders(files), {}};
  if (!distributions.empty()) context.required = required_packages(distributions[0], python);
  check_size(subject, file.size(), options, findings);
  std::optional<pep::VariantProperties> properties;
  if (!distributions.empty()) {
    append(findings, check_tags(name, distributions[0], found.elf));
    append(findings, check_variant_file(name, distributions[0], tree, properties));
  }
  if (options.carried == nullptr || options.carried->all_binaries) {
    PlatformOptions platform = options.platform;
    platform.roles = &context.roles;
    platform.packages = &context.required;
    append(findings, check_platform(tags, options.policy, found.elf, platform, subject));
    check_binaries(found, context, options, findings);
    append(findings, check_preload(tree, files, found.elf));
    if (properties) append(findings, check_variant_properties(*properties, found, distributions[0], subject));
  }
  arrange(findings);
  return verdict;
}

Verdict check_folder(const std::string& path, const FileTree& tree, const LoaderMachine& machine,
                     const CheckOptions& options) {
  Verdict verdict;
  verdict.path = path;
  Findings& findings = verdict.findings;
  const std::vector<FileTree::File> files = tree.files();
  const RecordCheck::Names names = names_of(files);
  const std::vector<Distribution> distributions = find_distributions(tree, files);
  append(findings, check_identity(std::nullopt, distributions));

  std::vector<std::unique_ptr<pep::Record>> records;
  std::vector<std::unique_ptr<RecordCheck>> record_checks;
  for (const Distribution& distribution : distributions) {
    std::optional<pep::Record> record = read_record(tree, distribution, findings);
    if (!record) continue;
    const bool unpacked_wheel = distributions.size() == 1 && !distribution.is_installed;
    records.push_back(std::make_unique<pep::Record>(std::move(*record)));
    record_checks.push_back(
        std::make_unique<RecordCheck>(distribution.dist_info + "/RECORD", *records.back(),
                                      unpacked_wheel ? RecordCheck::Where::archive : RecordCheck::Where::installed));
  }
  // 10,000 packages with ten files each must not cost 10^9 lookups.
  std::unordered_multimap<std::string_view, RecordCheck*> listed_by;
  for (const auto& check : record_checks) {
    for (const std::string_view name : check->paths()) {
      if (names.contains(name) && listed_by.count(name) < k_most_owners) listed_by.emplace(name, check.get());
    }
  }
  PythonUse python(files);
  ScanOptions scan_options{.threads = options.threads, .exported = true, .layout = true};
  scan_options.each = [&](const std::string& member, Bytes bytes) {
    python.see(member, bytes);
    const auto [first, last] = listed_by.equal_range(member);
    for (auto check = first; check != last; ++check) check->second->see(member, bytes);
  };
  Scan found = scan(tree, scan_options);
  python.finish();
  append(findings, std::move(found.unreadable));
  for (const auto& check : record_checks) append(findings, check->finish(names));

  if (distributions.size() == 1) append(findings, check_tags(std::nullopt, distributions[0], found.elf));
  const std::string subject(base_name(path));
  const BinaryContext context{
      subject, FileRoles(found.elf, python), {}, top_folders(files), machine_libraries(found.elf, machine)};
  PlatformOptions platform = options.platform;
  platform.roles = &context.roles;
  append(findings, check_platform({}, options.policy, found.elf, platform, subject));
  append(findings, check_loading(found.elf, path, machine, context.roles));
  check_binaries(found, context, options, findings);
  append(findings, check_preload(tree, files, found.elf));
  arrange(findings);
  return verdict;
}

}  // namespace wheelsmith::wheel
