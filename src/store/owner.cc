#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "store/impl.h"
#include "sys/ownership.h"
#include "sys/process/process.h"

namespace wheelsmith::store {

namespace {

namespace fs = std::filesystem;

// Whether any user could have created the folder: a parent is world-writable, like /tmp.
bool lies_in_public(const fs::path& folder) {
  for (fs::path above = folder.parent_path();; above = above.parent_path()) {
    const auto ownership = sys::ownership_of(above);
    if (ownership && ownership->world_writable()) return true;
    if (above == above.parent_path()) return false;
  }
}

}  // namespace

// Wheelsmith starts programs of the store (interpreters of environments) and delivers its wheels, so a user who can
// write to it can run code as the user who builds. Root may use the store of a user, as in a container that has it
// mounted, unless any user could have created it.
void refuse_foreign_store(const fs::path& root) {
  std::error_code error;
  const fs::path real = fs::canonical(root, error);
  const auto ownership = sys::ownership_of(error ? root : real);
  if (!ownership) return;
  const unsigned user = sys::current_user();
  const bool foreign = ownership->user != user && ownership->user != 0;
  if (foreign && (user != 0 || lies_in_public(real))) {
    throw Error(
        fmt::format("the store {} belongs to user {}, not to you (user {}); use another one: --store DIR "
                    "or WHEELSMITH_STORE",
                    printable(root.string()), ownership->user, user));
  }
  if (ownership->world_writable()) {
    throw Error(fmt::format("other users can write to the store {}; run: chmod o-w {}", printable(root.string()),
                            printable(sys::shell_quoted(root.string()))));
  }
}

}  // namespace wheelsmith::store
