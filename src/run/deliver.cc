// A wheel's name says nothing of its content: the same version built with another compiler, or from a changed source,
// has the same name and often the same size. So the file that lies in the wheelhouse is known by its digest, which the
// store remembers by the file's stat: asking again costs no reading.

#include "run/deliver.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_kind = "wheelhouse";

std::string digest_of(const fs::path& file, const std::string& fingerprint, store::Store& store) {
  if (const auto known = store.remembered(k_kind, file.string(), fingerprint)) return *known;
  return to_hex(sha256(sys::map_file(file).bytes));
}

}  // namespace

bool deliver(const fs::path& wheel, const std::string& sha256, const fs::path& target, store::Store& store) {
  sys::make_folders(target.parent_path());
  const std::optional<std::string> before = sys::stat_fingerprint(target);
  if (before && digest_of(target, *before, store) == sha256) {
    store.remember(k_kind, target.string(), *before, sha256);
    return false;
  }
  const fs::path partial = target.parent_path() / fmt::format(".{}.{}", target.filename().string(), ::getpid());
  sys::copy_file(wheel, partial);
  std::error_code error;
  fs::rename(partial, target, error);
  if (error) {
    std::error_code ignored;
    fs::remove(partial, ignored);
    sys::throw_sys_error(error.value(), "write", target);
  }
  if (const auto after = sys::stat_fingerprint(target)) store.remember(k_kind, target.string(), *after, sha256);
  return before.has_value();
}

std::optional<StepOutcome> take_from_store(const std::string& key, const fs::path& out, store::Store& store) {
  const auto record = store.find_step(key);
  const auto blob = record ? store.blob(record->wheel_sha256) : std::nullopt;
  if (!blob) return std::nullopt;
  StepOutcome outcome;
  outcome.outcome = "cached";
  outcome.wheel = fs::absolute(out) / record->wheel_name;
  outcome.replaced = deliver(*blob, record->wheel_sha256, outcome.wheel, store);
  return outcome;
}

}  // namespace wheelsmith::run
