#pragma once

#include <optional>
#include <string>

#include "surgery/input_wheel.h"
#include "surgery/item.h"

namespace wheelsmith::surgery {

// What `retag` changes; what is not given stays. Tags are compressed sets ("py2.py3"). A set that begins with '+' is
// added to the old one, one that begins with '-' is taken out of it.
struct RetagRequest {
  std::optional<std::string> python_tag, abi_tag, platform_tag;
  std::optional<std::string> build;          // "": none
  std::optional<std::string> version;        // whole
  std::optional<std::string> local_version;  // the part behind '+'; "": none
  std::optional<std::string> name;
  bool automatic = false;  // the most compatible tags that the binaries qualify for, where no tag is given

  [[nodiscard]] bool empty() const {
    return !python_tag && !abi_tag && !platform_tag && !build && !version && !local_version && !name && !automatic;
  }
};

// Throws Error; RequestError for values that no wheel can have.
void retag(InputWheel& input, const RetagRequest& request, const WriteOptions& options, Item& item);

// Whether no binary that fits the old platform tags can break the new ones: each new tag promises no more than an old
// one for the same machine.
bool promises_no_more(const std::string& old_platforms, const std::string& new_platforms);

}  // namespace wheelsmith::surgery
