#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "governor/model/unit.h"
#include "governor/server/connection.h"
#include "governor/server/run_file.h"
#include "governor/shim/node_compile.h"
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
        m_run(std::move(run)) {}

  int run();

 private:
  [[nodiscard]] Message question(Word word) const;
  void identify();
  bool get_grant();
  // A stopped governor costs its timeout once per build, not once per compile: the first shim that waited in vain
  // records it, and later ones check again occasionally.
  [[nodiscard]] std::string silence_note() const { return m_run_file + ".silent"; }
  void note_silence() const;
  // How long to wait for the first message; 0 where another shim has just waited in vain.
  [[nodiscard]] int patience_ms();
  // What to watch from then on, in the form of ShimChild::wait().
  const sys::Fd* watch();
  const sys::Fd* tick();
  void report_hit();
  void note_ungoverned() const;
  void remove_output() const;
  int run_ungoverned();
  [[nodiscard]] std::vector<std::string> granted_argv() const;
  // shim_nodes_linux.cc: on another node of the build.
  [[nodiscard]] bool can_move() const;
  std::optional<NodeResult> run_elsewhere(const std::vector<std::string>& argv,
                                          const std::vector<std::string>& environment);

  std::string m_shims, m_real;
  std::vector<std::string> m_argv;
  CompilerCommand m_command;
  std::string m_run_file;
  RunFile m_run;
  Connection m_connection;
  std::string m_unit, m_family;
  std::uint64_t m_size = 0, m_need = 0;
  unsigned m_try = 0, m_threads = 1, m_lost = 0;
  bool m_alone = false, m_set_back = false;
  // With a compile cache: its lookup has a small grant; without a hit, the compile requests its own.
  enum class Phase { looking, compiling };
  std::unique_ptr<ShimCache> m_cache;
  Phase m_phase = Phase::compiling;
  std::string m_node;  // of the grant; "": this one
  unsigned m_node_failures = 0;
  bool m_hurry = false;  // the governor did not answer; any message shows that it is back
};

}  // namespace wheelsmith::governor
