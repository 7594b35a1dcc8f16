#include "surgery/slim/slim.h"

// `slim` for wheels and single files: plan_slim decides, the draft carries it out.
//
// Memory: a member is unpacked for the decision and freed; what remains is a list of ranges. It is unpacked again when
// the new wheel is written. Members without device code are never unpacked, except ELF files, of which only their
// sections tell whether there is any.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/request_error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "surgery/publish.h"
#include "surgery/slim/slim_parts.h"
#include "sys/file.h"
#include "sys/files.h"
#include "wheel/tags/platform.h"

namespace wheelsmith::surgery {

namespace data {
extern const std::string_view vendor_packages_tsv;
}  // namespace data

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_magic_size = 24;

// A library of the vendor inside another package, by its SONAME.
bool is_restricted_library(Bytes file) {
  if (!elf::ElfFile::has_magic(file)) return false;
  const auto parsed = elf::ElfFile::try_parse(file);
  if (!parsed || !parsed->dynamic.soname) return false;
  const std::string who = wheel::provided_by_others(std::string(*parsed->dynamic.soname), {});
  constexpr std::string_view k_wheel = "the wheel ";
  return who.starts_with(k_wheel) && !restricted_vendor(who.substr(k_wheel.size())).empty();
}

}  // namespace

std::string restricted_vendor(const std::string& package) {
  const std::string name = pep::normalized_name(package);
  for (const std::string_view line : lines(data::vendor_packages_tsv)) {
    const auto fields = split(line, '\t');
    if (line.starts_with('#') || fields.size() < 2) continue;
    if (glob_match(fields[0], name)) return std::string(fields[1]);
  }
  return "";
}

std::vector<SlimPlan> plan_slim(const FileTree& tree, const std::vector<FileTree::File>& all,
                                const SlimRequest& request, unsigned threads) {
  std::vector<FileTree::File> files = all;
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.size > b.size; });
  std::vector<std::optional<SlimPlan>> slots(files.size());
  // Two at a time: memory is that of the largest files, however many cores there are.
  parallel_for(files.size(), std::min(threads, 2U), [&](std::size_t i) {
    const std::optional<std::string> head = tree.head(files[i].name, k_magic_size);
    if (!head || gpu::file_kind(Bytes(*head)) == gpu::FileKind::other) return;
    const std::optional<Blob> blob = tree.open(files[i].name);
    if (!blob) return;
    SlimPlan plan{files[i].name, files[i].size, {}};
    try {
      if (!request.vendor_libraries && is_restricted_library(blob->bytes)) {
        plan.slimmed = gpu::slim_code(blob->bytes, {}, {});  // lists what is there
        if (!plan.slimmed.code.empty())
          plan.slimmed.notes.emplace_back(
              "it is a vendor's library whose licence restricts modified copies; --vendor-libraries changes it, too");
      } else {
        plan.slimmed = gpu::slim_code(blob->bytes, request.keep, {.shorten = request.shorten});
      }
    } catch (const Error& error) {  // becomes a note: the file stays as it is
      plan.slimmed = {};
      plan.slimmed.notes.push_back(fmt::format("it stays as it is: {}", error.what()));
    }
    if (!plan.slimmed.code.empty() || !plan.slimmed.notes.empty()) slots[i] = std::move(plan);
  });
  std::vector<SlimPlan> plans;
  for (std::optional<SlimPlan>& slot : slots) {
    if (slot) plans.push_back(*std::move(slot));
  }
  std::ranges::sort(plans, {}, &SlimPlan::path);
  return plans;
}

SlimSummary summarize(const std::vector<SlimPlan>& plans, const SlimRequest& request) {
  SlimSummary summary;
  std::set<gpu::Arch> runs_on;
  std::set<gpu::Vendor> vendors;
  bool has_ptx = false;
  for (const SlimPlan& plan : plans) {
    SlimmedFile file{plan.path, plan.size, plan.size, plan.slimmed.code};
    if (plan.slimmed.empty)
      file.after_bytes = 0;
    else if (plan.slimmed.changed)
      file.after_bytes = plan.slimmed.splice.size();
    summary.files.push_back(std::move(file));
    summary.changes_anything |= plan.slimmed.changed;
    runs_on.insert(plan.slimmed.runs_on.begin(), plan.slimmed.runs_on.end());
    for (const gpu::CodeChange& change : plan.slimmed.code) {
      vendors.insert(change.arch.vendor);
      has_ptx |= change.kind == gpu::CodeKind::ptx && change.kept_count != 0;
    }
    for (const std::string& note : plan.slimmed.notes) summary.notes.push_back(plan.path + ": " + note);
  }
  if (plans.empty()) {
    summary.notes.emplace_back("there is no device code in it");
    return summary;
  }
  for (const gpu::Device& device : request.keep.devices) {
    if (!runs_on.contains(device.arch) && vendors.contains(device.arch.vendor))
      summary.notes.push_back(fmt::format("it has no code for {}", device.name));
  }
  if (runs_on.empty() && !has_ptx)
    throw Error(fmt::format("none of the named GPUs ({}) runs any of its device code; nothing was written",
                            request.keep.to_string()));
  return summary;
}

std::vector<std::string> companions(const std::string& dropped, const std::function<bool(const std::string&)>& exists) {
  std::vector<std::string> found;
  const std::size_t dot = dropped.rfind('.');
  const std::size_t slash = dropped.rfind('/');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return found;
  const std::string extension = dropped.substr(dot), stem = dropped.substr(0, dot);
  if ((extension != ".cubin" && extension != ".hsaco") || !exists(stem + ".json")) return found;
  const std::string folder = slash == std::string::npos ? "" : dropped.substr(0, slash + 1);
  const std::string name = stem.substr(folder.size());
  for (const char* other : {".json", ".ttir", ".ttgir", ".llir", ".ptx", ".amdgcn", ".source"}) {
    if (exists(stem + other)) found.push_back(stem + other);
  }
  const std::string group = folder + "__grp__" + name + ".json";
  if (exists(group)) found.push_back(group);
  return found;
}

void add_details(document::Table& details, const SlimRequest& request, const SlimSummary& summary) {
  document::Table options;
  options["keep"] = request.keep.to_string();
  if (request.vendor_libraries) options["vendor_libraries"] = true;
  if (!request.shorten) options["shorten"] = false;
  details["options"] = std::move(options);
  document::Array edited;
  for (const SlimmedFile& file : summary.files) {
    const bool changed =
        std::ranges::any_of(file.code, [](const gpu::CodeChange& change) { return change.kept_count != change.count; });
    if (!changed) continue;
    document::Table entry;
    entry["file"] = file.path;
    std::set<std::string> dropped;
    for (const gpu::CodeChange& change : file.code) {
      if (change.kept_count != change.count) dropped.insert(gpu::display_name(change.arch, change.kind));
    }
    document::Array names;
    for (const std::string& name : dropped) names.emplace_back(name);
    entry["dropped"] = std::move(names);
    edited.emplace_back(std::move(entry));
  }
  details["edited"] = std::move(edited);
}

SlimSummary slim_members(Draft& draft, const SlimRequest& request, unsigned threads) {
  const InputWheel& input = draft.input();
  std::vector<SlimPlan> plans = plan_slim(input.tree(), input.tree().files(), request, threads);
  SlimSummary summary = summarize(plans, request);
  for (SlimPlan& plan : plans) {
    if (!plan.slimmed.changed) continue;
    if (plan.slimmed.empty) {
      for (const std::string& other : companions(plan.path, [&](const std::string& name) { return draft.has(name); }))
        draft.drop(other);
      draft.drop(plan.path);
      continue;
    }
    const auto splice = std::make_shared<const gpu::Splice>(std::move(plan.slimmed.splice));
    PartedContents contents;
    contents.size = splice->size();
    contents.open = [splice](Blob old) -> PartedContents::Reader {
      return [splice, old = std::move(old)](std::uint64_t offset, std::uint64_t size) {
        const auto buffer = std::make_shared<Buffer>(size);
        splice->read(old.bytes, offset, size, buffer->data());
        return Blob{buffer, buffer->bytes()};
      };
    };
    draft.edit_parts(plan.path, std::move(contents));
  }
  add_details(draft.details(), request, summary);
  return summary;
}

void slim_wheel(InputWheel& input, const SlimRequest& request, const WriteOptions& options, Item& item) {
  const std::string vendor = restricted_vendor(input.distribution().name());
  const bool report_only = !vendor.empty() && !request.vendor_libraries;
  SlimRequest planned = request;
  planned.vendor_libraries |= report_only;  // the table says what would go
  if (!report_only) input.start_hash();
  Draft draft(input, "slim");
  SlimSummary summary = slim_members(draft, planned, options.threads);
  item.files = std::move(summary.files);
  for (std::string& note : summary.notes) item.notes.push_back(std::move(note));
  if (report_only) {
    item.notes.push_back(
        fmt::format("nothing was written: the licence of {}'s packages restricts modified copies. For your own use, "
                    "add --vendor-libraries",
                    vendor));
    item.after_bytes = item.before_bytes;
    item.dry_run = options.dry_run;
    return;
  }
  publish(draft, {}, options, item);
}

void slim_file(const fs::path& path, const SlimRequest& request, const WriteOptions& options, Item& item) {
  const Blob old = sys::map_file(path);
  item.before_bytes = old.bytes.size();
  if (!request.vendor_libraries && is_restricted_library(old.bytes))
    throw Error("its licence restricts modified copies; add --vendor-libraries to change it for your own use");
  const std::string name = path.filename().string();
  const gpu::Slimmed slimmed = gpu::slim_code(old.bytes, request.keep, {.shorten = request.shorten});
  std::vector<SlimPlan> plans;
  if (!slimmed.code.empty()) plans.push_back({name, old.bytes.size(), slimmed});
  SlimSummary summary = summarize(plans, request);
  item.files = std::move(summary.files);
  for (std::string& note : summary.notes) item.notes.push_back(std::move(note));
  const fs::path target = options.out / name;
  std::error_code ignored;
  if (fs::equivalent(target, path, ignored))
    throw RequestError(
        fmt::format("{} would replace the input; choose another folder with --out DIR", printable(target.string())));
  refuse_second(target, options);
  const Buffer made = slimmed.changed ? slimmed.splice.apply(old.bytes) : Buffer();
  const Bytes bytes = slimmed.changed ? made.bytes() : old.bytes;
  item.dry_run = options.dry_run;
  item.after_bytes = bytes.size();
  item.outputs.push_back({target.string(), options.hash ? to_hex(sha256(bytes)) : "", bytes.size(), {}});
  options.written->insert(target);
  if (options.dry_run) return;
  sys::make_folders(options.out);
  sys::AtomicFile file(target);
  file.write(bytes);
  const auto mode = fs::status(path, ignored).permissions();
  if (!ignored && mode != fs::perms::unknown) file.set_mode(static_cast<unsigned>(mode & fs::perms::all) & 0777U);
  file.commit();
}

}  // namespace wheelsmith::surgery
