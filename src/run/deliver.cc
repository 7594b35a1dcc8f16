// A wheel's name does not identify its content: the same version built with another compiler, or from changed source,
// has the same name and often the same size. Files in the wheelhouse are therefore identified by digest. The store
// remembers the digest with the file's stat, so repeated checks read nothing; the first one after a delivery does.

#include "run/deliver.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_kind = "wheelhouse";

std::string digest_of(const fs::path& file, const sys::FileState& state, store::Store& store) {
  if (const auto known = store.remembered(k_kind, file.string(), state.key())) return *known;
  std::string digest = to_hex(sha256(sys::map_file(file).bytes));
  if (const auto key = state.key_to_keep()) store.remember(k_kind, file.string(), *key, digest);
  return digest;
}

}  // namespace

std::optional<Artifact> find_artifact(const std::string& key, const store::Store& store) {
  const auto record = store.find_step(key);
  if (!record || !store.blob(record->wheel_sha256)) return std::nullopt;
  return Artifact{record->wheel_name, record->wheel_sha256, record->wheel_size};
}

Delivered deliver(const Artifact& artifact, const fs::path& out, store::Store& store) {
  const auto blob = store.blob(artifact.sha256);
  if (!blob)
    throw Error(fmt::format("{} is no longer in the store; rerun the same command to rebuild it", artifact.file_name));
  const fs::path target = fs::absolute(out) / artifact.file_name;
  sys::make_folders(target.parent_path());
  const sys::FileState before(target);
  const bool there = !before.key().empty();
  if (there && digest_of(target, before, store) == artifact.sha256) return {target, false};
  const fs::path partial = target.parent_path() / fmt::format(".{}.{}", target.filename().string(), ::getpid());
  std::error_code error;
  sys::copy_file(*blob, partial);
  // The blob may have changed since the plan checked it.
  if (const std::string sha256 = to_hex(wheelsmith::sha256(sys::map_file(partial).bytes)); sha256 != artifact.sha256) {
    fs::remove(partial, error);
    store.discard_damaged_blob(artifact.sha256);
    throw Error(
        fmt::format("the store's copy of {} is damaged (its SHA-256 is {}); rerun the same command to rebuild it",
                    artifact.file_name, sha256));
  }
  fs::permissions(partial, fs::perms(0644), error);  // blobs are read-only; wheelhouse files are writable
  fs::rename(partial, target, error);
  if (error) {
    std::error_code ignored;
    fs::remove(partial, ignored);
    sys::throw_sys_error(error.value(), "write", target);
  }
  return {target, there};
}

}  // namespace wheelsmith::run
