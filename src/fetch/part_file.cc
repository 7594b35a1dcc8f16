#include "fetch/part_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "fetch/curl_status.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::fetch {

namespace fs = std::filesystem;

namespace {

constexpr int k_most_tries = 100;
constexpr std::uint64_t k_spare_bytes = 16 << 20;

}  // namespace

std::string sha256_of_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) sys::throw_sys_error(errno, "open", file);
  Sha256 hash;
  std::string buffer(1 << 20, '\0');
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    hash.update(std::string_view(buffer).substr(0, static_cast<std::size_t>(in.gcount())));
  }
  if (in.bad()) sys::throw_sys_error(EIO, "read", file);
  return to_hex(hash.finish());
}

void sync_and_rename(const fs::path& file, const fs::path& target) {
  sys::make_folders(target.parent_path());
  if (const auto error = sys::sync_file(file)) sys::throw_sys_error(error.value(), "write", file);
  if (::rename(file.c_str(), target.c_str()) != 0) sys::throw_sys_error(errno, "write", target);
}

std::uint64_t content_length(std::string_view headers) {
  std::uint64_t length = 0;
  for (const std::string_view line : lines(headers)) {
    if (line.starts_with("HTTP/")) length = 0;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || to_lower(line.substr(0, colon)) != "content-length") continue;
    length = to_number(trim(line.substr(colon + 1))).value_or(0);
  }
  return length;
}

PartFile::PartFile(fs::path folder, std::string what, bool resumable)
    : m_folder(std::move(folder)),
      m_body(m_folder / "body"),
      m_headers(m_folder / "headers"),
      m_what(std::move(what)),
      m_resumable(resumable) {
  sys::make_folders(m_folder);
  m_resumed = m_resumable && size() > 0;
  if (!m_resumed) start_anew();
}

std::uint64_t PartFile::size() const {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(m_body, error);
  return error ? 0 : size;
}

void PartFile::start_anew() {
  std::error_code ignored;
  fs::remove(m_body, ignored);
  fs::remove(m_headers, ignored);
  m_resumed = false;
}

void PartFile::discard() { sys::remove_tree(m_folder); }

void PartFile::fetch(const std::string& url, const FetchOptions& options, std::uint64_t most_bytes) {
  int retry = 0;
  for (int tries = 0;; ++tries) {
    if (!m_resumable) start_anew();
    std::error_code ignored;
    fs::remove(m_headers, ignored);
    m_begin = size();
    m_total = 0;
    Transfer transfer;
    transfer.url = url;
    transfer.output = m_body;
    transfer.response_headers = m_headers;
    transfer.most_bytes = most_bytes;
    transfer.resume = m_begin > 0;
    const Transferred result =
        transfer_once(transfer, options, [&](std::uint64_t done) { return watch(done, options); });
    if (result.good()) break;
    if (transfer.resume && (result.curl == k_no_ranges || result.curl == k_bad_resume)) {
      start_anew();
      continue;
    }
    // An unreliable connection may continue as long as it makes progress.
    if (size() > m_begin && m_resumable && tries < k_most_tries) retry = 0;
    if (m_no_room || !wait_for_retry(retry++, result, options)) fail(result, url, options);
  }
  if (!fs::exists(m_body)) std::ofstream(m_body).close();  // an empty answer
  if (options.on_progress) options.on_progress({m_what, size(), size()});
}

// Called several times a second.
bool PartFile::watch(std::uint64_t done, const FetchOptions& options) {
  if (m_total == 0) {
    const std::uint64_t length = content_length(sys::read_file_if_there(m_headers, 1 << 20).value_or(""));
    if (length != 0 && length < ~m_begin) {
      m_total = m_begin + length;
      const std::uint64_t missing = m_total - std::min(done, m_total);
      m_no_room = missing > sys::free_disk_bytes(m_folder);
      if (m_no_room) return true;
    }
  }
  if (options.on_progress && done > 0) options.on_progress({m_what, done, std::max(m_total, done)});
  return false;
}

void PartFile::fail(const Transferred& result, const std::string& url, const FetchOptions& options) {
  const std::uint64_t room = sys::free_disk_bytes(m_folder);
  if (size() == 0) discard();
  if (m_no_room || (result.curl == k_write_failed && room < k_spare_bytes)) {
    throw Error(fmt::format("no space left for {}: {} free in {}{}; `wheelsmith store gc` frees space", m_what,
                            human_bytes(room), m_folder.parent_path().string(),
                            m_total == 0 ? "" : fmt::format(", {} needed", human_bytes(m_total))));
  }
  throw Error(failure_text(result, url, options));
}

std::string PartFile::sha256() const { return sha256_of_file(m_body); }

void PartFile::publish(const fs::path& target) {
  sync_and_rename(m_body, target);
  discard();
}

}  // namespace wheelsmith::fetch
