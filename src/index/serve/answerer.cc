#include "index/serve/answerer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text.h"

namespace wheelsmith::index {

namespace {

std::string_view reason(unsigned status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 206: return "Partial Content";
    case 301: return "Moved Permanently";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 416: return "Range Not Satisfiable";
    case 422: return "Unprocessable Content";
    case 431: return "Request Header Fields Too Large";
    case 507: return "Insufficient Storage";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

// Whether a list of entity tags contains this one. For If-None-Match weak tags count too.
bool lists_tag(std::string_view list, std::string_view etag) {
  for (const std::string_view item : split(list, ',')) {
    std::string_view tag = trim(item);
    if (tag == "*") return true;
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == etag) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<Upload> Answerer::accept(const Request&) const { return nullptr; }
void Answerer::tell(const std::string&) const {}
void Answerer::tick() const {}

std::string http_time(std::int64_t nanoseconds) {
  return fmt::format("{:%a, %d %b %Y %H:%M:%S GMT}",
                     fmt::gmtime(static_cast<std::time_t>(nanoseconds / 1'000'000'000)));
}

std::string etag_of(const sys::FileStat& stat) {
  return fmt::format("\"{:x}-{:x}-{:x}\"", stat.inode, stat.size, static_cast<std::uint64_t>(stat.changed));
}

Response plain_response(unsigned status, std::string_view words) {
  Response response;
  response.status = status;
  response.text = std::make_shared<const std::string>(
      fmt::format("{} {}\n{}{}", status, reason(status), words, words.empty() ? "" : "\n"));
  response.size = response.text->size();
  response.headers.emplace_back("Content-Type", "text/plain; charset=utf-8");
  return response;
}

std::string Response::head(bool keep_alive) const {
  std::string lines = fmt::format("HTTP/1.1 {} {}\r\nServer: wheelsmith\r\n", status, reason(status));
  for (const auto& [name, value] : headers) lines += name + ": " + value + "\r\n";
  if (status != 304) lines += fmt::format("Content-Length: {}\r\n", size);
  lines +=
      fmt::format("X-Content-Type-Options: nosniff\r\nConnection: {}\r\n\r\n", keep_alive ? "keep-alive" : "close");
  return lines;
}

Response deliver(const Request& request, const Content& content) {
  Response response;
  response.headers.emplace_back("ETag", content.etag);
  if (!content.last_modified.empty()) response.headers.emplace_back("Last-Modified", content.last_modified);
  // Caches must revalidate: wheels do get rebuilt under the same name. Blobs are named by their hash.
  response.headers.emplace_back("Cache-Control",
                                content.immutable ? "public, max-age=31536000, immutable" : "no-cache");
  if (content.negotiated) response.headers.emplace_back("Vary", "Accept");
  const auto none_match = request.header("if-none-match");
  const auto since = request.header("if-modified-since");
  const bool same = none_match ? lists_tag(*none_match, content.etag)
                               : since && !content.last_modified.empty() && *since == content.last_modified;
  if (same) {
    response.status = 304;
    return response;
  }
  response.headers.emplace_back("Content-Type", content.type);
  response.headers.emplace_back("Accept-Ranges", "bytes");
  // A range is useful only together with the rest of the same file.
  const auto if_range = request.header("if-range");
  const bool parts =
      !if_range || *if_range == content.etag || (!content.last_modified.empty() && *if_range == content.last_modified);
  const ByteRange range = parse_range(parts ? request.header("range") : std::nullopt, content.size());
  if (range.kind == ByteRange::Kind::unsatisfiable) {
    Response refused = plain_response(416, "");
    refused.headers.emplace_back("Content-Range", fmt::format("bytes */{}", content.size()));
    return refused;
  }
  response.text = content.text;
  response.file = content.file;
  response.immutable = content.immutable;
  response.begin = range.begin;
  response.size = range.end - range.begin;
  if (range.kind == ByteRange::Kind::part) {
    response.status = 206;
    response.headers.emplace_back("Content-Range",
                                  fmt::format("bytes {}-{}/{}", range.begin, range.end - 1, content.size()));
  }
  return response;
}

}  // namespace wheelsmith::index
