#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "store/impl.h"
#include "store/seal.h"
#include "sys/file.h"
#include "sys/process/process.h"

// Users of an environment hold a shared lock; a process that creates or removes it holds an exclusive lock. flock()
// cannot convert one into the other atomically, so the folder is checked again after every lock change.

namespace wheelsmith::store {

namespace {

constexpr std::chrono::minutes k_longest_wait(10);

// Whether the folder can be used as it is. Byte code left by a Python process is removed first.
bool is_usable(const std::filesystem::path& folder, Index& memory) {
  const SealState state = check_seal(folder, memory, false);
  if (state.kind != SealState::Kind::intact) return false;
  if (state.bytecode.empty()) return true;
  remove_bytecode(folder, state);
  return check_seal(folder, memory, false).kind == SealState::Kind::intact;
}

// Waiting for a damaged folder that another build uses is bounded: that build may wait for one of our folders.
Lock take_alone(const std::function<std::optional<Lock>()>& try_take, const std::filesystem::path& folder) {
  const auto until = std::chrono::steady_clock::now() + k_longest_wait;
  for (;;) {
    if (std::optional<Lock> held = try_take()) return std::move(*held);
    if (sys::interrupted()) throw Error("interrupted");
    if (std::chrono::steady_clock::now() >= until) {
      throw Error(
          fmt::format("{} is damaged and in use by another build; rerun the same command when that build has finished",
                      printable(folder.string())));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

void Store::use_folder(const std::filesystem::path& folder, const std::string& lock_name,
                       const std::function<void()>& make) {
  const std::lock_guard guard(m_impl->in_use_mutex);
  if (m_impl->in_use.contains(folder)) {
    if (is_usable(folder, m_impl->index)) return;
    m_impl->in_use.erase(folder);
  }
  const auto hold = [&](std::optional<Lock> held) {
    touch(folder / k_complete_mark);
    m_impl->in_use.emplace(folder, std::move(held));
  };
  // Nothing is ever removed from a read-only disk.
  if (::access(m_impl->local.c_str(), W_OK) != 0 && is_usable(folder, m_impl->index)) return hold(std::nullopt);
  for (int round = 0; round < 3; ++round) {
    {
      Lock held = m_impl->shared_lock(lock_name);
      if (is_usable(folder, m_impl->index)) return hold(std::move(held));
    }
    const Lock alone = take_alone([&] { return m_impl->try_lock(lock_name); }, folder);
    if (is_usable(folder, m_impl->index)) continue;
    std::error_code ignored;
    std::filesystem::remove(folder / k_complete_mark, ignored);
    make();
    m_impl->write(folder / k_complete_mark, make_seal(folder, true));
  }
  throw Error(fmt::format("{} changed right after it was created", printable(folder.string())));
}

void Store::seal(const std::filesystem::path& folder) {
  m_impl->write(folder / k_complete_mark, make_seal(folder, false));
}

bool Store::is_damaged(const std::filesystem::path& folder) const {
  return check_seal(folder, m_impl->index, false).kind == SealState::Kind::damaged;
}

std::string Store::changed_in_use() const {
  const std::lock_guard guard(m_impl->in_use_mutex);
  for (const auto& [folder, held] : m_impl->in_use) {
    const SealState state = check_seal(folder, m_impl->index, false);
    if (state.kind == SealState::Kind::intact) continue;
    return fmt::format("{}: {}", folder.lexically_relative(m_impl->local).string(),
                       state.kind == SealState::Kind::damaged ? state.what : "it was removed");
  }
  return "";
}

}  // namespace wheelsmith::store
