#include "store/sharing.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "document/value.h"
#include "store/impl.h"
#include "sys/file.h"
#include "sys/ownership.h"
#include "sys/process/process.h"
#include "sys/shared_folder.h"

namespace wheelsmith::store {

namespace {

constexpr const char* k_sharing_file = "store.json";

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set
  return value == nullptr ? "" : value;
}

std::string id_of_path(const std::filesystem::path& root) { return to_hex(sha256(Bytes(root.string()))).substr(0, 32); }

std::string sharing_text(const Sharing& sharing) {
  document::Table table;
  table["schema"] = 1;
  table["shared"] = sharing.shared;
  table["id"] = sharing.id;
  return document::to_json(table, 1) + "\n";
}

bool needs_claims(const std::filesystem::path& root) {
  if (!sys::network_file_system(root).empty()) return true;
  try {
    return !sys::has_file_locks(root);
  } catch (const Error&) {
    return false;  // read-only: nothing is locked there
  }
}

void make_private_folder(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) sys::throw_sys_error(errno, "create", folder);
  // Programs are run from there, and all users can write to folders for temporary files.
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0) sys::throw_sys_error(errno, "read", folder);
  if (S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & 022) == 0) return;
  throw Error(
      fmt::format("other users can write to {}, or it is not a folder; choose another with --scratch or "
                  "WHEELSMITH_SCRATCH",
                  printable(folder.string())));
}

}  // namespace

std::optional<Sharing> parse_sharing(std::string_view text) {
  const auto value = document::try_parse_json(text);
  if (!value || (*value)["schema"].integer_or(0) != 1) return std::nullopt;
  const bool* shared = (*value)["shared"].boolean();
  const std::string* id = (*value)["id"].text();
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  // The id becomes the name of a folder.
  if (shared == nullptr || id == nullptr || id->size() != 32 || !std::ranges::all_of(*id, is_digit))
    return std::nullopt;
  return Sharing{*shared, *id};
}

Sharing find_sharing(const std::filesystem::path& root) {
  if (const auto text = sys::read_file_if_there(root / k_sharing_file, 1 << 16)) {
    if (auto sharing = parse_sharing(*text)) return *sharing;
    // Claims work in any store; locks do not.
    return {true, id_of_path(root)};
  }
  if (!needs_claims(root)) return {false, id_of_path(root)};
  const Sharing sharing{true, sys::random_hex(16)};
  // If two processes do this, one of them wins.
  const std::error_code error = sys::create_exclusively(root / k_sharing_file, sharing_text(sharing));
  if (!error) return sharing;
  const auto text = sys::read_file_if_possible(root / k_sharing_file, 1 << 16);
  return (text ? parse_sharing(*text) : std::nullopt).value_or(Sharing{true, id_of_path(root)});
}

void write_sharing(const std::filesystem::path& root, bool shared) {
  const auto text = sys::read_file_if_there(root / k_sharing_file, 1 << 16);
  const auto old = text ? parse_sharing(*text) : std::nullopt;
  sys::write_file(root / k_sharing_file, sharing_text({shared, old ? old->id : sys::random_hex(16)}));
}

std::filesystem::path make_local_root(const Sharing& sharing, const StoreOptions& options) {
  std::filesystem::path scratch = options.scratch;
  for (const char* name : {"SLURM_TMPDIR", "TMPDIR"}) {
    const std::string folder = environment_text(name);
    if (scratch.empty() && folder.starts_with('/') && sys::is_folder(folder)) scratch = folder;
  }
  if (scratch.empty()) scratch = "/var/tmp";
  sys::make_folders(scratch);
  const std::filesystem::path own =
      std::filesystem::absolute(scratch).lexically_normal() / fmt::format("wheelsmith-{}", sys::current_user());
  make_private_folder(own);
  const std::filesystem::path folder = own / sharing.id;
  make_private_folder(folder);
  return folder;
}

}  // namespace wheelsmith::store
