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
  explicit PartCache(cache::Conversation conversation) : m_conversation(std::move(conversation)) {}
  static std::unique_ptr<PartCache> find_offload(const Part& part, const PartSite& site);
  bool look_offload(PartResult& result);

  cache::Conversation m_conversation;
  cache::PartRequest m_request;
  std::optional<cache::CompileRequest> m_offload;  // instead of m_request
  std::string m_object, m_headers;                 // of it
  bool m_can_store = false;
};

}  // namespace wheelsmith::governor
