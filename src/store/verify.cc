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
#include "sys/file.h"
#include "sys/process/process.h"

namespace wheelsmith::store {

namespace {

struct Named {
  std::filesystem::path path;
  std::string subject;  // below the root
  std::string sha256;
  std::uint64_t size = 0;
  bool download = false;
};

// All files whose name or folder says what their bytes are.
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
      // A part file, a note beside the download: hidden, and not what the folder is named after.
      if (name.starts_with('.') || !std::filesystem::is_regular_file(root / subject, error)) continue;
      add(subject, folder, true);
    }
  }
  // The largest first, so that the last thread does not start with it.
  std::stable_sort(files.begin(), files.end(), [](const Named& a, const Named& b) { return a.size > b.size; });
  return files;
}

Finding corrupt(const Named& file, const std::string& what) {
  return {"store-blob-corrupt",
          Severity::error,
          file.subject,
          what,
          file.download ? "what is built or installed from it is not what was asked for"
                        : "a wheel that is taken from the store would be broken",
          fmt::format("rm -rf {}; it is {} again when it is needed", sys::shell_quoted(file.path.string()),
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
      const StepRecord record =
          StepRecord::from_value(document::parse_json(sys::read_file(folder / name, 64ull << 20), name));
      const auto wheel = store.blob(record.wheel_sha256);
      if (wheel) continue;
      findings.push_back({"store-step-without-blob", Severity::warning, subject,
                          fmt::format("the wheel of {}, blobs/{}, is not there", printable(record.identity),
                                      printable(record.wheel_sha256)),
                          "the step counts as not built and will be built again", remove});
    } catch (const Error& error) {
      std::error_code ignored;
      if (!std::filesystem::exists(folder / name, ignored)) continue;
      findings.push_back({"store-step-unreadable", Severity::warning, subject, error.what(),
                          "the step counts as not built and will be built again", remove});
    }
  }
}

void verify_leftovers(const std::filesystem::path& root, std::vector<Finding>& findings) {
  for (const std::filesystem::path& path : leftovers(root / "tmp")) {
    findings.push_back({"store-leftover", Severity::note, "tmp/" + path.filename().string(),
                        fmt::format("{} that a process left when it was killed", human_bytes(usage(path).bytes)),
                        "it takes room and is of no use", "wheelsmith store gc"});
  }
}

// What a process holds locked is being made.
void verify_marks(const Store& store, const char* part, std::string (*lock_name)(std::string_view),
                  std::vector<Finding>& findings) {
  for (const std::string& name : names_in(store.root() / part)) {
    const std::filesystem::path folder = store.root() / part / name;
    std::error_code error;
    if (std::filesystem::exists(folder / k_complete_mark, error)) continue;
    try {
      if (!store.try_lock(lock_name(name))) continue;
    } catch (const Error&) {
      // Nobody makes one on a read-only disk.
    }
    findings.push_back({"store-env-unfinished", Severity::note, std::string(part) + "/" + name,
                        "it was not made to the end", "it is made again before it is used; until then it takes room",
                        "wheelsmith store gc"});
  }
}

}  // namespace

std::vector<Finding> Store::verify(bool rebuild) {
  std::vector<Finding> findings;
  verify_bytes(m_impl->root, findings);
  verify_steps(*this, findings);
  verify_leftovers(m_impl->root, findings);
  verify_marks(*this, "envs", env_lock, findings);
  verify_marks(*this, "toolkits", toolkit_lock, findings);
  if (rebuild) {
    m_impl->index.remake();
    m_impl->bring_index_up_to_date();
  }
  const Impl::Difference lag = m_impl->difference();
  const bool sound = m_impl->index.is_sound();
  if (!sound || !lag.added.empty() || !lag.gone.empty()) {
    findings.push_back({"store-index-stale", Severity::note, "index.sqlite",
                        sound ? fmt::format("it lacks {} and holds {} that are gone", lag.added.size(), lag.gone.size())
                              : "its pages do not hold together",
                        "lookups are slower until it is made anew", "wheelsmith store verify --rebuild"});
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.severity, a.id, a.subject) < std::tie(b.severity, b.id, b.subject);
  });
  return findings;
}

}  // namespace wheelsmith::store
