#pragma once

#include <string>

#include "index/publish.h"
#include "index/serve/server.h"
#include "report/style.h"

// `index` and `serve`.

namespace wheelsmith::report {

std::string published_text(const index::Published& published, const Style& style);
std::string published_json(const index::Published& published);

struct ServedFolder {
  std::string folder, url;
  bool live = false;   // pages generated in memory
  bool store = false;  // a store for other machines, not an index
  bool writable = false;
};
std::string served_text(const ServedFolder& served);
std::string served_json(const ServedFolder& served);

// One line of the access log.
std::string access_text(const index::Access& access);
std::string access_json(const index::Access& access);
// A problem of the server itself, as a line of that log.
std::string problem_json(const std::string& problem);

}  // namespace wheelsmith::report
