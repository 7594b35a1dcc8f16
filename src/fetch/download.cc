// A download is named by its content: downloads/<sha256>/<file name>. So an existing file with that hash is the right
// one, wherever it came from, and a wrong file never gets a name.

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "fetch/part_file.h"
#include "sys/file_state.h"
#include "sys/files.h"

namespace wheelsmith::fetch {

namespace fs = std::filesystem;

namespace {

std::string checked_hash(const std::string& sha256, const std::string& file_name) {
  std::string hash = to_lower(trim(sha256));
  const bool hex = hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hash.empty() && (hash.size() != 64 || !hex)) {
    throw Error(
        fmt::format("\"{}\", given for {}, is not a SHA-256", printable(sha256.substr(0, 80)), printable(file_name)));
  }
  return hash;
}

std::string wrong_hash(const std::string& file_name, const std::string& url, const std::string& wanted,
                       const std::string& found) {
  return fmt::format("hash mismatch for {} from {}: expected SHA-256 {}, got {}; the download was discarded", file_name,
                     printable(without_credentials(url)), wanted, found);
}

class Downloads {
 public:
  Downloads(store::Store& store, const std::string& file_name) : m_store(store), m_file_name(file_name) {}

  // Its path, if it exists.
  [[nodiscard]] std::optional<fs::path> find(const std::string& sha256) const {
    if (sha256.empty()) return std::nullopt;
    const fs::path path = path_of(sha256);
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return std::nullopt;
    // A damaged file is fetched again.
    if (!m_store.has_sha256(path, sha256)) return std::nullopt;
    m_store.mark_used(path.parent_path());
    return path;
  }

  [[nodiscard]] fs::path path_of(const std::string& sha256) const {
    return m_store.folder("downloads") / sha256 / m_file_name;
  }

  // Copied, so that later changes of the original do not matter. The hash is that of the copy.
  fs::path import_local(const fs::path& source, const std::string& wanted) const {
    std::error_code error;
    if (!fs::is_regular_file(source, error)) throw Error(fmt::format("no such file: {}", printable(source.string())));
    const sys::FileState state(source);
    const auto known = m_store.remembered("download", source.string(), state.key());
    if (known && (wanted.empty() || wanted == *known)) {
      if (auto path = find(*known)) return *path;
    }
    const fs::path copy = m_store.staging() / m_file_name;
    sys::copy_file(source, copy);
    fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add, error);
    const std::string found = sha256_of_file(copy);
    if (!wanted.empty() && found != wanted) {
      fs::remove(copy, error);
      throw Error(wrong_hash(m_file_name, source.string(), wanted, found));
    }
    const store::Lock lock = m_store.lock(store::download_lock(found));
    sync_and_rename(copy, path_of(found));
    if (const auto key = state.key_to_keep()) m_store.remember("download", source.string(), *key, found);
    return path_of(found);
  }

 private:
  store::Store& m_store;
  std::string m_file_name;
};

}  // namespace

fs::path Fetcher::download(const std::string& url, const std::string& file_name, const std::string& sha256) {
  if (!pep::is_safe_file_name(file_name))
    throw Error(fmt::format("\"{}\" is not a valid file name", printable(file_name)));
  const std::string wanted = checked_hash(sha256, file_name);
  const Downloads downloads(m_store, file_name);
  if (auto path = downloads.find(wanted)) return *path;
  const std::string place = mirrored(url.substr(0, url.find('#')), m_options.mirrors);
  if (const auto source = local_path(place)) return downloads.import_local(*source, wanted);

  const std::string name = without_credentials(place);
  const std::string key = to_hex(wheelsmith::sha256(Bytes(name + "\n" + wanted))).substr(0, 32);
  const auto expected = [&] { return wanted.empty() ? m_store.note("download", key).value_or("") : wanted; };
  if (auto path = downloads.find(expected())) return *path;
  if (m_options.offline) {
    std::error_code ignored;
    const bool damaged = !wanted.empty() && fs::exists(downloads.path_of(wanted), ignored);
    throw Error(fmt::format("{} {}, and --offline forbids downloading it{}", file_name,
                            damaged ? "is damaged in the store" : "is not in the store", damaged ? " again" : ""));
  }
  const store::Lock lock = m_store.lock(store::download_lock("part-" + key));
  const std::string promised = expected();
  if (auto path = downloads.find(promised)) return *path;  // another process has fetched it meanwhile

  PartFile part(m_store.folder("downloads") / ("part-" + key), file_name, !promised.empty());
  const bool was_resumed = part.resumed();
  part.fetch(place, m_options);
  std::string found = part.sha256();
  if (!promised.empty() && found != promised && was_resumed) {
    // The first half may be from a file that has been replaced since.
    part.start_anew();
    part.fetch(place, m_options);
    found = part.sha256();
  }
  if (!promised.empty() && found != promised) {
    part.discard();
    throw Error(wrong_hash(file_name, url, promised, found));
  }
  const store::Lock publishing = m_store.lock(store::download_lock(found));
  part.publish(downloads.path_of(found));
  if (wanted.empty()) m_store.put_note("download", key, found);
  return downloads.path_of(found);
}

}  // namespace wheelsmith::fetch
