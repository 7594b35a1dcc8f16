// The server side of a remote store. It opens only names that are hashes, so no path leads out of the store. A blob
// gets its name when its bytes have arrived and match the hash; a step is accepted if its wheel is in the store.

#include "remote/store_responder.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "sys/clock.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::remote {

namespace {

using index::plain_response;
using index::Request;
using index::Response;

// A folder that changed within the last tick of the file system's clock may change again without a new time.
constexpr std::int64_t k_listing_tick = 50'000'000;

// Takes the same time for wrong and right tokens.
bool is_same_secret(std::string_view given, std::string_view wanted) {
  const Digest a = sha256(Bytes(given)), b = sha256(Bytes(wanted));
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

// Counts an upload while it runs.
class UploadSlot {
 public:
  explicit UploadSlot(std::shared_ptr<std::atomic<unsigned>> count) : m_count(std::move(count)) { ++*m_count; }
  ~UploadSlot() { --*m_count; }
  UploadSlot(const UploadSlot&) = delete;
  UploadSlot& operator=(const UploadSlot&) = delete;

 private:
  std::shared_ptr<std::atomic<unsigned>> m_count;
};

class BlobUpload final : public index::Upload {
 public:
  BlobUpload(const store::Store& store, std::string sha256, std::shared_ptr<std::atomic<unsigned>> count)
      : m_slot(std::move(count)),
        m_sha256(std::move(sha256)),
        m_file(store.folder("blobs") / m_sha256, store.staging()) {}

  void take(std::string_view bytes) override {
    m_hash.update(bytes);
    m_file.write(bytes);
  }

  Response finish() override {
    const std::string found = to_hex(m_hash.finish());
    if (found != m_sha256) return plain_response(422, "the uploaded bytes have the SHA-256 " + found);
    m_file.set_mode(0444);
    m_file.commit();
    return plain_response(201, "");
  }

 private:
  UploadSlot m_slot;
  std::string m_sha256;
  sys::AtomicFile m_file;
  Sha256 m_hash;
};

class StepUpload final : public index::Upload {
 public:
  StepUpload(store::Store& store, std::string key, std::mutex& mutex, std::shared_ptr<std::atomic<unsigned>> count)
      : m_slot(std::move(count)), m_store(store), m_key(std::move(key)), m_mutex(mutex) {}

  void take(std::string_view bytes) override { m_text += bytes; }

  Response finish() override {
    store::StepRecord record;
    try {
      record = parse_record(m_text, m_key);
      const auto blob = m_store.blob(record.wheel_sha256);
      if (!blob) return plain_response(409, "its wheel is not in this store");
      if (!m_store.has_sha256(*blob, record.wheel_sha256))
        return plain_response(409, "its wheel is damaged in this store");
      const Blob wheel = sys::map_file(*blob);
      if (wheel.bytes.size() != record.wheel_size) return plain_response(422, "the size of its wheel differs");
      check_wheel(wheel.bytes, record);
    } catch (const Error& error) {  // becomes a response
      return plain_response(422, error.what());
    }
    const std::lock_guard guard(m_mutex);
    // A key has one result: the first one stays.
    if (m_store.find_step(m_key)) return plain_response(200, "");
    m_store.put_step(record);
    return plain_response(201, "");
  }

 private:
  UploadSlot m_slot;
  store::Store& m_store;
  std::string m_key, m_text;
  std::mutex& m_mutex;
};

}  // namespace

StoreResponder::StoreResponder(store::Store& store, ServeStoreOptions options)
    : m_store(store), m_options(std::move(options)), m_folder(store.root()) {}

StoreResponder::~StoreResponder() = default;

void StoreResponder::tell(const std::string& problem) const {
  if (m_options.on_problem) m_options.on_problem(problem);
}

StoreResponder::Refusal StoreResponder::refusal_of(const Request& request) const {
  if (m_options.token.empty()) return {403, "this store is read-only"};
  const std::string given = request.header("authorization").value_or("");
  constexpr std::string_view scheme = "bearer ";
  const bool bears = to_lower(std::string_view(given).substr(0, scheme.size())) == scheme;
  if (!bears || !is_same_secret(trim(std::string_view(given).substr(scheme.size())), m_options.token))
    return {401, "writing requires the token"};
  const auto target = index::parse_target(request.target);
  const auto path = target && !target->folder ? parse_store_path(target->path) : std::nullopt;
  if (!path || path->kind == StorePath::Kind::listing) return {404, ""};
  if (!request.body_size) return {411, ""};
  const std::uint64_t limit = path->kind == StorePath::Kind::step ? k_largest_record : m_options.largest_upload;
  if (*request.body_size > limit) return {413, fmt::format("at most {} bytes", limit)};
  if (*m_uploads >= m_options.most_uploads) return {503, "too many uploads"};
  return {};
}

std::unique_ptr<index::Upload> StoreResponder::accept(const Request& request) const {
  if (request.method != "PUT" || refusal_of(request).status != 0) return nullptr;
  const auto path = parse_store_path(index::parse_target(request.target).value().path).value();
  try {
    if (path.kind == StorePath::Kind::blob) return std::make_unique<BlobUpload>(m_store, path.name, m_uploads);
    return std::make_unique<StepUpload>(m_store, path.name, m_put_mutex, m_uploads);
  } catch (const Error& error) {  // reported; the client gets an error
    tell(error.what());
    return nullptr;
  }
}

std::shared_ptr<const std::string> StoreResponder::listing() const {
  const std::lock_guard guard(m_mutex);
  const auto now = m_folder.folder_stat("steps");
  const bool settled = now && sys::unix_nanoseconds() - now->modified > k_listing_tick;
  if (m_listing && settled && *now == m_listed) return m_listing;
  Listing list;
  list.writable = is_writable();
  for (const store::StoredWheel& wheel : m_store.wheels())
    list.steps.push_back({wheel.key, wheel.package, wheel.version, wheel.wheel_name, wheel.bytes});
  auto text = std::make_shared<const std::string>(to_text(list));
  if (settled) {
    m_listing = text;
    m_listed = *now;
  }
  return text;
}

Response StoreResponder::answer_read(const Request& request, const StorePath& path) const {
  index::Content content;
  content.type = "application/json";
  if (path.kind == StorePath::Kind::listing) {
    content.text = listing();
    content.etag = "\"" + to_hex(sha256(Bytes(*content.text))) + "\"";
    return index::deliver(request, content);
  }
  const bool is_blob = path.kind == StorePath::Kind::blob;
  auto file = m_folder.open_file(is_blob ? blob_path(path.name) : step_path(path.name));
  if (!file) return plain_response(404, "");
  const sys::FileStat stat = file->stat();
  content.file = std::make_shared<const sys::OpenFile>(std::move(*file));
  content.last_modified = index::http_time(stat.modified);
  content.etag = is_blob ? "\"" + path.name + "\"" : index::etag_of(stat);
  // A blob is named by its hash and never changes: it can be sent from the page cache, and clients may cache it
  // forever.
  content.immutable = is_blob;
  if (is_blob) content.type = "application/octet-stream";
  return index::deliver(request, content);
}

Response StoreResponder::answer(const Request& request) const {
  if (request.method == "PUT") {
    const Refusal refusal = refusal_of(request);
    Response response = plain_response(refusal.status == 0 ? 500 : refusal.status, refusal.why);
    if (refusal.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  if (request.method != "GET" && request.method != "HEAD") {
    Response response = plain_response(405, "");
    response.headers.emplace_back("Allow", is_writable() ? "GET, HEAD, PUT" : "GET, HEAD");
    return response;
  }
  const auto target = index::parse_target(request.target);
  if (!target) return plain_response(400, "");
  const auto path = target->folder ? std::nullopt : parse_store_path(target->path);
  if (!path) return plain_response(404, "");
  try {
    return answer_read(request, *path);
  } catch (const Error& error) {  // answer this request; clients do not see details of disk errors
    tell(error.what());
    return plain_response(500, "");
  }
}

}  // namespace wheelsmith::remote
