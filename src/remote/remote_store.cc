#include "remote/remote_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "fetch/download_file.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/ownership.h"
#include "sys/process/process.h"

namespace wheelsmith::remote {

namespace {

// A remote store is there to save time, so one that does not respond must not cost much.
constexpr int k_most_retries = 2;

constexpr const char* k_token_name = "WHEELSMITH_STORE_TOKEN";

std::string with_slash(std::string url) {
  url.resize(std::min(url.find_first_of("?#"), url.size()));
  return url.ends_with('/') ? url : url + "/";
}

std::string refusal_text(const std::string& name, int status) {
  switch (status) {
    case 401: return fmt::format("{} does not accept the token; set {} or --token-file", name, k_token_name);
    case 403: return fmt::format("{} is read-only", name);
    case 411:
    case 413: return fmt::format("{} rejects a file of this size; raise --max-upload of its server", name);
    case 409:
    case 422: return fmt::format("{} rejected it: the content does not match its name", name);
    default: return fmt::format("{} responded with HTTP {}", name, status);
  }
}

}  // namespace

RemoteStore::RemoteStore(std::string url, fetch::FetchOptions options, std::string token)
    : m_url(with_slash(std::move(url))),
      m_name(printable(fetch::without_credentials(m_url))),
      m_token(std::move(token)),
      m_options(std::move(options)) {
  m_options.index.retries = std::min(m_options.index.retries, k_most_retries);
  m_options.on_progress = {};
}

const Listing& RemoteStore::list() {
  if (m_listing) return *m_listing;
  const fetch::Response response = fetch::get(at(std::string(k_listing_path)), m_options);
  if (response.status == 404) m_has_no_list = true;
  if (response.status != 200) throw Error(refusal_text(m_name, response.status));
  m_listing = parse_listing(response.body);
  for (const ListedStep& step : m_listing->steps) m_listed[step.key] = true;
  return *m_listing;
}

std::optional<store::StepRecord> RemoteStore::find(const std::string& key) {
  // One request for the list instead of one per missing step.
  if (!m_listing && !m_has_no_list) {
    try {
      list();
    } catch (const Error&) {  // a plain web server gets one request per step
      if (!m_has_no_list) throw;
    }
  }
  if (m_listing && !m_listed.contains(key)) return std::nullopt;
  const fetch::Response response = fetch::get(at(step_path(key)), m_options);
  if (response.status == 404 || response.status == 410) return std::nullopt;
  if (response.status != 200) throw Error(refusal_text(m_name, response.status));
  return parse_record(response.body, key);
}

void RemoteStore::pull(const store::StepRecord& record, store::Store& into) {
  const std::string& sha256 = record.wheel_sha256;
  const store::Lock lock = into.lock(store::download_lock("part-" + sha256));
  if (into.find_step(record.key)) return;
  const auto there = into.blob(sha256);
  std::filesystem::path wheel;
  const std::filesystem::path folder = into.folder("downloads") / ("part-" + sha256);
  if (there && into.has_sha256(*there, sha256)) {
    wheel = *there;
  } else {
    sys::make_folders(folder);
    wheel = folder / "wheel";
    // The record gives the exact size.
    fetch::download_file(at(blob_path(sha256)), wheel, sha256, m_options,
                         std::max<std::uint64_t>(record.wheel_size, 1));
  }
  try {
    const Blob mapped = sys::map_file(wheel);
    if (mapped.bytes.size() != record.wheel_size) throw Error("the size of the wheel differs from its record");
    check_wheel(mapped.bytes, record);
  } catch (const Error& error) {  // rethrown; nothing is kept
    sys::remove_tree(folder);
    throw Error(fmt::format("{} has an invalid record of {}: {}", m_name, printable(record.wheel_name), error.what()));
  }
  if (wheel.parent_path() == folder) {
    into.put_blob(wheel);
    sys::remove_tree(folder);
  }
  into.put_step(record);
}

void RemoteStore::put(const std::string& path, const std::filesystem::path& file) {
  std::vector<std::string> headers;
  if (!m_token.empty()) headers.push_back("Authorization: Bearer " + m_token);
  const int status = fetch::put(at(path), file, m_options, headers);
  if (status != 200 && status != 201 && status != 204) throw Error(refusal_text(m_name, status));
}

bool RemoteStore::push(const store::StepRecord& record, const store::Store& from) {
  if (find(record.key)) return false;
  const auto wheel = from.blob(record.wheel_sha256);
  if (!wheel || !from.has_sha256(*wheel, record.wheel_sha256))
    throw Error(fmt::format("the wheel of {} is missing from this store or damaged", printable(record.wheel_name)));
  if (fetch::head(at(blob_path(record.wheel_sha256)), m_options) != 200) put(blob_path(record.wheel_sha256), *wheel);
  const sys::TempDir folder;
  const std::filesystem::path file = folder.path() / "step.json";
  sys::write_file(file, document::to_json(record.to_value(), 1) + "\n");
  put(step_path(record.key), file);
  m_listed[record.key] = true;
  return true;
}

RemoteStores::RemoteStores(const std::vector<std::string>& urls, const fetch::FetchOptions& options,
                           std::function<void(const std::string&)> on_note)
    : m_on_note(std::move(on_note)) {
  for (const std::string& url : urls) m_stores.push_back({std::make_unique<RemoteStore>(url, options)});
}

std::optional<RemoteStores::Found> RemoteStores::find(const std::string& key) {
  for (std::size_t i = 0; i < m_stores.size(); ++i) {
    Entry& entry = m_stores[i];
    if (entry.failed) continue;
    try {
      if (auto record = entry.store->find(key)) {
        m_found.insert_or_assign(key, std::pair(i, *record));
        return Found{entry.store->name(), std::move(*record)};
      }
    } catch (const Error& error) {  // reported once; the other stores are used, or the step is built
      entry.failed = true;
      m_on_note(fmt::format("the remote store {} is not used: {}", entry.store->name(), error.what()));
    }
  }
  return std::nullopt;
}

std::string RemoteStores::pull(const std::string& key, store::Store& into) {
  const auto found = m_found.find(key);
  if (found == m_found.end()) return "no remote store has it";
  try {
    m_stores[found->second.first].store->pull(found->second.second, into);
    return "";
  } catch (const Error& error) {  // the step is built instead
    return error.what();
  }
}

std::string read_token(const std::filesystem::path& file) {
  if (file.empty()) {
    const sys::Environment environment = sys::current_environment();
    const auto found = environment.find(k_token_name);
    return found == environment.end() ? "" : std::string(trim(found->second));
  }
  const auto ownership = sys::ownership_of(file);
  if (ownership && (ownership->mode & 044) != 0)
    throw Error(fmt::format("other users can read the token in {}; run: chmod go= {}", printable(file.string()),
                            printable(sys::shell_quoted(file.string()))));
  const std::string text = sys::read_file(file, 1 << 16);
  const std::string token(trim(std::string_view(text).substr(0, text.find('\n'))));
  if (token.empty()) throw Error(fmt::format("{} contains no token", printable(file.string())));
  return token;
}

bool copy_step(const store::StepRecord& record, const store::Store& from, store::Store& into) {
  if (into.find_step(record.key)) return false;
  const auto wheel = from.blob(record.wheel_sha256);
  if (!wheel)
    throw Error(
        fmt::format("the wheel of {} is not in {}", printable(record.wheel_name), printable(from.root().string())));
  if (into.put_blob(*wheel) != record.wheel_sha256)
    throw Error(
        fmt::format("the wheel of {} is damaged in {}", printable(record.wheel_name), printable(from.root().string())));
  into.put_step(record);
  return true;
}

}  // namespace wheelsmith::remote
