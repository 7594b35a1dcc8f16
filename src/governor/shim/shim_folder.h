#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "sys/process/process.h"

namespace wheelsmith::governor {

// A folder of shims for one environment: the compilers that PATH, CC and CUDA_HOME refer to. CMake records its
// compilers' paths, so the folder's path depends only on these, and is permanent; called outside a governed build its
// shims act as the compilers themselves.
//
//   bin/wheelsmith-shim   this program, a hard link to the one in ../programs; bin/gcc, bin/nvcc, …: links to it
//   real/gcc              a link to the real compiler
//   cuda/…                a view of CUDA_HOME whose bin/nvcc is the shim; real/cuda/nvcc is the real one
//   exec_hook.so
//   versions/             cached answers of compilers about themselves
class ShimFolder {
 public:
  // Reads `environment`; creates the folder below `parent`. Throws Error.
  ShimFolder(const std::filesystem::path& parent, const sys::Environment& environment,
             const std::filesystem::path& program);

  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
  [[nodiscard]] std::filesystem::path hook() const { return m_path / "exec_hook.so"; }
  // The environment with everything that makes builds use the shims.
  void enter(sys::Environment& environment) const;

 private:
  struct View {
    std::string name;                    // "cuda", "CC"
    std::filesystem::path root;          // of the toolkit; empty for a single compiler
    std::vector<std::string> compilers;  // names in root/bin
    std::filesystem::path compiler;      // or the single compiler
    std::vector<std::string> variables;  // that point to it
  };
  void find_compilers(const sys::Environment& environment);
  void find_views(const sys::Environment& environment);
  void make(const std::filesystem::path& program) const;
  void make_view(const View& view) const;

  std::filesystem::path m_path;
  std::string m_identity;  // the compilers' files and their current state
  std::map<std::string, std::filesystem::path> m_compilers;
  std::vector<View> m_views;
};

}  // namespace wheelsmith::governor
