#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "store/impl.h"
#include "store/seal.h"
#include "sys/file.h"
#include "sys/process/process.h"

namespace wheelsmith::store {

namespace {

struct Named {
  std::filesystem::path path;
  std::string subject;  // relative to the root
  std::string sha256;
  std::uint64_t size = 0;
  bool download = false;
};

// All files whose name or folder specifies their digest.
std::vector<Named> hashed_files(const std::filesystem::path& root) {
  std::vector<Named> files;
  const auto add = [&](const std::string& subject, const std::string& sha256, bool download) {
    std::error_code error;
    const std::filesystem::path path = root / subject;
    const auto size = std::filesystem::file_size(path, error);
    files.push_back({path, subject, sha256, error ? 0 : size, download});
  };
  for (const std::string& name : names_in(root / "blobs")) add("blobs/" + name, name, false);
  for (const std::string& folder : names_in(root / "downloads")) {
    if (!is_sha256(folder)) continue;
    std::error_code error;
    for (const std::string& name : names_in(root / "downloads" / folder)) {
      const std::string subject = "downloads/" + folder + "/" + name;
      // A partial download or a note beside it: hidden, and not covered by the folder's name.
      if (name.starts_with('.') || !std::filesystem::is_regular_file(root / subject, error)) continue;
      add(subject, folder, true);
    }
  }
  // Largest first, so that no thread starts with it last.
  std::stable_sort(files.begin(), files.end(), [](const Named& a, const Named& b) { return a.size > b.size; });
  return files;
}

Finding corrupt(const Named& file, const std::string& what) {
  return {"store-blob-corrupt",
          Severity::error,
          file.subject,
          what,
          file.download ? "anything built or installed from it would be wrong"
                        : "a wheel delivered from the store would be broken",
          fmt::format("rm -rf {}; it is {} again on demand", sys::shell_quoted(file.path.string()),
                      file.download ? "downloaded" : "built")};
}

void verify_bytes(const std::filesystem::path& root, std::vector<Finding>& findings) {
  const std::vector<Named> files = hashed_files(root);
  std::mutex mutex;
  parallel_for(files.size(), usable_threads(), [&](std::size_t at) {
    const Named& file = files[at];
    std::string what;
    try {
      const std::string sha256 = to_hex(wheelsmith::sha256(sys::map_file(file.path).bytes));
      if (sha256 == file.sha256) return;
      what = fmt::format("its bytes have the SHA-256 {}", sha256);
    } catch (const Error& error) {
      // Collected by another process since the listing.
      std::error_code ignored;
      if (!std::filesystem::exists(std::filesystem::symlink_status(file.path, ignored))) return;
      what = error.what();
    }
    const std::lock_guard guard(mutex);
    findings.push_back(corrupt(file, what));
  });
}

void verify_steps(const Store& store, std::vector<Finding>& findings) {
  const std::filesystem::path folder = store.root() / "steps";
  for (const std::string& name : names_in(folder)) {
    const std::string subject = "steps/" + name;
    const std::string remove = "rm -rf " + sys::shell_quoted((folder / name).string());
    try {
      const std::string text = sys::read_file(folder / name, 64ull << 20);
      const document::Value value = document::parse_json(text, name);
      const StepRecord record = StepRecord::from_value(value);
      if (text != document::to_json(value, 1) + "\n" || step_file_name(record.key) != name)
        throw Error("the file was changed");
      const auto wheel = store.blob(record.wheel_sha256);
      if (wheel) continue;
      findings.push_back({"store-step-without-blob", Severity::warning, subject,
                          fmt::format("the wheel of {} is missing: blobs/{}", printable(record.identity),
                                      printable(record.wheel_sha256)),
                          "the step counts as not built and will be rebuilt", remove});
    } catch (const Error& error) {
      std::error_code ignored;
      if (!std::filesystem::exists(folder / name, ignored)) continue;
      findings.push_back({"store-step-unreadable", Severity::warning, subject, error.what(),
                          "the step counts as not built and will be rebuilt", remove});
    }
  }
}

void verify_leftovers(const std::filesystem::path& root, std::vector<Finding>& findings) {
  for (const std::filesystem::path& path : leftovers(root / "tmp")) {
    findings.push_back({"store-leftover", Severity::note, "tmp/" + path.filename().string(),
                        fmt::format("{} left behind by a killed process", human_bytes(usage(path).bytes)),
                        "it wastes disk space", "wheelsmith store gc"});
  }
}

Finding damaged_folder(const std::string& subject, const std::filesystem::path& folder, const std::string& what) {
  return {"store-env-damaged",
          Severity::error,
          subject,
          what,
          "a build that used it would not match its key; it is recreated before its next use",
          "rm -rf " + sys::shell_quoted(folder.string())};
}

// A locked folder is being created.
bool is_being_made(const Store& store, const std::string& lock) {
  try {
    return !store.try_lock(lock);
  } catch (const Error&) {
    return false;  // nothing is created on a read-only disk
  }
}

void verify_seals(const Store& store, Index& memory, const char* part, std::string (*lock_name)(std::string_view),
                  std::vector<Finding>& findings) {
  for (const std::string& name : names_in(store.local_root() / part)) {
    const std::filesystem::path folder = store.local_root() / part / name;
    const std::string subject = std::string(part) + "/" + name;
    const SealState state = check_seal(folder, memory, true);
    std::error_code error;
    if (state.kind == SealState::Kind::damaged && std::filesystem::exists(folder, error))
      findings.push_back(damaged_folder(subject, folder, state.what));
    if (!state.bytecode.empty())
      findings.push_back({"store-env-bytecode", Severity::note, subject,
                          fmt::format("{} was added", printable(state.bytecode.front())),
                          "a Python process wrote byte code there; it is removed before the next use",
                          "rm -rf " + sys::shell_quoted((folder / state.bytecode.front()).string())});
    if (state.kind != SealState::Kind::unfinished || is_being_made(store, lock_name(name))) continue;
    findings.push_back({"store-env-unfinished", Severity::note, subject, "it is incomplete",
                        "it is recreated before its next use; until then it wastes disk space", "wheelsmith store gc"});
  }
}

// Repositories: one without a seal is being changed, or its last change was interrupted; git itself checks it then.
void verify_repositories(const Store& store, Index& memory, std::vector<Finding>& findings) {
  for (const std::string& name : names_in(store.root() / "git")) {
    const std::filesystem::path folder = store.root() / "git" / name;
    const SealState state = check_seal(folder, memory, true);
    std::error_code error;
    if (state.kind != SealState::Kind::damaged || !std::filesystem::exists(folder, error)) continue;
    if (is_being_made(store, "git-" + name)) continue;
    findings.push_back({"store-repository-damaged", Severity::error, "git/" + name, state.what,
                        "it is fetched again on demand", "rm -rf " + sys::shell_quoted(folder.string())});
  }
}

void add_document(const std::filesystem::path& root, const std::string& subject, std::vector<Finding>& findings) {
  findings.push_back({"store-document-damaged", Severity::warning, subject, "its content does not match its SHA-256",
                      "it is ignored, and its facts are determined again",
                      "rm -f " + sys::shell_quoted((root / subject).string())});
}

// Locks of requirements, choices of versions and commits, manifests of attempts, views of dependencies.
void verify_documents(const std::filesystem::path& root, std::vector<Finding>& findings) {
  std::vector<std::string> folders{"tries", "seen"};
  for (const std::string& kind : names_in(root / "notes")) folders.push_back("notes/" + kind);
  for (const std::string& folder : folders) {
    for (const std::string& name : names_in(root / folder)) {
      const std::string subject = folder + "/" + name;
      const auto text = sys::read_file_if_possible(root / subject, 256ull << 20);
      std::error_code error;
      const bool there = std::filesystem::exists(root / subject, error);
      if (there && (!text || !without_digest(*text))) add_document(root, subject, findings);
    }
  }
}

void verify_history(const std::filesystem::path& root, std::vector<Finding>& findings) {
  for (const std::string& name : names_in(root / "history")) {
    const auto text = sys::read_file_if_possible(root / "history" / name, 1ull << 30);
    if (!text) continue;
    const auto is_bad = [](std::string_view line) {
      const auto json = history_text(line);
      return !line.empty() && (!json || !document::try_parse_json(*json));
    };
    const std::vector<std::string_view> all = lines(*text);
    const auto bad = std::count_if(all.begin(), all.end(), is_bad);
    if (bad == 0 && (text->empty() || text->back() == '\n')) continue;
    findings.push_back({"store-history-damaged", Severity::note, "history/" + name,
                        fmt::format("{} of its lines are corrupt", std::max<std::ptrdiff_t>(bad, 1)),
                        "they are ignored; forecasts use the other lines",
                        "rm -f " + sys::shell_quoted((root / "history" / name).string())});
  }
}

void verify_tag(const std::filesystem::path& root, std::vector<Finding>& findings) {
  const auto text = sys::read_file_if_possible(root / k_tag_name, 1 << 16);
  if (!text || *text == k_tag) return;
  findings.push_back({"store-tag-damaged", Severity::note, std::string(k_tag_name), "its content has changed",
                      "backup programs recognize a cache by this file", "wheelsmith store verify --rebuild"});
}

// Rows of the index that contradict their steps.
std::size_t wrong_rows(const std::filesystem::path& root, Index& index) {
  std::size_t wrong = 0;
  for (const Index::Row& row : index.rows()) {
    const auto record = read_step(root / "steps" / (row.key + ".json"));
    if (record && (record->identity != row.identity || record->wheel_sha256 != row.wheel_sha256 ||
                   record->finished != row.finished))
      ++wrong;
  }
  return wrong;
}

}  // namespace

void Store::Impl::verify_index(std::vector<Finding>& findings) {
  const Difference lag = difference();
  const std::size_t facts = index.damaged_values(), rows = wrong_rows(root, index);
  const bool sound = index.is_sound() && !index.was_broken();
  if (sound && facts + rows == 0 && lag.added.empty() && lag.gone.empty()) return;
  std::string what = "its pages are inconsistent";
  if (sound && facts + rows > 0)
    what = fmt::format("{} of its values are corrupt", facts + rows);
  else if (sound)
    what = fmt::format("{} steps are missing and {} no longer exist", lag.added.size(), lag.gone.size());
  findings.push_back({"store-index-stale", Severity::note, "index.sqlite", what,
                      "wrong entries are looked up in the files, which is slower until the index is rebuilt",
                      "wheelsmith store verify --rebuild"});
}

std::vector<Finding> Store::verify(bool rebuild) {
  std::vector<Finding> findings;
  verify_bytes(m_impl->root, findings);
  verify_steps(*this, findings);
  verify_leftovers(m_impl->root, findings);
  if (is_shared()) verify_leftovers(m_impl->local, findings);
  verify_documents(m_impl->root, findings);
  verify_history(m_impl->root, findings);
  // The tag claims the whole folder, so it is rewritten only where that is true.
  std::error_code error;
  if (rebuild && std::filesystem::is_regular_file(m_impl->root / k_tag_name, error))
    m_impl->write(m_impl->root / k_tag_name, k_tag);
  verify_tag(m_impl->root, findings);
  verify_seals(*this, m_impl->index, "envs", env_lock, findings);
  verify_seals(*this, m_impl->index, "toolkits", toolkit_lock, findings);
  verify_repositories(*this, m_impl->index, findings);
  if (rebuild) {
    m_impl->index.remake();
    m_impl->bring_index_up_to_date();
  }
  m_impl->verify_index(findings);
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.severity, a.id, a.subject) < std::tie(b.severity, b.id, b.subject);
  });
  return findings;
}

}  // namespace wheelsmith::store
