#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "store/impl.h"

// Which items may be removed, and in which order (ItemKind). Everything here can be recreated, so the order follows
// that cost: a blob that no step refers to costs nothing, a tree only what an interrupted or incremental build would
// have saved, a download the network transfer, an environment seconds to minutes, an object in the compile cache
// perhaps ten minutes of nvcc, a wheel 90. The memory journal of compiles (units/) is never removed. A folder is first
// renamed into the scratch folder and then emptied: a kill in between leaves a leftover, never a partial environment
// with an end mark.

namespace wheelsmith::store {

namespace {

// Between put_blob and put_step a blob has no step yet.
constexpr std::int64_t k_settling_seconds = 3600;
// A build on another machine holds no lock on the results and downloads that it will use.
constexpr std::int64_t k_shared_seconds = 86'400;
// The clocks of two machines that share a store may differ.
constexpr std::int64_t k_clock_skew = 600;
// A running build holds no lock on the shims it was started with; no build takes this long.
constexpr std::int64_t k_shim_seconds = 86'400;
// Claims released longer ago are removed; claim.cc explains why they stay at first.
constexpr std::int64_t k_old_claim_seconds = 30 * 86'400;

// The parts that other machines use, too.
bool is_common(ItemKind kind) {
  return kind == ItemKind::download || kind == ItemKind::object || kind == ItemKind::wheel || kind == ItemKind::log;
}

struct Item {
  ItemKind kind = ItemKind::temporary;
  std::int64_t used = 0;
  std::uint64_t bytes = 0;
  std::string subject;               // relative to the root
  std::string lock;                  // "": no lock needed
  std::vector<std::string> paths{};  // to remove, in this order, relative to the root
  std::string name{};                // for display
};

// Where a path is: in the shared folder or in the folder of this machine.
using Places = std::function<std::filesystem::path(std::string_view)>;

void add_folder(const Places& place, const std::string& part, ItemKind kind, const std::string& lock,
                std::vector<Item>& items) {
  for (const std::string& name : names_in(place(part))) {
    const std::string subject = part + "/" + name;
    items.push_back({kind,
                     last_used(place(subject)),
                     usage(place(subject)).bytes,
                     subject,
                     lock.empty() ? "" : lock + name,
                     {subject}});
  }
}

// Steps with the blobs that only they refer to; blobs that no step refers to.
void add_results(const Places& place, std::vector<Item>& items) {
  struct Step {
    std::string subject, key, wheel;
    std::int64_t used = 0;
  };
  std::map<std::string, std::vector<Step>> by_blob;
  for (const std::string& name : names_in(place("steps"))) {
    const std::string subject = "steps/" + name;
    // A file without a step is useless and is removed when old. An unreadable file aborts the collection: its wheel
    // would otherwise look unreferenced.
    const StepRecord record = read_step(place(subject)).value_or(StepRecord());
    by_blob[record.wheel_sha256].push_back({subject, record.key, record.wheel_name, last_used(place(subject))});
  }
  for (const auto& [blob, steps] : by_blob) {
    const bool shared = steps.size() > 1 || !is_sha256(blob);
    for (const Step& step : steps) {
      const std::string seen = "seen/" + step.subject.substr(step.subject.find('/') + 1);
      Item item{ItemKind::wheel,      step.used, usage(place(step.subject)).bytes, step.subject, step_lock(step.key),
                {step.subject, seen}, step.wheel};
      item.used = std::max(item.used, last_used(place(seen)));
      item.bytes += usage(place(seen)).bytes;
      if (!shared) {
        item.paths.push_back("blobs/" + blob);
        item.used = std::max(item.used, last_used(place("blobs/" + blob)));
        item.bytes += usage(place("blobs/" + blob)).bytes;
      }
      items.push_back(std::move(item));
    }
  }
  // A build writes the document before its step.
  for (const std::string& name : names_in(place("seen"))) {
    std::error_code error;
    if (std::filesystem::exists(place("steps") / name, error)) continue;
    const std::string subject = "seen/" + name;
    items.push_back(
        {ItemKind::temporary, last_used(place(subject)), usage(place(subject)).bytes, subject, "", {subject}});
  }
  for (const std::string& name : names_in(place("blobs"))) {
    if (by_blob.contains(name)) continue;
    const std::string subject = "blobs/" + name;
    items.push_back(
        {ItemKind::temporary, last_used(place(subject)), usage(place(subject)).bytes, subject, "", {subject}});
  }
}

// The objects of the compile cache, one item per file, least recently used first: a hit updates a file's time, and a
// removed object is recompiled. Files beside the packages' folders are not entries.
void add_objects(const Places& place, std::vector<Item>& items) {
  std::error_code error;
  using Iterator = std::filesystem::recursive_directory_iterator;
  for (Iterator at(place("objects"), std::filesystem::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at.depth() == 0 || at->is_directory(ignored)) continue;
    const std::string subject = at->path().lexically_relative(place("objects").parent_path()).string();
    items.push_back({ItemKind::object, last_used(at->path()), usage(at->path()).bytes, subject, "", {subject}});
  }
}

// Shims of one version share one program: each folder has a hard link to it (src/governor/shim/shim_folder.h), so its
// bytes are freed with the last link.
void add_shims(const Places& place, std::vector<Item>& items) {
  add_folder(place, "shims", ItemKind::shim, "", items);
  std::erase_if(items, [](const Item& item) { return item.subject == k_shim_programs; });
  for (const std::string& name : names_in(place(k_shim_programs))) {
    const std::filesystem::path file = place(k_shim_programs) / name / "wheelsmith-shim";
    std::error_code error;
    const std::uintmax_t links = std::filesystem::hard_link_count(file, error);
    if (error || links > 1) continue;
    const std::string subject = std::string(k_shim_programs) + "/" + name;
    items.push_back({ItemKind::shim, last_used(place(subject)), usage(place(subject)).bytes, subject, "", {subject}});
  }
}

void name_downloads(const Places& place, std::vector<Item>& items) {
  for (Item& item : items) {
    if (item.kind != ItemKind::download) continue;
    const std::vector<std::string> names = names_in(place(item.subject));
    if (names.size() == 1) item.name = names.front();
  }
}

std::vector<Item> everything(const Places& place) {
  std::vector<Item> items;
  add_results(place, items);
  add_folder(place, "trees", ItemKind::tree, "tree-", items);
  add_folder(place, "logs", ItemKind::log, "", items);
  add_shims(place, items);
  add_folder(place, "downloads", ItemKind::download, "download-", items);
  add_folder(place, "git", ItemKind::download, "git-", items);
  add_folder(place, "envs", ItemKind::environment, "env-", items);
  add_folder(place, "toolkits", ItemKind::environment, "toolkit-", items);
  add_objects(place, items);
  add_folder(place, "ccache", ItemKind::temporary, "", items);  // from versions before 0.2
  name_downloads(place, items);
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::tie(a.kind, a.used, a.subject) < std::tie(b.kind, b.used, b.subject);
  });
  return items;
}

bool is_unfinished(const Places& place, const Item& item) {
  std::error_code error;
  return item.kind == ItemKind::environment && !std::filesystem::exists(place(item.subject) / k_complete_mark, error);
}

std::int64_t newest_use(const Places& place, const Item& item) {
  std::int64_t newest = 0;
  for (const std::string& path : item.paths) newest = std::max(newest, last_used(place(path)));
  return newest;
}

}  // namespace

void remove_whole(const std::filesystem::path& path, Scratch& scratch) {
  const std::filesystem::path aside = scratch.next("removed");
  sys::remove_tree(::rename(path.c_str(), aside.c_str()) == 0 ? aside : path);
}

std::uint64_t Store::collect(std::uint64_t keep_bytes, std::int64_t not_used_for_seconds, bool dry_run,
                             std::vector<Removed>& removed) {
  const std::filesystem::path& root = m_impl->root;
  const Places place = [this](std::string_view part) { return m_impl->place(part); };
  std::error_code error;
  // A user's folder named as the store by mistake may have its own "envs".
  if (!std::filesystem::exists(root / k_tag_name, error))
    throw Error(printable(root.string()) + " is not a Wheelsmith store (it has no " + std::string(k_tag_name) +
                "); nothing was removed");
  std::uint64_t freed = 0;
  std::vector<std::filesystem::path> temporary = leftovers(root / "tmp");
  if (is_shared()) std::ranges::copy(leftovers(local_root() / "tmp"), std::back_inserter(temporary));
  for (const std::filesystem::path& path : temporary) {
    const std::uint64_t bytes = usage(path).bytes;
    const std::int64_t used = last_used(path);
    if (!dry_run && !remove_leftover(path)) continue;
    removed.push_back({ItemKind::temporary, "tmp/" + path.filename().string(), "", bytes, used});
    freed += bytes;
  }

  if (!dry_run) {
    m_impl->writing([&] { m_impl->scratch.folder(); });
    m_impl->writing([&] { m_impl->temporary().folder(); });
    if (is_shared()) remove_old_claims(root / "claims", k_old_claim_seconds);
    remove_old_claims(local_root() / "claims", k_old_claim_seconds);
  }

  std::vector<Item> items = everything(place);
  std::uint64_t total = 0;
  const std::int64_t now = m_impl->now();
  for (Item& item : items) {
    total += item.bytes;
    if (item.used <= now + k_clock_skew) continue;
    // The clock was set back after the last use: treat the item as used now.
    item.used = now;
    if (!dry_run)
      for (const std::string& path : item.paths) mark_used(place(path));
  }
  for (const Item& item : items) {
    const bool unfinished = is_unfinished(place, item);
    const std::int64_t least = item.kind == ItemKind::temporary      ? k_settling_seconds
                               : item.kind == ItemKind::shim         ? k_shim_seconds
                               : is_shared() && is_common(item.kind) ? k_shared_seconds
                                                                     : 0;
    const std::int64_t age = std::max(not_used_for_seconds, least);
    if (!unfinished && (total <= keep_bytes || now - item.used < age)) continue;
    std::optional<Lock> held;
    if (!item.lock.empty() && !(held = try_lock(item.lock))) continue;
    // Another process may have finished or used it since the listing.
    if (unfinished ? !is_unfinished(place, item) : newest_use(place, item) > item.used) continue;
    if (!dry_run)
      for (const std::string& path : item.paths) remove_whole(place(path), m_impl->scratch_for(place(path)));
    removed.push_back({item.kind, item.subject, item.name, item.bytes, item.used});
    freed += item.bytes;
    total -= std::min(total, item.bytes);
  }
  if (!dry_run) m_impl->bring_index_up_to_date();
  return freed;
}

}  // namespace wheelsmith::store
