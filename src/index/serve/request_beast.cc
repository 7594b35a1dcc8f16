// The only file that includes Boost.Beast, for its parser of HTTP/1 requests, which is better tested against hostile
// input than a new one would be.

#include <algorithm>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>

#include "base/text.h"
#include "index/serve/request.h"

namespace wheelsmith::index {

namespace http = boost::beast::http;

RequestState parse_request(std::string_view bytes, Request& request, std::size_t& used) {
  // Empty lines before a request must be ignored (RFC 9112, 2.2).
  std::size_t start = 0;
  while (start < bytes.size() && (bytes[start] == '\r' || bytes[start] == '\n')) ++start;
  const std::size_t end = bytes.find("\r\n\r\n", start);
  if (end == std::string_view::npos)
    return bytes.size() >= k_most_request ? RequestState::too_large : RequestState::incomplete;
  if (end + 4 > k_most_request) return RequestState::too_large;
  const std::string_view header = bytes.substr(start, end + 4 - start);
  if (header.find('\0') != std::string_view::npos) return RequestState::bad;

  http::request_parser<http::empty_body> parser;
  parser.header_limit(k_most_request);
  parser.body_limit(std::uint64_t{1} << 40);  // an Upload has its own limit
  boost::system::error_code error;
  const std::size_t taken = parser.put(boost::asio::const_buffer(header.data(), header.size()), error);
  if (error == http::error::header_limit) return RequestState::too_large;
  if ((error && error != http::error::need_more && error != http::error::unexpected_body) || !parser.is_header_done())
    return RequestState::bad;
  if (taken > header.size()) return RequestState::bad;

  const auto& message = parser.get();
  request = {};
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message)
    request.headers.emplace_back(to_lower(std::string(field.name_string())), std::string(field.value()));
  request.keep_alive = parser.keep_alive();
  const auto length = request.header("content-length");
  const bool is_coded = request.header("transfer-encoding").has_value();
  request.has_body = (length && *length != "0") || is_coded;
  if (length && !is_coded) request.body_size = to_number(*length);
  if (message.version() != 10 && message.version() != 11) return RequestState::bad;
  if (message.version() == 11 && !request.header("host")) return RequestState::bad;
  used = end + 4;
  return RequestState::complete;
}

}  // namespace wheelsmith::index
