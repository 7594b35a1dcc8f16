#pragma once

// The curl exit statuses handled here (see its manual for all).

namespace wheelsmith::fetch {

inline constexpr int k_protocol_refused = 1;
inline constexpr int k_no_proxy_name = 5;
inline constexpr int k_no_host_name = 6;
inline constexpr int k_no_connection = 7;
inline constexpr int k_http2 = 16;
inline constexpr int k_partial = 18;
inline constexpr int k_http_status = 22;
inline constexpr int k_write_failed = 23;
inline constexpr int k_timeout = 28;
inline constexpr int k_no_ranges = 33;
inline constexpr int k_tls_connect = 35;
inline constexpr int k_bad_resume = 36;
inline constexpr int k_too_many_redirects = 47;
inline constexpr int k_nothing_came = 52;
inline constexpr int k_send_failed = 55;
inline constexpr int k_receive_failed = 56;
inline constexpr int k_client_cert = 58;
inline constexpr int k_bad_certificate = 60;
inline constexpr int k_bad_ca_file = 77;
inline constexpr int k_http2_stream = 92;

}  // namespace wheelsmith::fetch
