#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// Stores entries: packed bytes (src/cache/entry.h) under keys of 64 hex digits. Readers verify them, so a storage
// guarantees nothing about what it returns. Thread-safe.

namespace wheelsmith::cache {

inline constexpr std::uint64_t k_largest_entry = 2ULL << 30;

// A folder. Entries appear atomically; they are not synced, since a damaged one is detected and costs one compile.
class FolderStorage {
 public:
  // Created if missing. Throws Error.
  explicit FolderStorage(std::filesystem::path folder);
  // Marks it as used: the least recently used entry is evicted first.
  [[nodiscard]] std::optional<std::string> get(const std::string& key) const;
  // Throws Error.
  void put(const std::string& key, std::string_view bytes) const;
  void remove(const std::string& key) const;

 private:
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;
  std::filesystem::path m_folder;
};

// Evicts the least recently used entries, in all subfolders, when they exceed `size` bytes. Returns the remaining
// bytes.
std::uint64_t trim_folder(const std::filesystem::path& folder, std::uint64_t size);

// Storage that several machines share.
class RemoteStorage {
 public:
  virtual ~RemoteStorage() = default;
  // Nothing when it has no such entry. Throws Error when it does not answer.
  virtual std::optional<std::string> get(const std::string& key) = 0;
  virtual void put(const std::string& key, std::string_view bytes) = 0;  // throws Error
};

// redis://[USER:PASSWORD@]HOST[:PORT][/DB], redis+unix:///SOCKET, http://[USER:PASSWORD@]HOST[:PORT]/PATH,
// file:///FOLDER. Throws Error for any other address; connects on first use.
std::unique_ptr<RemoteStorage> open_remote(std::string_view url);

}  // namespace wheelsmith::cache
