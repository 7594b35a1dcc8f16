#include <algorithm>

#include "base/error.h"
#include "env/env.h"
#include "pep/project/project_page.h"
#include "pep/wheel_name.h"

namespace wheelsmith::env {

document::Value Lock::to_value() const {
  document::Array pinned;
  for (const PinnedWheel& wheel : wheels) {
    document::Table table;
    table["name"] = wheel.name;
    table["version"] = wheel.version;
    table["file"] = wheel.file_name;
    table["url"] = wheel.url;
    table["sha256"] = wheel.sha256;
    pinned.emplace_back(std::move(table));
  }
  document::Array wanted;
  for (const std::string& requirement : requirements) wanted.emplace_back(requirement);
  document::Table lock;
  lock["schema"] = 1;
  lock["requirements"] = std::move(wanted);
  lock["wheels"] = std::move(pinned);
  return lock;
}

Lock Lock::from_value(const document::Value& value) {
  if (value["schema"].integer_or(0) != 1 || value["wheels"].array() == nullptr) {
    throw Error("is not a lock that this version of wheelsmith can read");
  }
  Lock lock;
  lock.requirements = value["requirements"].texts();
  for (const document::Value& entry : *value["wheels"].array()) {
    PinnedWheel wheel{entry["name"].text_or(), entry["version"].text_or(), entry["file"].text_or(),
                      entry["url"].text_or(), entry["sha256"].text_or()};
    if (wheel.name.empty() || wheel.url.empty() || wheel.sha256.size() != 64 ||
        !pep::is_safe_file_name(wheel.file_name)) {
      throw Error("contains a wheel without name, URL or SHA-256");
    }
    lock.wheels.push_back(std::move(wheel));
  }
  std::ranges::sort(lock.wheels, {}, &PinnedWheel::name);
  return lock;
}

const PinnedWheel* Lock::find(std::string_view name) const {
  const std::string wanted = pep::normalized_name(name);
  const auto found = std::ranges::find_if(
      wheels, [&](const PinnedWheel& wheel) { return pep::normalized_name(wheel.name) == wanted; });
  return found == wheels.end() ? nullptr : &*found;
}

}  // namespace wheelsmith::env
