#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sys/sandbox/sandbox.h"

// The serialized form of a policy, passed from the step to `wheelsmith confine`: a sequence of NUL-terminated strings,
// because a path may contain any other byte.

namespace wheelsmith::sys {

namespace {

using Paths = std::vector<std::filesystem::path>;

struct PathList {
  std::string_view name;
  Paths SandboxPolicy::* member;
};
constexpr std::array<PathList, 4> k_lists{{{"read", &SandboxPolicy::readable},
                                           {"write", &SandboxPolicy::writable},
                                           {"device", &SandboxPolicy::devices},
                                           {"hide", &SandboxPolicy::hidden}}};

void add_word(std::string& text, std::string_view word) {
  if (word.find('\0') != word.npos) throw Error("a path in a sandbox policy contains a zero byte");
  text.append(word);
  text.push_back('\0');
}

}  // namespace

std::string to_text(const SandboxPolicy& policy) {
  std::string text;
  add_word(text, "mode");
  add_word(text, enum_name(policy.mode));
  add_word(text, "network");
  add_word(text, policy.network ? "on" : "off");
  add_word(text, "temporary");
  add_word(text, policy.temporary.string());
  for (const PathList& list : k_lists) {
    for (const std::filesystem::path& path : policy.*list.member) {
      add_word(text, list.name);
      add_word(text, path.string());
    }
  }
  return text;
}

SandboxPolicy parse_policy(std::string_view text) {
  SandboxPolicy policy;
  const auto word = [&text] {
    const std::size_t end = text.find('\0');
    if (end == text.npos) throw Error("the sandbox policy is truncated");
    const std::string result(text.substr(0, end));
    text.remove_prefix(end + 1);
    return result;
  };
  bool has_mode = false;
  while (!text.empty()) {
    const std::string name = word();
    const std::string value = word();
    if (name == "mode") {
      const auto mode = enum_named<SandboxMode>(value);
      if (!mode) throw Error(fmt::format("{} is not a valid sandbox mode", printable(value)));
      policy.mode = *mode;
      has_mode = true;
    } else if (name == "network") {
      policy.network = value == "on";
    } else if (name == "temporary") {
      policy.temporary = value;
    } else {
      bool known = false;
      for (const PathList& list : k_lists) {
        if (list.name != name) continue;
        if (!value.starts_with('/')) throw Error(fmt::format("{} is not an absolute path", printable(value)));
        (policy.*list.member).emplace_back(value);
        known = true;
      }
      if (!known) throw Error(fmt::format("unknown field in a sandbox policy: {}", printable(name)));
    }
  }
  if (!has_mode) throw Error("the sandbox policy has no mode");
  return policy;
}

Protections protections_of(SandboxMode mode, bool network) {
  Protections result;
  const auto put = [&result](const char* name, bool present) {
    (present ? result.present : result.absent).emplace_back(name);
  };
  const bool any = mode != SandboxMode::off;
  const bool own = mode == SandboxMode::namespaces;
  const bool files = own || mode == SandboxMode::landlock;
  put("files", files);
  put("private-tmp", own);
  put("processes", own);
  put("ipc", own);
  put("local-sockets", own);
  if (!network) put("network", own || mode == SandboxMode::landlock);
  put("capabilities", any);
  put("system-calls", any);
  return result;
}

}  // namespace wheelsmith::sys
