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
#include "sys/process/process.h"
#include "toolchain/origin.h"

// What this machine has: Pythons, compilers, CUDA, ROCm, torch, build tools, GPUs. Every fact is asked of the program
// itself (an interpreter by its own sysconfig, a compiler by its own report), never guessed from a name, and remembered
// by the stat fingerprints of the files it depends on, so that a second look starts no process.

namespace wheelsmith::toolchain {

// Where facts are remembered (the store; nothing in tests). Kind, subject, fingerprint -> facts as text.
struct Memo {
  std::function<std::optional<std::string>(std::string_view, std::string_view, std::string_view)> find;
  std::function<void(std::string_view, std::string_view, std::string_view, std::string_view)> keep;
};

struct Description;  // description.h

// What is looked at: our environment and PATH, and the user's choices.
struct Host {
  // Another machine, by its description: it answers instead of the one we run on.
  std::shared_ptr<const Description> described;
  sys::Environment environment;
  Memo memo;
  // Set where what is asked is foreign code (an environment's packages): the same command in a sandbox.
  std::function<sys::Command(const sys::Command&)> confine;
  std::string cc, cxx;         // --set cc=…, CC: a name or path; "" is the default
  std::filesystem::path cuda;  // CUDA_HOME or a setting
  std::filesystem::path rocm;
  std::filesystem::path sysroot;  // --sysroot
  bool use_conda = false;         // the active conda environment is the toolchain
  std::filesystem::path machine_root =
      "/";  // what stands before usr/local/cuda, opt/rocm, proc and sys; another in tests
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
  std::vector<std::filesystem::path> sites;  // where installed packages are looked for, in order
  bool has_headers = false;                  // Python.h is really there
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
  int newest_standard = 0;          // 20, 23: the newest C++ that it really compiles
  std::string glibcxx;              // newest GLIBCXX_ version of the libstdc++ it links, "3.4.30"
  Origin origin = Origin::system;   // system, conda, setting
  std::string standard_library;     // "libstdc++", "libc++"; "" when there is none it could compile against
  std::string runtime;              // how a shared library gets it: "shared", "static"; "" if not known
  std::filesystem::path other_cxx;  // where runtime is "static": a compiler of this machine that links the shared one
  std::string glibc;              // of the C library it links against (the sysroot's, conda's), "2.36"; "" if not known
  std::filesystem::path sysroot;  // as given, or conda's own; empty for the machine
  // Each program that takes part: ("cc", digest), ("cc/cc1plus", …), ("cc/as", …), ("cc/ld", …).
  std::vector<std::pair<std::string, std::string>> digests;
};

struct Cuda {
  std::filesystem::path root;  // holds bin/nvcc
  std::filesystem::path nvcc;
  std::string version;              // "13.0"
  std::string full_version;         // "13.0.88"
  std::vector<std::string> archs;   // what it compiles for: "75", "90a", "100f", as nvcc spells them
  int max_gcc = 0, max_clang = 0;   // newest major host compiler it takes; 0: not known
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
  std::filesystem::path cmake;             // lib/cmake, where find_package looks for hip; empty when hip is not there
  std::vector<std::string> targets;        // what it was made for, as rocm-sdk says it; empty: not known
  Origin origin = Origin::folder;          // folder, rocm_sdk
  std::filesystem::path python;            // rocm-sdk: the interpreter or program that was asked
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

// An interpreter by path, or by version ("3.11", "3.11.7", "cp311"): PATH (python3.11, python3, python), then pyenv,
// uv's and conda's folders. One that does not run (a pyenv shim of a version that is not active) is passed over. Throws
// Error that names what was tried.
Python find_python(const std::string& wanted, const Host& where);
// Every interpreter in these places that runs, each once, in the order they are looked at.
std::vector<Python> find_pythons(const Host& where);
// What an interpreter says about itself; nothing when it does not run.
std::optional<Python> read_python(const std::filesystem::path& executable, const Host& where);

// Throw Error when what the user named (cc, cxx, CC, CXX, cuda, rocm) is not there: another one is never taken instead.
std::optional<Compiler> find_compiler(const Host& where);
std::optional<Cuda> find_cuda(const Host& where);
std::optional<Cuda> read_cuda(const std::filesystem::path& root, const Host& where);
// The setting, ROCM_PATH and its like, the rocm-sdk of that interpreter's environment, the one in PATH, /opt/rocm,
// hipcc in PATH.
std::optional<Rocm> find_rocm(const Host& where, const Python* python = nullptr);
std::optional<Rocm> read_rocm(const std::filesystem::path& root, Origin origin, const Host& where);
// What `python -m rocm_sdk` says of itself; asking it unpacks its devel package, once. Nothing where the environment
// has none, or cannot tell (`problem` then says why).
std::optional<Rocm> read_rocm_sdk(const Python& python, const Host& where, std::string* problem = nullptr);
std::optional<Program> find_program(std::string_view name,
                                    const Host& where);  // cmake, ninja, git, uv, curl, patch
// The one that a program of pip's stands before in PATH.
std::optional<Program> program_behind(const Program& first, const Host& where);
// In the environment that an interpreter belongs to, without importing anything (files only); with `import_it` the
// import is tried too.
std::optional<Torch> find_torch(const std::filesystem::path& python, bool import_it, const Host& where);
std::vector<Gpu> find_gpus(const Host& where);  // nvidia-smi or /proc/driver/nvidia, and KFD's topology for AMD

// Whether nvcc takes this host compiler; "" or the sentence why not.
std::string host_compiler_problem(const Cuda& cuda, const Compiler& compiler);
// What nvcc of that version can compile for, from data: for toolkits that are not here yet.
std::vector<std::string> nvcc_archs(std::string_view cuda_version);
// Architectures of the list that this toolkit cannot compile.
std::vector<std::string> unknown_archs(const Cuda& cuda, const gpu::ArchList& archs);

// SHA-256 of a file's bytes, remembered by its stat.
std::string file_digest(const std::filesystem::path& file, const Memo& memo);
// Nothing for a file that is not there or not to be read.
std::optional<std::string> try_file_digest(const std::filesystem::path& file, const Memo& memo);

}  // namespace wheelsmith::toolchain
