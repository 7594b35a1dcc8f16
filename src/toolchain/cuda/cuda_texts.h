#pragma once

#include <string>
#include <string_view>
#include <vector>

// Parses texts of a CUDA toolkit. They are untrusted: any bytes are accepted.

namespace wheelsmith::toolchain {

struct HostLimits {
  int gcc = 0, clang = 0;  // newest supported major version; 0: unknown
};

// From include/crt/host_config.h, which rejects compilers by #error.
HostLimits read_host_config(std::string_view text);

// From `nvcc --version`: "release 13.0, V13.0.88".
struct NvccVersion {
  std::string version;       // "13.0"
  std::string full_version;  // "13.0.88"
};
NvccVersion read_nvcc_version(std::string_view text);

// The architectures in nvcc's help ('sm_90a') or in --list-gpu-code, each once, sorted by number: "75", "90", "90a".
std::vector<std::string> read_nvcc_archs(std::string_view text);

// The number that a header defines a macro as ("#define CUDNN_MAJOR 9"), or "".
std::string header_number(std::string_view text, std::string_view macro);

// A variable in the output of `nvcc --dryrun`: "#$ TOP=/usr/local/cuda-13.0/bin/..".
std::string dryrun_variable(std::string_view text, std::string_view name);

}  // namespace wheelsmith::toolchain
