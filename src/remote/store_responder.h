#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "index/serve/answerer.h"
#include "remote/protocol.h"

namespace wheelsmith::remote {

struct ServeStoreOptions {
  std::string token{};                         // "": read-only
  std::uint64_t largest_upload = 16ull << 30;  // bytes
  unsigned most_uploads = 32;                  // at a time
  std::function<void(const std::string&)> on_problem{};
};

// Serves a store to other machines: its steps and their wheels, and nothing else.
class StoreResponder final : public index::Answerer {
 public:
  StoreResponder(store::Store& store, ServeStoreOptions options);
  ~StoreResponder() override;

  [[nodiscard]] index::Response answer(const index::Request& request) const override;
  [[nodiscard]] std::unique_ptr<index::Upload> accept(const index::Request& request) const override;
  void tell(const std::string& problem) const override;
  [[nodiscard]] bool is_writable() const { return !m_options.token.empty(); }

 private:
  // Why a PUT is refused; status 0 if it is accepted.
  struct Refusal {
    unsigned status = 0;
    std::string why;
  };
  [[nodiscard]] Refusal refusal_of(const index::Request& request) const;
  [[nodiscard]] index::Response answer_read(const index::Request& request, const StorePath& path) const;
  [[nodiscard]] std::shared_ptr<const std::string> listing() const;

  store::Store& m_store;
  ServeStoreOptions m_options;
  sys::OpenFolder m_folder;
  std::shared_ptr<std::atomic<unsigned>> m_uploads = std::make_shared<std::atomic<unsigned>>(0);
  mutable std::mutex m_mutex;
  mutable std::shared_ptr<const std::string> m_listing;  // for the state of the steps folder in m_listed
  mutable sys::FileStat m_listed;
  mutable std::mutex m_put_mutex;  // serializes the writing of records
};

}  // namespace wheelsmith::remote
