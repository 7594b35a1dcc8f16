#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/arch.h"
#include "pep/version.h"
#include "sys/file_state.h"
#include "sys/process/process.h"
#include "toolchain/origin.h"

// The tools of this machine: Pythons, compilers, CUDA, ROCm, torch, build tools, GPUs. Every fact comes from the
// program itself (an interpreter's sysconfig, a compiler's macros), is never guessed from a name, and is remembered by
// the stat fingerprints of the files it depends on, so that a repeated query starts no process.

namespace wheelsmith::toolchain {

// Where facts are remembered (the store; nothing in tests). Kind, subject, fingerprint -> facts as text.
struct Memo {
  std::function<std::optional<std::string>(std::string_view, std::string_view, std::string_view)> find;
  std::function<void(std::string_view, std::string_view, std::string_view, std::string_view)> keep;
  std::function<std::int64_t()> clock = sys::file_clock_nanoseconds;  // see sys::FileState
};

struct Description;  // description.h

// The inputs of a search: our environment and PATH, and the user's choices.
struct Host {
  // Another machine, by its description: it answers instead of the local one.
  std::shared_ptr<const Description> described;
  sys::Environment environment;
  Memo memo;
  // Set when a query runs foreign code (an environment's packages): wraps the command in a sandbox.
  std::function<sys::Command(const sys::Command&)> confine;
  std::string cc, cxx;         // --set cc=…, CC: a name or path; "" is the default
  std::filesystem::path cuda;  // CUDA_HOME or a setting
  std::filesystem::path rocm;
  std::filesystem::path sysroot;             // --sysroot
  bool use_conda = false;                    // the active conda environment is the toolchain
  std::filesystem::path machine_root = "/";  // prefix of usr/local/cuda, opt/rocm, proc and sys; different in tests
};

struct Python {
  std::filesystem::path executable;  // absolute; links resolved only as far as venvs allow
  std::string version;               // "3.11.7"
  std::string implementation;        // "cpython"
  std::string tag;                   // "cp311", "cp313t" is tag cp313 with abi cp313t
  std::string abi;                   // "cp311"
  std::string platform;              // "linux_x86_64"
  std::string soabi;                 // ".cpython-311-x86_64-linux-gnu.so"
  std::filesystem::path prefix, base_prefix, include, purelib, platlib, stdlib;
  std::vector<std::filesystem::path> sites;  // folders of installed packages, in search order
  bool has_headers = false;                  // Python.h exists
  bool has_venv = false, has_pip = false, has_ensurepip = false;
  std::string pip_version;
  std::string glibc;                                // of the C library it runs with, "2.36"; "" for musl
  std::string digest;                               // of the interpreter, its library and its own data
  [[nodiscard]] std::string short_version() const;  // "3.11"
  [[nodiscard]] std::string machine() const;        // "x86_64" of "linux_x86_64"
};

struct Compiler {
  std::filesystem::path cc, cxx;
  std::string family;               // "gcc", "clang"
  std::string version;              // "12.2.0"
  std::string target;               // "x86_64-linux-gnu"
  int newest_standard = 0;          // 20, 23: the newest C++ that it compiles
  std::string glibcxx;              // newest GLIBCXX_ version of the libstdc++ it links, "3.4.30"
  Origin origin = Origin::system;   // system, conda, setting
  std::string standard_library;     // "libstdc++", "libc++"; "" if it finds none
  std::string runtime;              // how a shared library gets it: "shared", "static"; "" if unknown
  std::filesystem::path other_cxx;  // if runtime is "static": a compiler on this machine that links the shared one
  std::string glibc;                // of the C library it links against (the sysroot's, conda's), "2.36"; "" if unknown
  std::filesystem::path sysroot;    // as given, or conda's own; empty for the machine
  // Each program involved: ("cc", digest), ("cc/cc1plus", …), ("cc/as", …), ("cc/ld", …).
  std::vector<std::pair<std::string, std::string>> digests;
};

struct Cuda {
  std::filesystem::path root;  // contains bin/nvcc
  std::filesystem::path nvcc;
  std::string version;              // "13.0"
  std::string full_version;         // "13.0.88"
  std::vector<std::string> archs;   // supported: "75", "90a", "100f", as nvcc spells them
  int max_gcc = 0, max_clang = 0;   // newest supported major host compiler; 0: unknown
  Origin origin = Origin::machine;  // machine, setting
  bool has_cudart = false, has_cublas = false, has_cusparse = false, has_nvml = false, has_cccl = false;
  std::vector<std::pair<std::string, std::string>> digests;  // nvcc, nvcc/cicc, nvcc/ptxas, nvcc/cudafe++, …
};

struct Rocm {
  std::filesystem::path root;
  std::filesystem::path hipcc;
  std::string version;
  std::filesystem::path device_libraries;  // …/amdgcn/bitcode; empty when absent
  std::filesystem::path clang;             // the folder of its clang++, lib/llvm/bin; empty when absent
  std::filesystem::path cmake;             // lib/cmake, where find_package searches for hip; empty without hip
  std::vector<std::string> targets;        // its targets as reported by rocm-sdk; empty: unknown
  Origin origin = Origin::folder;          // folder, rocm_sdk
  std::filesystem::path python;            // rocm-sdk: the interpreter or program queried
  std::vector<std::pair<std::string, std::string>> digests;
};

struct Program {
  std::string name;
  std::filesystem::path path;
  std::string version;
  Origin origin = Origin::system;  // system, pip, conda
  std::string digest;
};

struct Torch {
  std::filesystem::path folder;  // …/site-packages/torch
  std::string version;           // "2.13.0+cpu"
  std::string cuda, hip;         // "13.0", or ""
  bool cxx11_abi = true;
  bool has_cuda_macros = false;  // c10/cuda/impl/cuda_cmake_macros.h: the headers are those of a CUDA build
  std::string problem;           // why `import torch, torch.distributed` failed, or ""
  std::string digest;            // of its version file and libraries (stat-remembered)
  [[nodiscard]] std::string variant() const;  // "cpu", "cuda", "rocm"
};

struct Gpu {
  std::string name;
  gpu::Arch arch;
  std::uint64_t memory = 0;
  std::string driver;
};

// An interpreter by path, or by version ("3.11", "3.11.7", "cp311"): PATH (python3.11, python3, python), then the
// folders of pyenv, uv and conda. One that does not run (a pyenv shim of an inactive version) is skipped. Throws an
// Error that names the attempts.
Python find_python(const std::string& wanted, const Host& where);
// Every working interpreter in these places, each once, in search order.
std::vector<Python> find_pythons(const Host& where);
// An interpreter's own report; nothing when it does not run.
std::optional<Python> read_python(const std::filesystem::path& executable, const Host& where);

// Throw Error when a tool that the user named (cc, cxx, CC, CXX, cuda, rocm) does not exist: another one is never used
// instead.
std::optional<Compiler> find_compiler(const Host& where);
std::optional<Cuda> find_cuda(const Host& where);
std::optional<Cuda> read_cuda(const std::filesystem::path& root, const Host& where);
// In order: the setting, ROCM_PATH and similar variables, the rocm-sdk of that interpreter's environment, the one in
// PATH, /opt/rocm, hipcc in PATH.
std::optional<Rocm> find_rocm(const Host& where, const Python* python = nullptr);
std::optional<Rocm> read_rocm(const std::filesystem::path& root, Origin origin, const Host& where);
// The report of `python -m rocm_sdk`; the first query unpacks its devel package. Nothing when the environment has none,
// or it fails (`problem` then says why).
std::optional<Rocm> read_rocm_sdk(const Python& python, const Host& where, std::string* problem = nullptr);
std::optional<Program> find_program(std::string_view name,
                                    const Host& where);  // cmake, ninja, git, uv, curl, patch
// The program that one from pip shadows in PATH.
std::optional<Program> program_behind(const Program& first, const Host& where);
// In an interpreter's environment, without importing anything (files only); with `import_it` the import is tested too.
std::optional<Torch> find_torch(const std::filesystem::path& python, bool import_it, const Host& where);
std::vector<Gpu> find_gpus(const Host& where);  // nvidia-smi or /proc/driver/nvidia, and KFD's topology for AMD

// Whether nvcc supports this host compiler; "" or the reason why not.
std::string host_compiler_problem(const Cuda& cuda, const Compiler& compiler);
// The architectures that nvcc of that version supports, from data: for toolkits that are not installed yet.
std::vector<std::string> nvcc_archs(std::string_view cuda_version);
// Architectures of the list that this toolkit cannot compile.
std::vector<std::string> unknown_archs(const Cuda& cuda, const gpu::ArchList& archs);

// SHA-256 of a file's bytes, remembered by its stat.
std::string file_digest(const std::filesystem::path& file, const Memo& memo);
// Nothing for a missing or unreadable file.
std::optional<std::string> try_file_digest(const std::filesystem::path& file, const Memo& memo);

}  // namespace wheelsmith::toolchain
