#include "governor/waiting_text.h"

#include <fmt/format.h>

#include "base/text.h"

namespace wheelsmith::governor {

namespace {

std::string other_builds(const Message& status) {
  const std::string name = status.text("other");
  const std::string compiles = counted(status.number("others"), "compile");
  if (status.number("other_builds") > 1)
    return fmt::format("{} of {} other builds", compiles, status.number("other_builds"));
  return fmt::format("{} of {}", compiles, name.empty() ? "another build" : name);
}

}  // namespace

std::string waiting_text(const Message& status) {
  if (status.number("waiting") == 0) return "";
  const std::string why = status.text("why");
  if (status.number("running") == 0 && status.number("others") != 0) return other_builds(status);
  if (why == "memory") return "memory";
  if (why == "pressure") return "memory (the machine is low on memory)";
  if (why == "alone") return "a compile that must run alone";
  return "";
}

}  // namespace wheelsmith::governor
