#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "store/store.h"

namespace wheelsmith::store {

// Whether several machines use a store, and the id of the store.
struct Sharing {
  bool shared = false;
  std::string id;
};

// Read from store.json. Without that file a store is shared if it is on a network file system or if flock() does not
// work in it; store.json is then written, so that all machines agree, including the file server itself.
Sharing find_sharing(const std::filesystem::path& root);
void write_sharing(const std::filesystem::path& root, bool shared);
// Empty if the text is not a valid store.json.
std::optional<Sharing> parse_sharing(std::string_view text);

// This machine's folder for the store, created for the user alone. Throws Error.
std::filesystem::path make_local_root(const Sharing& sharing, const StoreOptions& options);

}  // namespace wheelsmith::store
