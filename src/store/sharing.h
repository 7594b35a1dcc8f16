#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "store/store.h"

namespace wheelsmith::store {

// Whether several machines use a store, and its name among the stores of a machine.
struct Sharing {
  bool shared = false;
  std::string id;
};

// As store.json says. Without that file a store is shared when it is on a network file system or when flock() does not
// work in it; then store.json is written, so that every machine decides alike, also the file server itself.
Sharing find_sharing(const std::filesystem::path& root);
void write_sharing(const std::filesystem::path& root, bool shared);
// Nothing for what is not one of ours.
std::optional<Sharing> parse_sharing(std::string_view text);

// This machine's folder for the store, created for the user alone. Throws Error.
std::filesystem::path make_local_root(const Sharing& sharing, const StoreOptions& options);

}  // namespace wheelsmith::store
