#pragma once

#include <optional>
#include <utility>

#include "store/claim/claim.h"
#include "sys/files.h"

namespace wheelsmith::store {

// A lock of the store, held while the object lives: with flock() between processes of one machine, with a
// claim between machines and if flock() does not work. Move-only.
class Lock {
 public:
  explicit Lock(sys::FileLock lock) : m_file(std::move(lock)) {}
  explicit Lock(Claim claim) : m_claim(std::move(claim)) {}

  // False once another machine has taken it over.
  [[nodiscard]] bool is_held() const { return !m_claim || m_claim->is_held(); }

 private:
  std::optional<sys::FileLock> m_file;
  std::optional<Claim> m_claim;
};

}  // namespace wheelsmith::store
