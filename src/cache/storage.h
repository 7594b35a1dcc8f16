#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// Where entries are kept: packed bytes (src/cache/entry.h) under keys of 64 hex digits. Whoever reads them checks them,
// so a storage promises nothing about what it returns. All calls are safe from several threads.

namespace wheelsmith::cache {

inline constexpr std::uint64_t k_largest_entry = 2ULL << 30;

// A folder. Entries appear whole; they are not synced, since a damaged one is found and costs one compile.
class FolderStorage {
 public:
  // Made when it is not there. Throws Error.
  explicit FolderStorage(std::filesystem::path folder);
  // Marks it as used: the entry that was not used for longest is the first to go.
  [[nodiscard]] std::optional<std::string> get(const std::string& key) const;
  // Throws Error.
  void put(const std::string& key, std::string_view bytes) const;
  void remove(const std::string& key) const;

 private:
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;
  std::filesystem::path m_folder;
};

// Removes the entries that were not used for longest, in all folders below, when there are more than `size` bytes. What
// is left, in bytes.
std::uint64_t trim_folder(const std::filesystem::path& folder, std::uint64_t size);

// Storage that several machines share.
class RemoteStorage {
 public:
  virtual ~RemoteStorage() = default;
  // Nothing when it has none. Throws Error when it does not answer.
  virtual std::optional<std::string> get(const std::string& key) = 0;
  virtual void put(const std::string& key, std::string_view bytes) = 0;  // throws Error
};

// redis://[USER:PASSWORD@]HOST[:PORT][/DB], redis+unix:///SOCKET, http://[USER:PASSWORD@]HOST[:PORT]/PATH,
// file:///FOLDER. Throws Error for an address that is none of these; connects when it is first used.
std::unique_ptr<RemoteStorage> open_remote(std::string_view url);

}  // namespace wheelsmith::cache
