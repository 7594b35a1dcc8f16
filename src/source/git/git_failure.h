#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "source/git/mirrors.h"
#include "sys/process/process.h"

namespace wheelsmith::source {

// Whether a retry may succeed: network problems, a busy server.
bool is_transient(const sys::Captured& result);
// A pause, longer each time; ends when `stop` returns true.
void pause_before_retry(int retry, const std::function<bool()>& stop);
// Whether the repository has answered that it has no such commit or ref.
bool is_gone(const sys::Captured& result);

// "https://host/a/b (its mirror /srv/a/b.git)", without credentials.
std::string shown(const std::string& url, const MirrorAddress& place);
// Why a repository is unreachable, and the fix.
std::string unreachable(const std::string& url, const MirrorAddress& place, std::string_view for_what,
                        const sys::Captured& result);
std::string forbidden_offline(const std::string& url, const MirrorAddress& place, std::string_view for_what);

}  // namespace wheelsmith::source
