#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "source/git/mirrors.h"
#include "sys/process/process.h"

namespace wheelsmith::source {

// Whether the same again may well succeed: the network, a server that is busy.
bool is_transient(const sys::Captured& result);
// A moment, longer each time; ends when `stop` says so.
void pause_before_retry(int retry, const std::function<bool()>& stop);
// Whether the repository has answered that it has no such commit or ref.
bool is_gone(const sys::Captured& result);

// "https://host/a/b (its mirror /srv/a/b.git)", without credentials.
std::string shown(const std::string& url, const MirrorAddress& place);
// Why a repository cannot be asked, and what mends it.
std::string unreachable(const std::string& url, const MirrorAddress& place, std::string_view for_what,
                        const sys::Captured& result);
std::string forbidden_offline(const std::string& url, const MirrorAddress& place, std::string_view for_what);

}  // namespace wheelsmith::source
