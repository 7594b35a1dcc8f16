// `slim` for installed packages: the files of each distribution, as its RECORD lists them, change in one transaction
// with RECORD. Files that no RECORD lists are not touched. The record of the operation goes into the .dist-info folder,
// as in a wheel.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "pep/record.h"
#include "pep/wheel_name.h"
#include "surgery/slim/slim_parts.h"
#include "surgery/slim/transaction.h"
#include "sys/file.h"
#include "wheel/read/distribution.h"
#include "wheel/write/seal.h"

namespace wheelsmith::surgery {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_operations = "wheelsmith/operations.json";

struct Installed {
  std::string dist_info;
  std::string name;
  std::map<std::string, pep::RecordLine> lines;
  std::string record_sha256;
};

// What a transaction does to one distribution. Only the hashes of edited files are missing: they are computed while the
// files are written, so that a dry run knows all sizes without writing them.
struct Changes {
  std::map<std::string, pep::RecordLine> lines;  // of the new RECORD
  std::vector<std::string> dropped;
  std::string operations;   // text of operations.json
  std::uint64_t bytes = 0;  // of all files afterwards
};

// RECORD also lists scripts outside site-packages ("../../../bin/x"); those hold no device code and stay.
bool is_inside(const std::string& path) {
  try {
    wheel::refuse_hostile_name(path);
    return true;
  } catch (const Error&) {  // the answer
    return false;
  }
}

bool has_name(const fs::path& file) {
  std::error_code ignored;  // a file that cannot be examined is not changed
  return fs::exists(fs::symlink_status(file, ignored));
}

std::uint64_t size_of(const fs::path& root, const std::string& path) {
  std::error_code error;
  const std::uint64_t size = is_inside(path) ? fs::file_size(root / path, error) : 0;
  return error ? 0 : size;  // a file that is missing stays missing
}

// Finds folders that are links to a place outside of the environment: other environments may share their files.
class LinkedFolders {
 public:
  explicit LinkedFolders(fs::path real_root) : m_root(std::move(real_root)) {}

  // Whether such a link leads to the file.
  bool lead_to(const std::string& path) {
    const std::string folder = fs::path(path).parent_path().string();
    if (folder.empty()) return false;
    const auto known = m_known.find(folder);
    if (known != m_known.end()) return known->second;
    bool linked = lead_to(folder);
    std::error_code error;
    if (!linked && fs::is_symlink(m_root / folder, error)) {
      const fs::path relative = fs::canonical(m_root / folder, error).lexically_relative(m_root);
      linked = error || relative.empty() || *relative.begin() == "..";
      if (linked) m_links.push_back(folder);
    }
    return m_known[folder] = linked;
  }
  [[nodiscard]] const std::vector<std::string>& links() const { return m_links; }

 private:
  fs::path m_root;
  std::map<std::string, bool> m_known;
  std::vector<std::string> m_links;
};

std::string operations_text(const fs::path& root, const Installed& one, const SlimRequest& request,
                            const SlimSummary& summary) {
  document::Array operations;
  const fs::path file = root / one.dist_info / k_operations;
  if (const auto text = sys::read_file_if_possible(file, 1 << 20)) {
    const auto value = document::try_parse_json(*text);
    if (const document::Array* list = value ? (*value)["operations"].array() : nullptr) operations = *list;
  }
  document::Table operation;
  operation["operation"] = "slim";
  operation["tool"] = "wheelsmith " WHEELSMITH_VERSION;
  document::Table input;
  input["file"] = one.dist_info + "/RECORD";
  input["sha256"] = one.record_sha256;
  operation["input"] = std::move(input);
  add_details(operation, request, summary);
  operations.emplace_back(std::move(operation));
  document::Table made;
  made["schema"] = 1;
  made["operations"] = std::move(operations);
  return document::to_json(made) + "\n";
}

std::string new_record(const Changes& changes, const std::string& dist_info) {
  std::vector<pep::RecordLine> sorted;
  for (const auto& [path, line] : changes.lines) {
    if (path != pep::record_path(dist_info)) sorted.push_back(line);
  }
  return pep::record_text(sorted, dist_info);
}

Installed read_installed(const fs::path& root, const wheel::Distribution& distribution) {
  Installed one{distribution.dist_info, pep::normalized_name(distribution.name()), {}, {}};
  const Blob record = sys::map_file(root / pep::record_path(one.dist_info));
  for (pep::RecordLine& line : pep::Record::parse(record.bytes).lines) {
    std::string path = line.path;
    one.lines.insert_or_assign(std::move(path), std::move(line));
  }
  one.record_sha256 = to_hex(sha256(record.bytes));
  return one;
}

Changes plan_changes(const fs::path& root, const Installed& one, const std::vector<SlimPlan>& plans,
                     const SlimRequest& request, const SlimSummary& summary) {
  Changes changes{one.lines, {}, operations_text(root, one, request, summary)};
  std::map<std::string, std::uint64_t> sizes;
  const Digest any_hash = sha256(Bytes());  // as long as the right one
  const auto drop = [&](const std::string& path) {
    if (changes.lines.erase(path) != 0 && has_name(root / path)) changes.dropped.push_back(path);
  };
  const auto put = [&](const std::string& path, std::uint64_t size) {
    changes.lines.insert_or_assign(path, pep::record_line(path, any_hash, size));
    sizes[path] = size;
  };
  for (const SlimPlan& plan : plans) {
    if (!plan.slimmed.changed) continue;
    if (!plan.slimmed.empty) {
      put(plan.path, plan.slimmed.splice.size());
      continue;
    }
    for (const std::string& other :
         companions(plan.path, [&](const std::string& name) { return changes.lines.contains(name); }))
      drop(other);
    drop(plan.path);
  }
  for (const char* signature : {"RECORD.jws", "RECORD.p7s"}) drop(one.dist_info + "/" + signature);
  put(one.dist_info + "/" + k_operations, changes.operations.size());
  const std::string record = pep::record_path(one.dist_info);
  sizes[record] = new_record(changes, one.dist_info).size();
  for (const auto& [path, line] : changes.lines) {
    const auto known = sizes.find(path);
    changes.bytes += known != sizes.end() ? known->second : size_of(root, path);
  }
  if (!changes.lines.contains(record)) changes.bytes += sizes[record];
  return changes;
}

void write_distribution(const fs::path& root, const sys::FolderTree& tree, const Installed& one,
                        const std::vector<SlimPlan>& plans, Changes changes) {
  Transaction transaction(root, one.dist_info);
  const std::string record = pep::record_path(one.dist_info);
  if (transaction.recovered() || to_hex(sha256(sys::map_file(root / record).bytes)) != one.record_sha256)
    throw Error("another process changed it at the same time; run the command again");
  const auto replace = [&](const std::string& path, Bytes contents) {
    transaction.replace(path, contents);
    changes.lines.insert_or_assign(path, pep::record_line(path, sha256(contents), contents.size()));
  };
  for (const std::string& path : changes.dropped) transaction.remove(path);
  for (const SlimPlan& plan : plans) {
    if (!plan.slimmed.changed || plan.slimmed.empty) continue;
    const std::optional<Blob> old = tree.open(plan.path);
    if (!old || old->bytes.size() != plan.size) throw Error(fmt::format("{} has changed", printable(plan.path)));
    replace(plan.path, plan.slimmed.splice.apply(old->bytes).bytes());
  }
  sys::make_folders(root / one.dist_info / "wheelsmith");
  replace(one.dist_info + "/" + k_operations, Bytes(changes.operations));
  transaction.replace(record, Bytes(new_record(changes, one.dist_info)));
  transaction.commit();
}

}  // namespace

std::vector<Item> slim_environment(const fs::path& root, const SlimRequest& request,
                                   const std::vector<std::string>& only, const WriteOptions& options) {
  const sys::FolderTree tree(root);
  const fs::path real_root = fs::canonical(root);
  std::vector<wheel::Distribution> found = wheel::find_distributions(tree, tree.files());
  if (found.empty()) throw Error("no packages are installed in it");
  std::vector<Item> items;
  for (const wheel::Distribution& distribution : found) {
    const std::string name = pep::normalized_name(distribution.name());
    if (!only.empty() && std::ranges::find(only, name) == only.end()) continue;
    Item item;
    item.path = (root / distribution.dist_info).string();
    item.dry_run = options.dry_run;
    try {
      if (Transaction::recover(root, distribution.dist_info))
        item.notes.emplace_back("an earlier run was killed here; its changes were rolled back");
      if (!distribution.has_record) {
        if (!only.empty()) throw Error("it has no RECORD, so its files are unknown");
        continue;
      }
      const Installed one = read_installed(root, distribution);
      std::vector<FileTree::File> files;
      LinkedFolders linked(real_root);
      for (const auto& [path, line] : one.lines) {
        const std::uint64_t size = size_of(root, path);
        item.before_bytes += size;
        if (size != 0 && !linked.lead_to(path)) files.push_back({path, size});
      }
      for (const std::string& folder : linked.links())
        item.notes.push_back(
            fmt::format("{} is a link to a folder outside of the environment; it stays as it is", folder));
      const std::string vendor = restricted_vendor(name);
      const bool report_only = !vendor.empty() && !request.vendor_libraries;
      SlimRequest planned = request;
      planned.vendor_libraries |= report_only;
      const std::vector<SlimPlan> plans = plan_slim(tree, files, planned, options.threads);
      if (plans.empty() && only.empty() && item.notes.empty()) continue;
      SlimSummary summary = summarize(plans, planned);
      item.after_bytes = item.before_bytes;
      item.files = summary.files;
      item.notes.insert(item.notes.end(), summary.notes.begin(), summary.notes.end());
      if (report_only) {
        item.notes.push_back(
            fmt::format("unchanged: the licence of {}'s packages restricts modified copies. For your own use, add "
                        "--vendor-libraries",
                        vendor));
      } else if (summary.changes_anything) {
        if (linked.lead_to(one.dist_info + "/" + k_operations))
          throw Error("its .dist-info is or contains a link to a folder outside of the environment");
        Changes changes = plan_changes(root, one, plans, planned, summary);
        item.after_bytes = changes.bytes;
        if (!options.dry_run) write_distribution(root, tree, one, plans, std::move(changes));
        item.outputs.push_back({item.path, "", item.after_bytes, distribution.tags()});
      }
    } catch (const Error& error) {  // becomes an item with an error
      item.error = error.what();
      item.outputs.clear();
    }
    items.push_back(std::move(item));
  }
  if (items.empty() && !only.empty()) throw Error("none of the named packages is installed in it");
  return items;
}

}  // namespace wheelsmith::surgery
