#pragma once

#include <filesystem>

namespace wheelsmith::run {

// The process `wheelsmith step JOB.json`. Returns its exit status; events go to standard output.
int run_step(const std::filesystem::path& job_file);

}  // namespace wheelsmith::run
