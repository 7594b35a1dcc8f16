#include "surgery/slim/transaction.h"

// Several files of an environment change together.
//
//   1  the journal names the files that will change                    (.dist-info/wheelsmith-slim.journal)
//   2  new contents are written beside them, by way of a folder        (.NAME.wheelsmith-new)
//   3  each old file gets a second name, then the new one its name     (.NAME.wheelsmith-old)
//   4  the journal gets another name: from here on it is done          (.dist-info/wheelsmith-slim.done)
//   5  old files and journal are removed
//
// A process that is killed before step 4 is rolled back by the next command: old files get their names back, new ones
// are removed. After step 4 the next command finishes step 5. Each step is synced before the next, so this holds after
// a power failure, too. A running program keeps the file that it has mapped: nothing is overwritten in place, and
// neither are other copies of a file that is hard linked into the environment (uv does that).
//
// A lock on METADATA keeps two processes apart; the kernel releases it when its holder dies.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "sys/file.h"

namespace wheelsmith::surgery {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_journal = "wheelsmith-slim.journal";
constexpr const char* k_finished = "wheelsmith-slim.done";
constexpr const char* k_unfinished = "wheelsmith-slim.tmp";  // folder of files that are being written

fs::path beside(const fs::path& file, const char* suffix) {
  return file.parent_path() / ("." + file.filename().string() + suffix);
}
fs::path new_name_of(const fs::path& file) { return beside(file, ".wheelsmith-new"); }
fs::path old_name_of(const fs::path& file) { return beside(file, ".wheelsmith-old"); }

void check(const std::error_code& error, const char* action, const fs::path& path) {
  if (error) sys::throw_sys_error(error.value(), action, path);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// Relative, without "..": a journal is a file like any other, and may be hostile.
fs::path below(const fs::path& root, const std::string& file) {
  const fs::path path(file);
  if (file.empty() || path.is_absolute() ||
      std::ranges::any_of(path, [](const fs::path& part) { return part == ".."; }))
    throw Error(fmt::format("{} is outside the environment", printable(file)));
  return root / path;
}

void remove_if_there(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  check(error, "remove", path);
}

}  // namespace

std::vector<Transaction::Change> Transaction::read_journal(const fs::path& journal) {
  const auto value = document::try_parse_json(sys::read_file(journal));
  const document::Array* list = value ? (*value)["files"].array() : nullptr;
  const auto refuse = [&] { return Error(fmt::format("{} cannot be read", printable(journal.string()))); };
  if (list == nullptr) throw refuse();
  std::vector<Change> changes;
  for (const document::Value& one : *list) {
    const std::string* file = one["file"].text();
    if (file == nullptr) throw refuse();
    changes.push_back({*file, one["created"].is_null() ? Change::Kind::replaced : Change::Kind::created});
  }
  return changes;
}

void Transaction::roll_back(const fs::path& root, const std::vector<Change>& changes) {
  for (const Change& change : changes) {
    const fs::path path = below(root, change.file);
    std::error_code error;
    if (change.kind == Change::Kind::created)
      remove_if_there(path);
    else if (is_there(old_name_of(path)))
      fs::rename(old_name_of(path), path, error);
    check(error, "restore", path);
    // Two names of one file: rename() leaves both.
    if (change.kind != Change::Kind::created) remove_if_there(old_name_of(path));
    remove_if_there(new_name_of(path));
  }
}

bool Transaction::recover_locked(const fs::path& root, const fs::path& folder) {
  const fs::path journal = folder / k_journal, finished = folder / k_finished;
  bool found = false;
  if (is_there(finished)) {
    for (const Change& change : read_journal(finished)) remove_if_there(old_name_of(below(root, change.file)));
    remove_if_there(finished);
  }
  if (is_there(journal)) {
    roll_back(root, read_journal(journal));
    remove_if_there(journal);
    found = true;
  }
  sys::remove_tree(folder / k_unfinished);
  return found;
}

bool Transaction::recover(const fs::path& root, const std::string& dist_info) {
  const fs::path folder = below(root, dist_info);
  if (!is_there(folder / k_journal) && !is_there(folder / k_finished) && !is_there(folder / k_unfinished)) return false;
  const sys::FileLock lock(folder / "METADATA");
  return recover_locked(root, folder);
}

Transaction::Transaction(fs::path site_packages, const std::string& dist_info)
    : m_root(std::move(site_packages)), m_dist_info(below(m_root, dist_info)) {
  m_lock.emplace(m_dist_info / "METADATA");
  m_recovered = recover_locked(m_root, m_dist_info);
  sys::make_folders(m_dist_info / k_unfinished);
}

Transaction::~Transaction() {
  if (m_done) return;
  try {
    roll_back(m_root, m_changes);
    remove_if_there(m_dist_info / k_journal);
    sys::remove_tree(m_dist_info / k_unfinished);
  } catch (const Error&) {
    // Nothing is lost: the journal is still there, and the next command rolls back.
  }
}

void Transaction::write_journal() const {
  document::Array files;
  for (const Change& change : m_changes) {
    document::Table entry;
    entry["file"] = change.file;
    if (change.kind == Change::Kind::created) entry["created"] = true;
    files.emplace_back(std::move(entry));
  }
  document::Table journal;
  journal["files"] = std::move(files);
  sys::AtomicFile file(m_dist_info / k_journal, m_dist_info / k_unfinished);
  file.write(document::to_json(journal) + "\n");
  file.commit();
}

// A folder may be a link to another one. With two changes of one file, the second would take the new file for the old.
void Transaction::refuse_second_name(const std::string& file, const fs::path& path) {
  if (!m_places.insert(fs::weakly_canonical(path.parent_path()) / path.filename()).second)
    throw Error(fmt::format("its RECORD lists {} by two names", printable(file)));
}

void Transaction::replace(const std::string& file, const std::function<void(Sink&)>& write) {
  const fs::path path = below(m_root, file);
  refuse_second_name(file, path);
  m_changes.push_back({file, is_there(path) ? Change::Kind::replaced : Change::Kind::created});
  write_journal();
  sys::AtomicFile made(new_name_of(path), m_dist_info / k_unfinished);
  write(made);
  std::error_code error;
  const fs::perms mode = fs::status(path, error).permissions();
  if (!error && mode != fs::perms::unknown) made.set_mode(static_cast<unsigned>(mode & fs::perms::all) & 0777U);
  made.commit();
}

void Transaction::replace(const std::string& file, Bytes contents) {
  replace(file, [&](Sink& sink) { sink.write(contents); });
}

void Transaction::remove(const std::string& file) {
  refuse_second_name(file, below(m_root, file));
  m_changes.push_back({file, Change::Kind::removed});
  write_journal();
}

void Transaction::commit() {
  for (const Change& change : m_changes) {
    const fs::path path = below(m_root, change.file), old = old_name_of(path);
    std::error_code error;
    if (change.kind == Change::Kind::removed) {
      fs::rename(path, old, error);
      check(error, "remove", path);
      continue;
    }
    if (change.kind == Change::Kind::created) {
      fs::rename(new_name_of(path), path, error);
      check(error, "create", path);
      continue;
    }
    // A second name, so that the file is never missing; file systems without hard links move it away for a moment.
    fs::create_hard_link(path, old, error);
    if (error && error != std::errc::file_exists) {
      error.clear();
      fs::rename(path, old, error);
    }
    check(error, "replace", path);
    (void)sys::sync_folder(path.parent_path());
    fs::rename(new_name_of(path), path, error);
    check(error, "replace", path);
  }
  for (const Change& change : m_changes) (void)sys::sync_folder(below(m_root, change.file).parent_path());
  std::error_code error;
  fs::rename(m_dist_info / k_journal, m_dist_info / k_finished, error);
  check(error, "finish", m_dist_info / k_journal);
  (void)sys::sync_folder(m_dist_info);
  m_done = true;
  for (const Change& change : m_changes) remove_if_there(old_name_of(below(m_root, change.file)));
  remove_if_there(m_dist_info / k_finished);
  sys::remove_tree(m_dist_info / k_unfinished);
}

}  // namespace wheelsmith::surgery
