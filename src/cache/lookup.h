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
#include "cache/parts/device_text.h"
#include "cache/parts/part.h"
#include "cache/search.h"
#include "cache/storage.h"

// The cache without its socket: finds and stores results by their inputs. Only src/cache includes this.

namespace wheelsmith::cache {

class Lookup {
 public:
  // Throws Error when the folder cannot be used.
  explicit Lookup(const CacheOptions& options);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  // A compile between the request and its result.
  struct Pending {
    CompileRequest request;
    Compile compile;
    std::string key;  // of the unit
    std::string source_digest;
    std::int64_t started = 0;  // no file it reads may change after this
    Unit unit{};               // as stored remotely, if known
    bool remote_failed = false;
  };
  struct Found {
    Result result;
    std::vector<std::string> files;    // its inputs, in this compile's folders
    std::vector<std::string> digests;  // of each, 32 bytes
    bool remote = false;
  };
  // One of the two, or neither with a reason.
  struct Answer {
    std::optional<Pending> pending{};
    std::optional<Found> found{};
    Compile compile{};  // of the found result
    std::string why;
  };
  Answer find(const sys::RootView& view, const CompileRequest& request);

  // After a successful compile. `headers`: clang's list for all passes.
  struct Made {
    std::string object, dependencies, headers, output, errors;
    std::uint64_t milliseconds = 0;  // CPU time of the compile
  };
  // What to store, or why not. Reads every file that the compile read.
  std::variant<Variant, Uncacheable> describe(const sys::RootView& view, const Pending& pending, const Made& made);
  void store(const Pending& pending, Variant variant, const Made& made);

  // parts/part_lookup.cc: parts of GPU compiles.
  struct PartKeys {
    std::string without_positions, with_positions, exact;
    std::vector<std::string> spaces;  // namespaces of the text that contain the architectures
  };
  // One of the two, or neither if it cannot be kept.
  struct PartAnswer {
    std::optional<PartFiles> found{};
    std::optional<PartKeys> pending{};
    bool remote = false, remote_failed = false;
  };
  PartAnswer find_part(const sys::RootView& view, const PartRequest& request);
  void store_part(const PartRequest& request, const PartKeys& keys, const PartFiles& made);

 private:
  static std::optional<std::string> read_text(const sys::RootView& view, const std::string& path);
  std::optional<PartKeys> part_keys(const sys::RootView& view, const PartRequest& request);
  std::optional<PartFiles> load_part(const std::string& key, const Spelling& spelling, const PathMap& map, bool& remote,
                                     bool& failed);
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
  std::mutex m_mutex;  // guards the units on disk and the members below
  std::uint64_t m_written = 0;
  std::int64_t m_remote_rests_until = 0;  // no requests until then, after a failure
};

}  // namespace wheelsmith::cache
