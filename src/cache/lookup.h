#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "cache/cache.h"
#include "cache/compile.h"
#include "cache/entry.h"
#include "cache/file_memo.h"
#include "cache/search.h"
#include "cache/storage.h"

// The cache without its socket: what a compile depends on, found and stored. Only src/cache includes this.

namespace wheelsmith::cache {

class Lookup {
 public:
  // Throws Error when the folder cannot be used.
  explicit Lookup(const CacheOptions& options);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  // A compile between the question and its result.
  struct Pending {
    CompileRequest request;
    Compile compile;
    std::string key;  // of the unit
    std::string source_digest;
    std::int64_t started = 0;  // no file that it reads may have changed since
    Unit unit{};               // as far as it is known elsewhere
    bool remote_failed = false;
  };
  struct Found {
    Result result;
    std::vector<std::string> files;  // that it was made from, in this compile's folders
    bool remote = false;
  };
  // One of the two, or neither with a reason.
  struct Answer {
    std::optional<Pending> pending{};
    std::optional<Found> found{};
    Compile compile{};  // of what was found
    std::string why;
  };
  Answer find(const sys::RootView& view, const CompileRequest& request);

  // Of a compile that ended well. `headers`: what clang lists for all passes.
  struct Made {
    std::string object, dependencies, headers, output, errors;
  };
  // What to keep, or why not. Reads all that the compile read.
  std::variant<Variant, Uncacheable> describe(const sys::RootView& view, const Pending& pending, const Made& made);
  void store(const Pending& pending, Variant variant, const Made& made);

 private:
  [[nodiscard]] std::string unit_key(const sys::RootView& view, const CompileRequest& request, const Compile& compile,
                                     const std::string& source_digest);
  static bool matches(Glance& glance, const Compile& compile, const Variant& variant);
  [[nodiscard]] std::optional<std::string> get_local(const std::string& key);
  std::optional<std::string> get_remote(const std::string& key, bool& failed);
  void put_remote(const std::string& key, const std::string& bytes);
  [[nodiscard]] static std::optional<Unit> read_unit(const std::optional<std::string>& content);
  std::optional<Found> load(Glance& glance, const Pending& pending, const Unit& unit, bool from_remote, bool& failed);

  CacheOptions m_options;
  FolderStorage m_storage;
  std::unique_ptr<RemoteStorage> m_remote;
  FileMemo m_memo;
  int m_level;
  std::mutex m_mutex;  // of the units on disk and what follows
  std::uint64_t m_written = 0;
  std::int64_t m_remote_rests_until = 0;  // after a failure
};

}  // namespace wheelsmith::cache
