#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "governor/model/unit.h"
#include "governor/parts/dry_run.h"
#include "governor/server/run_file.h"
#include "governor/shim/grant.h"
#include "governor/shim/node_compile.h"
#include "governor/shim/parts_run.h"
#include "governor/shim/shim_cache.h"

// The shim itself. Only src/governor includes this.

namespace wheelsmith::governor {

// Below a granted compiler nothing is governed again: PATH without the shims, no exec hook, and the grant's holder.
// `environment` is in execve format.
std::vector<std::string> environment_below(const std::vector<std::string>& environment, const std::string& shims,
                                           const std::string& extra);

// Where the real compiler is recorded when a shim was called as `called` (argv[0]): "real/gcc", or "real/cuda/nvcc"
// when it was called through a toolkit view (SHIMS/cuda/bin/nvcc).
std::string note_of_real(const std::string& shims, std::string_view called);

// Our environment in execve format.
std::vector<std::string> own_environment();

// One compile: requested, run, and retried where needed.
class Shim {
 public:
  Shim(std::string shims, std::string real, std::vector<std::string> argv, CompilerCommand command,
       std::string run_file, RunFile run)
      : m_shims(std::move(shims)),
        m_real(std::move(real)),
        m_argv(std::move(argv)),
        m_command(std::move(command)),
        m_run_file(std::move(run_file)),
        m_run(std::move(run)),
        m_grant(m_run_file, m_run, [this](Word word, bool hurry) { return question(word, hurry); }) {}
  Shim(const Shim&) = delete;
  Shim& operator=(const Shim&) = delete;

  int run();

 private:
  [[nodiscard]] Message question(Word word, bool hurry) const;
  void identify();
  void report_hit();
  void note_ungoverned() const;
  void remove_output() const;
  int run_ungoverned();
  [[nodiscard]] std::vector<std::string> granted_argv() const;
  // shim_parts_linux.cc: each architecture by itself.
  std::optional<int> run_in_parts(CacheUse use);
  [[nodiscard]] std::variant<PartGraph, Whole> dry_run(const std::vector<std::string>& argv,
                                                       const std::vector<std::string>& variables) const;
  [[nodiscard]] std::optional<PartDependencies> dependencies_of(const std::vector<std::string>& argv) const;
  bool announce_parts();
  void report_parts(const PartsOutcome& outcome, CacheUse use);
  // shim_nodes_linux.cc: on another node of the build.
  [[nodiscard]] bool can_move() const;
  std::optional<NodeResult> run_elsewhere(const std::vector<std::string>& argv,
                                          const std::vector<std::string>& environment);

  std::string m_shims, m_real;
  std::vector<std::string> m_argv;
  CompilerCommand m_command;
  std::string m_run_file;
  RunFile m_run;
  Grant m_grant;
  std::string m_unit, m_family;
  std::vector<std::string> m_digests;  // of the sources
  std::string m_token;                 // by which its parts name it
  std::string m_parts_why;             // why it does not run in parts
  std::uint64_t m_size = 0, m_need = 0;
  unsigned m_try = 0;
  bool m_alone = false;
  // With a compile cache: its lookup has a small grant; without a hit, the compile requests its own.
  enum class Phase { looking, compiling };
  std::unique_ptr<ShimCache> m_cache;
  Phase m_phase = Phase::compiling;
  unsigned m_node_failures = 0;
};

}  // namespace wheelsmith::governor
