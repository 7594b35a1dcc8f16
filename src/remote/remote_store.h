#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fetch/fetch.h"
#include "remote/protocol.h"

// Remote stores as this machine uses them. Everything from one is verified before use: the record by its key, the wheel
// by its hash and by the provenance it carries.

namespace wheelsmith::remote {

// One remote store, over HTTP(S).
class RemoteStore {
 public:
  // `token` "": read-only.
  RemoteStore(std::string url, fetch::FetchOptions options, std::string token = "");

  // For messages: without a password.
  [[nodiscard]] const std::string& name() const { return m_name; }
  // Its finished steps. Throws Error, also for a plain web server, which has no list.
  const Listing& list();
  // Empty if it has no such step. Throws Error if the server does not respond, or responds with something else.
  std::optional<store::StepRecord> find(const std::string& key);
  // Copies the step and its wheel. Throws Error and then keeps nothing.
  void pull(const store::StepRecord& record, store::Store& into);
  // False if it has the step already. Throws Error.
  bool push(const store::StepRecord& record, const store::Store& from);

 private:
  [[nodiscard]] std::string at(const std::string& path) const { return m_url + path; }
  void put(const std::string& path, const std::filesystem::path& file);

  std::string m_url, m_name, m_token;  // the URL ends with '/'
  fetch::FetchOptions m_options;
  std::optional<Listing> m_listing;
  std::map<std::string, bool> m_listed;
  bool m_has_no_list = false;
};

// The remote stores in the settings, in their order. A store that fails is reported once and then ignored: a failure
// costs time, never a result.
class RemoteStores {
 public:
  RemoteStores(const std::vector<std::string>& urls, const fetch::FetchOptions& options,
               std::function<void(const std::string&)> on_note);

  struct Found {
    std::string url;  // for messages
    store::StepRecord record;
  };
  // Does not throw if a store fails.
  std::optional<Found> find(const std::string& key);
  // Copies from the store that find() returned. Returns "" or why it failed.
  std::string pull(const std::string& key, store::Store& into);
  [[nodiscard]] bool empty() const { return m_stores.empty(); }

 private:
  struct Entry {
    std::unique_ptr<RemoteStore> store;
    bool failed = false;
  };
  std::vector<Entry> m_stores;
  std::map<std::string, std::pair<std::size_t, store::StepRecord>> m_found;
  std::function<void(const std::string&)> m_on_note;
};

// The first line of the file if one is given, otherwise the environment variable, or "". Throws Error for a file that
// other users can read.
std::string read_token(const std::filesystem::path& file);

// Copies a step between two stores of this machine. False if it was there already.
bool copy_step(const store::StepRecord& record, const store::Store& from, store::Store& into);

}  // namespace wheelsmith::remote
