#include "wheel/read/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "wheel/check/finding_limit.h"
#include "wheel/read/file_roles.h"
#include "wheel/read/wheel_tree.h"
#include "wheel/tags/required_packages.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_largest_shown = 10;

std::vector<LargeFile> largest_of(std::vector<LargeFile> files) {
  const std::size_t shown = std::min(k_largest_shown, files.size());
  std::partial_sort(
      files.begin(), files.begin() + static_cast<std::ptrdiff_t>(shown), files.end(),
      [](const LargeFile& a, const LargeFile& b) { return std::tie(b.size, a.path) < std::tie(a.size, b.path); });
  files.resize(shown);
  return files;
}

// The providers of libraries that the files need and the wheel does not bundle.
std::vector<std::string> used_packages(const std::vector<ElfFacts>& files, const RequiredPackages& required) {
  std::set<std::string> own;
  std::set<std::string> result;
  const std::set<std::string> folders = folders_of(files);
  for (const ElfFacts& file : files) {
    own.emplace(base_name(file.path));
    own.insert(file.soname);
  }
  for (const ElfFacts& file : files) {
    for (const std::string& needed : file.needed) {
      if (own.contains(needed)) continue;
      if (std::string who = provided_by_others(needed, required.required); !who.empty()) {
        result.insert(std::move(who));
      } else if (const auto found = find_required(required, file, needed, folders); found && found->certain) {
        result.insert("the wheel " + found->package);
      }
    }
  }
  return {result.begin(), result.end()};
}

// How the package's Python files use the packages it requires. Files that load libraries are small and named
// __init__.py or load.py; reading all others would take longer than the rest of `inspect`.
RequiredPackages read_required(const FileTree& tree, const std::vector<FileTree::File>& files,
                               const std::vector<Distribution>& distributions) {
  constexpr std::size_t k_most_files = 200;
  constexpr std::uint64_t k_largest_file = 64'000;
  if (distributions.size() != 1) return {};
  PythonUse python;
  std::size_t count = 0;
  for (const FileTree::File& file : files) {
    const std::string_view name = base_name(file.name);
    if ((name != "__init__.py" && name != "load.py") || file.size > k_largest_file || ++count > k_most_files) continue;
    try {
      if (const auto blob = tree.open(file.name)) python.see(file.name, blob->bytes);
    } catch (const Error&) {  // `check` reports it
    }
  }
  return required_packages(distributions[0], python);
}

// As in `check`: users do not run the wheel's test programs.
std::vector<ElfFacts> without_test_programs(const std::vector<ElfFacts>& files) {
  const FileRoles roles(files, {});
  std::vector<ElfFacts> judged;
  for (const ElfFacts& file : files) {
    if (!roles.is_test(file.path)) judged.push_back(file);
  }
  return judged;
}

void take_scan(Inspection& result, Scan&& scan, const InspectOptions& options, const RequiredPackages& required = {}) {
  result.elf = std::move(scan.elf);
  result.device_files = std::move(scan.device_files);
  result.problems = limited(std::move(scan.unreadable));
  result.gpu = sum_up(result.elf, result.device_files);
  PlatformOptions platform = options.platform;
  if (result.kind == ItemKind::wheel) {
    // If the file name has no platform, the binaries decide.
    if (const auto name = pep::WheelName::try_parse(base_name(result.path))) platform.tags = name->platforms();
  }
  const std::vector<ElfFacts> judged = without_test_programs(result.elf);
  result.platform = deserved_platform(judged, platform);
  platform.trust_others = true;
  platform.packages = &required;
  result.used_packages = used_packages(judged, required);
  result.platform_beside_others = deserved_platform(judged, platform);
}

void take_distribution(Inspection& result, const FileTree& tree, const std::vector<FileTree::File>& files) {
  result.distributions = find_distributions(tree, files);
  if (result.distributions.size() != 1) return;
  const Distribution& distribution = result.distributions[0];
  result.name = distribution.name();
  result.version = distribution.version();
  result.tags = distribution.tags();
  if (distribution.wheel) result.build = distribution.wheel->get("Build");
}

// The file name fills in missing metadata.
void take_file_name(Inspection& result) {
  const auto name = pep::WheelName::try_parse(base_name(result.path));
  if (!name) return;  // `check` reports it
  if (result.name.empty()) result.name = name->name;
  if (result.version.empty()) result.version = name->version;
  if (result.build.empty()) result.build = name->build;
  result.label = name->label;
  if (!result.tags.empty()) return;
  // A compressed set may expand to too many tags to list.
  const auto tags = if_valid([&] { return name->tags(); });
  for (const pep::Tag& tag : tags.value_or(std::vector<pep::Tag>())) result.tags.push_back(tag.to_string());
}

Inspection inspect_wheel(const std::string& path, Bytes file, const InspectOptions& options) {
  Inspection result;
  result.path = path;
  result.kind = ItemKind::wheel;
  const zip::Archive archive = zip::Archive::open(file);
  std::vector<LargeFile> members;
  for (const zip::Entry& entry : archive.entries()) {
    if (entry.is_folder()) continue;
    result.unpacked_size += entry.size;
    members.push_back({entry.name, entry.size, entry.packed_size});
  }
  result.size = file.size();
  result.file_count = members.size();
  result.largest = largest_of(std::move(members));
  const WheelTree tree(archive);
  take_distribution(result, tree, tree.files());
  take_file_name(result);
  take_scan(result, scan(tree, {.threads = options.threads}), options,
            read_required(tree, tree.files(), result.distributions));
  return result;
}

// A tree of one file, so that it is scanned like a member.
class SingleFile final : public FileTree {
 public:
  SingleFile(std::string name, Bytes bytes) : m_name(std::move(name)), m_bytes(bytes) {}
  [[nodiscard]] std::vector<File> files() const override { return {{m_name, m_bytes.size()}}; }
  [[nodiscard]] std::optional<Blob> open(const std::string&) const override { return Blob{nullptr, m_bytes}; }

 private:
  std::string m_name;
  Bytes m_bytes;
};

ItemKind item_kind(gpu::FileKind kind) {
  if (kind == gpu::FileKind::elf) return ItemKind::elf;
  return kind == gpu::FileKind::kpack ? ItemKind::kpack : ItemKind::fatbin;
}

}  // namespace

std::string_view to_string(ItemKind kind) {
  switch (kind) {
    case ItemKind::wheel: return "wheel";
    case ItemKind::elf: return "elf";
    case ItemKind::fatbin: return "fatbin";
    case ItemKind::folder: return "folder";
    case ItemKind::kpack: return "kpack";
  }
  return "wheel";
}

Inspection inspect_file(const std::string& path, Bytes file, const InspectOptions& options) {
  const gpu::FileKind kind = gpu::file_kind(file.clamp(0, 64));
  if (kind == gpu::FileKind::other) return inspect_wheel(path, file, options);
  Inspection result;
  result.path = path;
  result.kind = item_kind(kind);
  result.size = result.unpacked_size = file.size();
  result.file_count = 1;
  Scan found = scan(SingleFile(path, file), {.threads = 1});
  if (!found.unreadable.empty()) throw Error(found.unreadable[0].what);
  take_scan(result, std::move(found), options);
  if (kind != gpu::FileKind::elf) {
    result.platform.reset();
    result.platform_beside_others.reset();
  }
  return result;
}

Inspection inspect_folder(const std::string& path, const FileTree& tree, const InspectOptions& options) {
  Inspection result;
  result.path = path;
  result.kind = ItemKind::folder;
  const std::vector<FileTree::File> files = tree.files();
  std::vector<LargeFile> members;
  for (const FileTree::File& file : files) {
    result.unpacked_size += file.size;
    members.push_back({file.name, file.size, 0});
  }
  result.size = result.unpacked_size;
  result.file_count = files.size();
  result.largest = largest_of(std::move(members));
  take_distribution(result, tree, files);
  take_scan(result, scan(tree, {.threads = options.threads}), options);
  return result;
}

std::vector<gpu::CodeSum> sum_up(const std::vector<ElfFacts>& elf, const std::vector<DeviceFile>& device_files) {
  using Key = std::tuple<gpu::Arch, gpu::CodeKind, std::string, bool, bool>;
  std::map<Key, gpu::CodeSum> sums;
  const auto add = [&](const gpu::DeviceCode& code) {
    for (const gpu::CodeSum& part : code.sums) {
      gpu::CodeSum& sum = sums[{part.arch, part.kind, part.section, part.wrapped, part.relocatable}];
      const std::uint64_t count = sum.count, bytes = sum.bytes, unpacked = sum.unpacked_bytes;
      sum = part;
      sum.count += count;
      sum.bytes += bytes;
      sum.unpacked_bytes += unpacked;
    }
  };
  for (const ElfFacts& file : elf) add(file.device_code);
  for (const DeviceFile& file : device_files) add(file.code);
  std::vector<gpu::CodeSum> result;
  for (auto& [key, sum] : sums) result.push_back(std::move(sum));
  return result;
}

}  // namespace wheelsmith::wheel
