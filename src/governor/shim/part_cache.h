#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/broker.h"
#include "governor/parts/graph.h"
#include "governor/shim/part_task.h"

// A part's access to the compile cache. Only src/governor includes this.

namespace wheelsmith::governor {

class PartCache {
 public:
  // Null if the part must not be cached. `program` is the absolute path of its tool.
  static std::unique_ptr<PartCache> find(const Part& part, const PartSite& site, const std::string& program,
                                         const std::vector<std::string>& environment);
  // After a hit its files are written, and `result` is complete.
  bool look(PartResult& result);
  // After a successful run.
  void store(const PartResult& result);

 private:
  PartCache(cache::Conversation conversation, cache::PartRequest request)
      : m_conversation(std::move(conversation)), m_request(std::move(request)) {}

  cache::Conversation m_conversation;
  cache::PartRequest m_request;
  bool m_can_store = false;
};

}  // namespace wheelsmith::governor
