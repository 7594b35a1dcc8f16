#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "sys/process/process.h"

namespace wheelsmith::governor {

// A folder of shims for one surrounding: which compilers PATH, CC and CUDA_HOME mean. CMake writes the paths of its
// compilers down, so the folder has a place that depends on these alone, and stays; called outside of a governed build
// its shims are the compilers themselves.
//
//   bin/wheelsmith-shim   our program, a hard link to the one in ../programs; bin/gcc, bin/nvcc, …: links to it
//   real/gcc              a link to the compiler that is meant
//   cuda/…                a view of CUDA_HOME whose bin/nvcc is the shim; real/cuda/nvcc what it stands for
//   exec_hook.so
//   versions/             compilers' answers to questions about themselves
class ShimFolder {
 public:
  // Looks around in `environment`; makes the folder below `parent`. Throws Error.
  ShimFolder(const std::filesystem::path& parent, const sys::Environment& environment,
             const std::filesystem::path& program);

  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
  [[nodiscard]] std::filesystem::path hook() const { return m_path / "exec_hook.so"; }
  // The environment with everything that leads to the shims.
  void enter(sys::Environment& environment) const;

 private:
  struct View {
    std::string name;                    // "cuda", "CC"
    std::filesystem::path root;          // of the toolkit; empty for a single compiler
    std::vector<std::string> compilers;  // names in root/bin
    std::filesystem::path compiler;      // or the one
    std::vector<std::string> variables;  // that point to it
  };
  void find_compilers(const sys::Environment& environment);
  void find_views(const sys::Environment& environment);
  void make(const std::filesystem::path& program) const;
  void make_view(const View& view) const;

  std::filesystem::path m_path;
  std::string m_identity;  // which files the compilers are, as they are now
  std::map<std::string, std::filesystem::path> m_compilers;
  std::vector<View> m_views;
};

}  // namespace wheelsmith::governor
