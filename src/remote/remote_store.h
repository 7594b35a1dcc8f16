#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fetch/fetch.h"
#include "remote/protocol.h"

// Stores elsewhere, as this machine uses them. What comes from one is verified before it is believed: the record by its
// key, the wheel by its hash and by what it carries.

namespace wheelsmith::remote {

// One remote store, by HTTP(S).
class RemoteStore {
 public:
  // `token` "": nothing is written.
  RemoteStore(std::string url, fetch::FetchOptions options, std::string token = "");

  // For messages: without a password.
  [[nodiscard]] const std::string& name() const { return m_name; }
  // What it has. Throws Error, also where it is a plain web server without a list.
  const Listing& list();
  // Nothing when it has no such step. Throws Error when it does not answer, or answers something else.
  std::optional<store::StepRecord> find(const std::string& key);
  // Copies the step and its wheel. Throws Error; then nothing of it is kept.
  void pull(const store::StepRecord& record, store::Store& into);
  // False when it had the step already. Throws Error.
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

// The remote stores of the settings, in their order. One that fails is told of once and left out from then on: it costs
// time, never a result.
class RemoteStores {
 public:
  RemoteStores(const std::vector<std::string>& urls, const fetch::FetchOptions& options,
               std::function<void(const std::string&)> on_note);

  struct Found {
    std::string url;  // for messages
    store::StepRecord record;
  };
  // Never throws for a store's sake.
  std::optional<Found> find(const std::string& key);
  // From the store that find() named: "" or why it is not here now.
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

// From the environment, or from the file where one is named: its first line. "" where there is neither. Throws Error
// for a file that others can read.
std::string read_token(const std::filesystem::path& file);

// Copies a step between two stores of this machine. False when it was there already.
bool copy_step(const store::StepRecord& record, const store::Store& from, store::Store& into);

}  // namespace wheelsmith::remote
