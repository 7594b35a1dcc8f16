#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/claim/claim_file.h"

namespace wheelsmith::store {

struct ClaimTiming {
  // Another machine takes over a claim whose counter has not advanced for this long.
  std::chrono::milliseconds silence{120'000};

  [[nodiscard]] std::chrono::milliseconds interval() const;
};

// A thread that advances the counters of all claims of one store while the process lives. Started by the first claim.
class Heart {
 public:
  explicit Heart(ClaimTiming timing);
  ~Heart();
  Heart(const Heart&) = delete;
  Heart& operator=(const Heart&) = delete;

  [[nodiscard]] const ClaimTiming& timing() const { return m_timing; }

  struct Beating;
  std::shared_ptr<Beating> start(std::filesystem::path file, ClaimText text);
  // Stops advancing the counter. Returns the last content.
  static ClaimText stop(Beating& beating);
  static bool is_lost(const Beating& beating);

 private:
  void run();

  struct State;
  ClaimTiming m_timing;
  std::unique_ptr<State> m_state;
};

// A lock that needs neither flock() nor synchronized clocks; see claim.cc. Move-only; released with the object.
class Claim {
 public:
  // Called once before waiting, with the holder's host and process: "node7 (process 123)".
  using OnWait = std::function<void(const std::string& holder)>;

  // Empty while another process holds it. A holder on another machine counts as alive until it has been silent for a
  // day, because a single read does not show whether its counter advances.
  static std::optional<Claim> try_take(const std::filesystem::path& folder, const std::shared_ptr<Heart>& heart);
  // Waits. Throws Error when interrupted.
  static Claim take(const std::filesystem::path& folder, const std::shared_ptr<Heart>& heart,
                    const OnWait& on_wait = {});
  // Shared: several processes may hold it while none holds it exclusively. Waits.
  static Claim shared(const std::filesystem::path& folder, const std::shared_ptr<Heart>& heart);

  ~Claim();
  Claim(Claim&& other) noexcept;
  Claim& operator=(Claim&& other) noexcept;

  // False once another machine has taken it over, since this process was silent for too long.
  [[nodiscard]] bool is_held() const;

 private:
  struct Taker;
  Claim(std::shared_ptr<Heart> heart, std::shared_ptr<Heart::Beating> beating, std::filesystem::path file, bool alone);
  void release() noexcept;

  std::shared_ptr<Heart> m_heart;
  std::shared_ptr<Heart::Beating> m_beating;
  std::filesystem::path m_file;
  bool m_alone = true;
};

// Removes claims that are not held and were not used for `seconds` of the file server's time.
void remove_old_claims(const std::filesystem::path& parent, std::int64_t seconds);

}  // namespace wheelsmith::store
