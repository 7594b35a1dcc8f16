#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "report/style.h"
#include "sys/terminal.h"

// Shared by all subcommands. Each has its own file and options struct.

namespace wheelsmith::cli {

enum : int { k_fine = 0, k_not_fine = 1, k_usage = 2, k_bug = 3, k_interrupted = 130 };

// Wrong arguments: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Options of every command that prints a report.
struct OutputOptions {
  bool json = false;
  bool all = false;
  std::string colour = "auto";

  void add_to(CLI::App& command);
  [[nodiscard]] report::Style style() const;
};

// The number of threads for --threads: 0 means one per core.
unsigned thread_count(unsigned asked);

// "100MB", "1.5 GB", "250000000". Throws UsageError that names the option.
std::uint64_t parse_size(const std::string& option, const std::string& text);

// Each adds one subcommand. Parsing that subcommand sets `outcome` to the function that runs it.
using Outcome = std::function<int()>;
void add_inspect(CLI::App& app, Outcome& outcome);
void add_check(CLI::App& app, Outcome& outcome);
void add_diagnose(CLI::App& app, Outcome& outcome);
void add_build(CLI::App& app, Outcome& outcome);
void add_step(CLI::App& app, Outcome& outcome);
void add_node(CLI::App& app, Outcome& outcome);
void add_builds(CLI::App& app, Outcome& outcome);
void add_attach(CLI::App& app, Outcome& outcome);
void add_logs(CLI::App& app, Outcome& outcome);
void add_node_compile(CLI::App& app, Outcome& outcome);
void add_confine(CLI::App& app, Outcome& outcome);
void add_run(CLI::App& app, Outcome& outcome);
void add_governor(CLI::App& app, Outcome& outcome);
void add_report(CLI::App& app, Outcome& outcome);
void add_test(CLI::App& app, Outcome& outcome);
void add_reproduce(CLI::App& app, Outcome& outcome);
void add_verify(CLI::App& app, Outcome& outcome);
void add_doctor(CLI::App& app, Outcome& outcome);
void add_plan(CLI::App& app, Outcome& outcome);
void add_recipes(CLI::App& app, Outcome& outcome);
void add_recipe(CLI::App& app, Outcome& outcome);
void add_config(CLI::App& app, Outcome& outcome);
void add_checkout(CLI::App& app, Outcome& outcome);
void add_patches(CLI::App& app, Outcome& outcome);
void add_manifest(CLI::App& app, Outcome& outcome);
void add_store(CLI::App& app, Outcome& outcome);
void add_rocm(CLI::App& app, Outcome& outcome);
void add_elf(CLI::App& app, Outcome& outcome);
void add_retag(CLI::App& app, Outcome& outcome);
void add_slim(CLI::App& app, Outcome& outcome);
void add_repair(CLI::App& app, Outcome& outcome);
void add_variant(CLI::App& app, Outcome& outcome);
void add_split(CLI::App& app, Outcome& outcome);
void add_diff(CLI::App& app, Outcome& outcome);
void add_bundle(CLI::App& app, Outcome& outcome);
void add_index(CLI::App& app, Outcome& outcome);
void add_serve(CLI::App& app, Outcome& outcome);
void add_trust(CLI::App& app, Outcome& outcome);
void add_completion(CLI::App& app, Outcome& outcome);
void add_help(CLI::App& app, Outcome& outcome);
void add_man(CLI::App& app, Outcome& outcome);

// Writes the result to standard output at once. A closed pipe is not an error.
void print(const std::string& text);
// Writes progress, notes and logs to standard error at once: standard output is for the result.
void print_status(const std::string& text);

}  // namespace wheelsmith::cli
