#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "zip/archive.h"

namespace wheelsmith::zip {

inline Archive open(const std::string& file) { return Archive::open(Bytes(file)); }

inline std::string read(const Archive& archive, std::string_view name) {
  const Entry* entry = archive.find(name);
  if (entry == nullptr) return "(not there)";
  return std::string(archive.read(*entry).bytes.text());
}

inline void expect_clean(const Archive& archive) {
  for (const Finding& finding : archive.check())
    ADD_FAILURE() << finding.id << " " << finding.subject << ": " << finding.what;
}

}  // namespace wheelsmith::zip
