#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>

#include "base/enum_names.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "document/value.h"
#include "fetch/download_file.h"
#include "rocm/fetch/fetch.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/files.h"
#include "sys/process/process.h"

// Downloads a run's archives. An archive is identified by the SHA-256 next to it; each finished archive is recorded in
// the folder (.wheelsmith-fetch.json). So an interrupted fetch resumes, and a complete one costs one small request per
// archive.

// How an artifact is stored in its folder.
template <>
struct wheelsmith::EnumNames<wheelsmith::rocm::Unpacking> {
  static constexpr std::array list = {"archive", "folder", "flat"};
};

namespace wheelsmith::rocm {

namespace {

namespace fs = std::filesystem;
using document::Table;

constexpr const char* k_state_file = ".wheelsmith-fetch.json";
constexpr std::string_view k_artifact_manifest = "artifact_manifest.txt";

std::string hash_of(const fs::path& file) {
  const Blob blob = sys::map_file(file);
  return to_hex(sha256(blob.bytes));
}

// Hex digits, alone or followed by the file name.
std::string parse_sum(std::string_view text, const std::string& name) {
  const std::string_view line = trim(text.substr(0, text.find('\n')));
  const std::string hash = to_lower(line.substr(0, line.find_first_of(" \t")));
  if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != hash.npos)
    throw Error(fmt::format("{}.sha256sum contains no SHA-256", printable(name)));
  return hash;
}

struct Done {
  std::string sha256, fingerprint;
  std::optional<Unpacking> state;  // how it is stored; nothing: unknown
  std::uint64_t size = 0;
};

class State {
 public:
  explicit State(fs::path folder) : m_file(std::move(folder) / k_state_file) {
    // If it cannot be read, everything is fetched again.
    const auto text = sys::read_file_if_there(m_file, 64 << 20);
    const document::Value value = document::try_parse_json(text.value_or("")).value_or(document::Value());
    const Table* files = value["files"].table();
    if (files == nullptr) return;
    for (const auto& [name, item] : *files) {
      m_done[name] = {item["sha256"].text_or(), item["fingerprint"].text_or(),
                      enum_named<Unpacking>(item["state"].text_or()),
                      static_cast<std::uint64_t>(std::max<std::int64_t>(0, item["size"].integer_or(0)))};
    }
  }

  std::optional<Done> find(const std::string& name) {
    const std::lock_guard guard(m_mutex);
    const auto found = m_done.find(name);
    return found == m_done.end() ? std::nullopt : std::optional(found->second);
  }

  void put(const std::string& name, const Done& done) {
    const std::lock_guard guard(m_mutex);
    m_done[name] = done;
    Table files;
    for (const auto& [file, item] : m_done) {
      Table table;
      table["sha256"] = item.sha256;
      table["size"] = item.size;
      table["state"] = item.state ? enum_name(*item.state) : "";
      table["fingerprint"] = item.fingerprint;
      files[file] = std::move(table);
    }
    Table document;
    document["schema"] = 1;
    document["files"] = std::move(files);
    sys::write_file(m_file, document::to_json(document) + "\n");
  }

 private:
  fs::path m_file;
  std::mutex m_mutex;
  std::map<std::string, Done> m_done;
};

// The folder for one name of a flat tree. A link in the path is refused, because it could lead anywhere.
void make_way(const fs::path& root, const fs::path& relative) {
  fs::path place = root;
  for (const fs::path& part : relative) {
    place /= part;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(place, error);
    if (fs::is_directory(status)) continue;
    if (fs::exists(status))
      throw Error(fmt::format("{} is a folder in one artifact and not in another", printable(relative.string())));
    if (::mkdir(place.c_str(), 0777) != 0) sys::throw_sys_error(errno, "make", place);
  }
}

// Moves everything below `from` into `to`, replacing files.
void move_over(const fs::path& from, const fs::path& to) {
  for (const sys::TreeFile& file : sys::list_tree(from)) {
    const fs::path relative(file.name);
    make_way(to, relative.parent_path());
    const fs::path target = to / relative;
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(target, error)))
      throw Error(fmt::format("{} is a folder in one artifact and not in another", printable(file.name)));
    if (::rename((from / relative).c_str(), target.c_str()) != 0) sys::throw_sys_error(errno, "write", target);
  }
}

class Bringer {
 public:
  Bringer(const FetchJob& job) : m_job(job), m_state(job.folder) {}

  FetchedFile bring(const ChosenFile& file) {
    FetchedFile result;
    result.file = file.file;
    result.size = file.size.value_or(0);
    try {
      if (m_job.options.stop && m_job.options.stop()) throw Error("interrupted");
      bring(file, result);
    } catch (const Error& error) {
      result.error = error.what();
    }
    if (m_job.on_done) {
      const std::lock_guard guard(m_mutex);
      m_job.on_done(file.file, !result.error.empty() ? result.error
                               : result.downloaded   ? fmt::format("fetched ({})", human_bytes(result.size))
                                                     : "is there");
    }
    return result;
  }

 private:
  void bring(const ChosenFile& file, FetchedFile& result) {
    result.sha256 = promised(file.file);
    const fs::path archive = m_job.folder / file.file;
    const fs::path folder = m_job.folder / file.name.to_string();
    result.path = m_job.unpacking == Unpacking::none      ? archive
                  : m_job.unpacking == Unpacking::folders ? folder
                                                          : m_job.folder;
    const auto known = m_state.find(file.file);
    if (known) result.size = known->size;
    const bool done = known && known->sha256 == result.sha256 && known->state == m_job.unpacking;
    if (done && m_job.unpacking == Unpacking::folders && sys::is_folder(folder)) return;
    if (done && m_job.unpacking == Unpacking::flat) return;
    const sys::FileState state(archive);
    if (!is_there(archive, state, known, result.sha256)) {
      fetch::download_file(place_of(m_job.base, m_job.key, file.file), archive, result.sha256, m_job.options);
      result.downloaded = true;
    }
    std::error_code error;
    result.size = fs::file_size(archive, error);
    // Of a new file there is none: it is hashed once more.
    const std::string key = state.key_to_keep().value_or("");
    m_state.put(file.file, {result.sha256, key, Unpacking::none, result.size});
    if (m_job.unpacking == Unpacking::none) return;
    unpack(archive, folder);
    m_state.put(file.file, {result.sha256, key, m_job.unpacking, result.size});
    if (!m_job.keep_archives) fs::remove(archive, error);
  }

  std::string promised(const std::string& name) const {
    const fetch::Response sum = fetch::get(place_of(m_job.base, m_job.key, name + ".sha256sum"), m_job.options);
    if (sum.status != 200)
      throw Error(fmt::format("cannot be verified: there is no {}.sha256sum next to it", printable(name)));
    return parse_sum(sum.body, name);
  }

  static bool is_there(const fs::path& archive, const sys::FileState& state, const std::optional<Done>& known,
                       const std::string& sha256) {
    if (state.key().empty()) return false;
    if (known && known->sha256 == sha256 && known->fingerprint == state.key()) return true;
    return hash_of(archive) == sha256;
  }

  void unpack(const fs::path& archive, const fs::path& folder) {
    const fs::path beside = m_job.folder / ("." + folder.filename().string() + ".unpacked");
    sys::remove_tree(beside);
    m_job.unpack(archive, beside);
    const auto manifest = sys::read_file_if_there(beside / k_artifact_manifest, 16 << 20);
    if (!manifest) {
      sys::remove_tree(beside);
      throw Error(fmt::format("it has no {}", k_artifact_manifest));
    }
    if (m_job.unpacking == Unpacking::folders) {
      sys::remove_tree(folder);
      if (::rename(beside.c_str(), folder.c_str()) != 0) sys::throw_sys_error(errno, "write", folder);
      return;
    }
    const std::lock_guard guard(m_mutex);
    for (const std::string_view line : lines(*manifest)) {
      const fs::path base = fs::path(trim(line)).lexically_normal();
      if (base.empty()) continue;
      if (base.is_absolute() || *base.begin() == "..")
        throw Error(
            fmt::format("{} lists {}, which is outside the artifact", k_artifact_manifest, printable(base.string())));
      if (is_plain_folder(beside, base)) move_over(beside / base, m_job.folder);
    }
    sys::remove_tree(beside);
  }

  // A path in which all parts are folders, not links.
  static bool is_plain_folder(const fs::path& root, const fs::path& relative) {
    fs::path place = root;
    for (const fs::path& part : relative) {
      place /= part;
      std::error_code error;
      if (!fs::is_directory(fs::symlink_status(place, error))) return false;
    }
    return true;
  }

  const FetchJob& m_job;
  State m_state;
  std::mutex m_mutex;
};

}  // namespace

std::vector<FetchedFile> fetch_files(const std::vector<ChosenFile>& files, const FetchJob& job) {
  sys::make_folders(job.folder);
  const auto lock = sys::FileLock::try_take(job.folder / ".wheelsmith-fetch.lock");
  if (!lock) throw Error(fmt::format("another process is fetching into {}", printable(job.folder.string())));
  Bringer bringer(job);
  std::vector<FetchedFile> result(files.size());
  parallel_for(files.size(), job.threads, [&](std::size_t i) { result[i] = bringer.bring(files[i]); });
  return result;
}

}  // namespace wheelsmith::rocm
