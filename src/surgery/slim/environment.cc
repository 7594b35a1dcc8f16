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
  std::vector<pep::RecordLine> lines;
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
  input["sha256"] = to_hex(sha256(sys::map_file(root / one.dist_info / "RECORD").bytes));
  operation["input"] = std::move(input);
  add_details(operation, request, summary);
  operations.emplace_back(std::move(operation));
  document::Table made;
  made["schema"] = 1;
  made["operations"] = std::move(operations);
  return document::to_json(made) + "\n";
}

std::uint64_t recorded_size(const fs::path& root, const Installed& one) {
  std::uint64_t sum = 0;
  for (const pep::RecordLine& line : one.lines) {
    std::error_code ignored;  // a file that is missing has no size
    const std::uint64_t size = is_inside(line.path) ? fs::file_size(root / line.path, ignored) : 0;
    if (!ignored) sum += size;
  }
  return sum;
}

void write_distribution(const fs::path& root, const sys::FolderTree& tree, const Installed& one,
                        const std::vector<SlimPlan>& plans, const SlimRequest& request, const SlimSummary& summary) {
  Transaction transaction(root, one.dist_info);
  if (transaction.recovered()) throw Error("another process changed it at the same time; run the command again");
  std::map<std::string, pep::RecordLine> lines;
  for (const pep::RecordLine& line : one.lines) lines.insert_or_assign(line.path, line);
  const auto drop = [&](const std::string& path) {
    transaction.remove(path);
    lines.erase(path);
  };
  for (const SlimPlan& plan : plans) {
    if (!plan.slimmed.changed) continue;
    if (plan.slimmed.empty) {
      for (const std::string& other :
           companions(plan.path, [&](const std::string& name) { return lines.contains(name); }))
        drop(other);
      drop(plan.path);
      continue;
    }
    const std::optional<Blob> old = tree.open(plan.path);
    if (!old || old->bytes.size() != plan.size) throw Error(fmt::format("{} has changed", printable(plan.path)));
    const Buffer made = plan.slimmed.splice.apply(old->bytes);
    transaction.replace(plan.path, made.bytes());
    lines.insert_or_assign(plan.path, pep::record_line(plan.path, sha256(made.bytes()), made.size()));
  }
  const std::string operations = one.dist_info + "/" + k_operations;
  const std::string text = operations_text(root, one, request, summary);
  sys::make_folders(root / one.dist_info / "wheelsmith");
  transaction.replace(operations, Bytes(text));
  lines.insert_or_assign(operations, pep::record_line(operations, sha256(Bytes(text)), text.size()));
  const std::string record = pep::record_path(one.dist_info);
  std::vector<pep::RecordLine> sorted;
  for (const auto& [path, line] : lines) {
    if (path != record) sorted.push_back(line);
  }
  transaction.replace(record, Bytes(pep::record_text(sorted, one.dist_info)));
  transaction.commit();
}

}  // namespace

std::vector<Item> slim_environment(const fs::path& root, const SlimRequest& request,
                                   const std::vector<std::string>& only, const WriteOptions& options) {
  const sys::FolderTree tree(root);
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
      Installed one{distribution.dist_info, name, {}};
      one.lines = pep::Record::parse(sys::map_file(root / pep::record_path(one.dist_info)).bytes).lines;
      std::vector<FileTree::File> files;
      for (const pep::RecordLine& line : one.lines) {
        std::error_code ignored;  // a file that is missing stays missing
        const std::uint64_t size = is_inside(line.path) ? fs::file_size(root / line.path, ignored) : 0;
        if (!ignored && size != 0) files.push_back({line.path, size});
      }
      const std::string vendor = restricted_vendor(name);
      const bool report_only = !vendor.empty() && !request.vendor_libraries;
      SlimRequest planned = request;
      planned.vendor_libraries |= report_only;
      const std::vector<SlimPlan> plans = plan_slim(tree, files, planned, options.threads);
      if (plans.empty() && only.empty() && item.notes.empty()) continue;
      item.before_bytes = recorded_size(root, one);
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
        if (!options.dry_run) write_distribution(root, tree, one, plans, planned, summary);
        for (const SlimmedFile& file : summary.files) item.after_bytes -= file.before_bytes - file.after_bytes;
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
