#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "governor/server/run_file.h"
#include "governor/shim/compiler_names.h"
#include "governor/shim/shim_folder.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/files.h"

namespace wheelsmith::governor {

namespace data {
extern const std::string_view exec_hook_so;
}

namespace {

namespace fs = std::filesystem;

constexpr const char* k_programs_folder = "programs";  // `store gc` uses this name
constexpr const char* k_program_name = "wheelsmith-shim";

std::string value_of(const sys::Environment& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

bool is_program(const fs::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

bool is_compiler(const fs::path& path) { return ws_tool_of(path.filename().c_str()) != WS_NONE && is_program(path); }

std::string fingerprint(const std::string& name, const fs::path& compiler) {
  return name + "\t" + compiler.string() + "\t" + sys::stat_fingerprint(compiler).value_or("") + "\n";
}

// Several builds create the same folder at once: a link exists or not, and is never partial.
void link(const fs::path& target, const fs::path& name) {
  std::error_code error;
  if (fs::read_symlink(name, error) == target && !error) return;
  const fs::path beside = name.string() + "." + std::to_string(::getpid());
  ::unlink(beside.c_str());
  if (::symlink(target.c_str(), beside.c_str()) != 0 || ::rename(beside.c_str(), name.c_str()) != 0) {
    sys::throw_sys_error(errno, "link", name);
  }
}

// "name, path, stat" of each compiler without the paths: the same compilers in the environments of two steps.
std::string without_paths(const std::string& identity) {
  std::set<std::string> known;
  for (const std::string_view line : lines(identity)) {
    const std::vector<std::string_view> parts = split(line, '\t');
    known.insert(fmt::format("{}\t{}\n", parts.front(), parts.back()));
  }
  std::string text;
  for (const std::string& line : known) text += line;
  return text;
}

// Changes when the file is written to, but not when it is linked.
std::string written_state(const fs::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return "none";
  return fmt::format("{}:{}:{}:{}", status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// The program that the shims of all builds with the same compilers hard-link to. Compile caches identify a compiler by
// its bytes, and would mix up the results of two compilers if their shims were the same file: so the shims' identity is
// appended to the program, where no loader looks. A copy that has changed (by a disk, by a build script) is rewritten.
fs::path shared_program(const fs::path& program, const std::string& identity, const fs::path& parent) {
  const std::string compilers = without_paths(identity);
  const std::string version = sys::stat_fingerprint(program).value_or("");
  const fs::path folder = parent / k_programs_folder / to_hex(sha256(Bytes(version + "\n" + compilers))).substr(0, 16);
  const fs::path name = folder / k_program_name;
  sys::make_folders(folder);
  sys::touch(folder);
  if (sys::read_file_if_there(folder / "state", 1 << 10) == written_state(name)) return name;
  const fs::path beside = name.string() + "." + std::to_string(::getpid());
  ::unlink(beside.c_str());
  sys::copy_file(program, beside);
  std::error_code error = sys::append_text(beside, compilers);
  if (!error && (::chmod(beside.c_str(), 0755) != 0 || ::rename(beside.c_str(), name.c_str()) != 0))
    error.assign(errno, std::generic_category());
  if (error) {
    ::unlink(beside.c_str());
    sys::throw_sys_error(error.value(), "write", name);
  }
  sys::write_file(folder / "state", written_state(name));
  return name;
}

// This program under the shim's name, by which a shim recognizes itself.
void put_program(const fs::path& program, const std::string& identity, const fs::path& folder) {
  const fs::path shared = shared_program(program, identity, folder.parent_path());
  const fs::path name = folder / "bin" / k_program_name;
  std::error_code error;
  if (fs::equivalent(shared, name, error) && !error) return;
  const fs::path beside = name.string() + "." + std::to_string(::getpid());
  ::unlink(beside.c_str());
  if (::link(shared.c_str(), beside.c_str()) != 0) sys::copy_file(shared, beside);  // no hard links on this file system
  if (::rename(beside.c_str(), name.c_str()) != 0) sys::throw_sys_error(errno, "write", name);
}

}  // namespace

void ShimFolder::find_compilers(const sys::Environment& environment) {
  const std::string path = value_of(environment, "PATH");
  for (const std::string_view part : split(path, ':')) {
    if (!part.starts_with('/')) continue;
    const fs::path folder(part);
    std::error_code error;
    // Shims of an enclosing build: the real compilers come later in PATH.
    if (fs::exists(folder / "wheelsmith-shim", error)) continue;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename();
      if (ws_tool_of(name.c_str()) == WS_NONE || m_compilers.contains(name) || !is_program(entry.path())) continue;
      m_compilers[name] = entry.path();
    }
  }
}

void ShimFolder::find_views(const sys::Environment& environment) {
  struct Toolkit {
    const char* name;
    std::vector<std::string> variables;
    const char* compiler;
    const char* header;
  };
  const std::array<Toolkit, 2> toolkits{
      {{"cuda", {"CUDA_HOME", "CUDA_PATH"}, "nvcc", "include/cuda_runtime_api.h"},
       {"rocm", {"ROCM_HOME", "ROCM_PATH", "HIP_PATH"}, "hipcc", "include/hip/hip_runtime.h"}}};
  for (const Toolkit& toolkit : toolkits) {
    fs::path root;
    for (const std::string& variable : toolkit.variables) {
      const std::string value = value_of(environment, variable.c_str());
      if (root.empty() && value.starts_with('/') && is_program(fs::path(value) / "bin" / toolkit.compiler))
        root = value;
    }
    if (root.empty() && m_compilers.contains(toolkit.compiler)) {
      std::error_code error;
      const fs::path real = fs::canonical(m_compilers.at(toolkit.compiler), error);
      const fs::path above = real.parent_path().parent_path();
      if (!error && fs::exists(above / toolkit.header, error)) root = above;
    }
    if (root.empty()) continue;
    View view{toolkit.name, root, {}, {}, {}};
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(root / "bin", error)) {
      if (is_compiler(entry.path())) view.compilers.push_back(entry.path().filename());
    }
    std::sort(view.compilers.begin(), view.compilers.end());
    for (const std::string& variable : toolkit.variables) {
      const std::string value = value_of(environment, variable.c_str());
      if (value.empty() ? variable == toolkit.variables.front() : fs::equivalent(value, root, error)) {
        view.variables.push_back(variable);
      }
    }
    m_views.push_back(view);
  }
  for (const char* variable : {"CC", "CXX", "CUDACXX", "HIPCXX", "CUDAHOSTCXX", "PYTORCH_NVCC", "LD", "FC"}) {
    const fs::path value = value_of(environment, variable);
    if (value.is_absolute() && is_compiler(value)) m_views.push_back({variable, {}, {}, value, {variable}});
  }
}

ShimFolder::ShimFolder(const fs::path& parent, const sys::Environment& environment, const fs::path& program) {
  find_compilers(environment);
  find_views(environment);
  std::string text;
  for (const auto& [name, real] : m_compilers) text += name + "\t" + real.string() + "\n";
  for (const View& view : m_views) text += view.name + "\t" + view.root.string() + "\t" + view.compiler.string() + "\n";
  for (const auto& [name, real] : m_compilers) m_identity += fingerprint(name, real);
  for (const View& view : m_views) {
    if (view.root.empty()) m_identity += fingerprint(view.name, view.compiler);
    for (const std::string& name : view.compilers) m_identity += fingerprint(view.name, view.root / "bin" / name);
  }
  m_path = fs::absolute(parent) / to_hex(sha256(Bytes(text))).substr(0, 16);
  make(program);
}

void ShimFolder::make(const fs::path& program) const {
  sys::make_folders(m_path / "bin");
  sys::touch(m_path);  // in use: `store gc` keeps it for a day
  sys::make_folders(m_path / "real");
  put_program(program, m_identity, m_path);
  for (const auto& [name, real] : m_compilers) {
    link(real, m_path / "real" / name);
    link("wheelsmith-shim", m_path / "bin" / name);
  }
  for (const View& view : m_views) make_view(view);
  if (sys::read_file_if_there(hook(), 1 << 20) != data::exec_hook_so) sys::write_file(hook(), data::exec_hook_so);
}

// The whole toolkit as links, except its compilers.
void ShimFolder::make_view(const View& view) const {
  const fs::path place = m_path / view.name;
  const fs::path real = m_path / "real" / view.name;
  sys::make_folders(place / "bin");
  sys::make_folders(real);
  if (view.root.empty()) {
    link(view.compiler, real / view.compiler.filename());
    link("../../bin/wheelsmith-shim", place / "bin" / view.compiler.filename());
    return;
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(view.root, error)) {
    if (entry.path().filename() != "bin") link(entry.path(), place / entry.path().filename());
  }
  for (const auto& entry : fs::directory_iterator(view.root / "bin", error)) {
    const fs::path name = entry.path().filename();
    const bool compiler = std::find(view.compilers.begin(), view.compilers.end(), name) != view.compilers.end();
    if (compiler) link(entry.path(), real / name);
    link(compiler ? fs::path("../../bin/wheelsmith-shim") : entry.path(), place / "bin" / name);
  }
}

void ShimFolder::enter(sys::Environment& environment) const {
  const std::string path = value_of(environment, "PATH");
  environment["PATH"] = (m_path / "bin").string() + (path.empty() ? "" : ":" + path);
  for (const View& view : m_views) {
    const fs::path place = m_path / view.name;
    for (const std::string& variable : view.variables) {
      environment[variable] = view.root.empty() ? (place / "bin" / view.compiler.filename()).string() : place.string();
    }
  }
  const std::string preload = value_of(environment, "LD_PRELOAD");
  environment["LD_PRELOAD"] = hook().string() + (preload.empty() ? "" : ":" + preload);
  // Programs with an address sanitizer refuse to run when another library is loaded first, unless told otherwise.
  std::string& sanitizer = environment["ASAN_OPTIONS"];
  if (sanitizer.find("verify_asan_link_order") == sanitizer.npos) {
    sanitizer += sanitizer.empty() ? "verify_asan_link_order=0" : ":verify_asan_link_order=0";
  }
  // The build's own ccache would otherwise start over with every version of this program.
  environment.try_emplace("CCACHE_COMPILERCHECK", "string:" + to_hex(sha256(Bytes(m_identity))));
  environment[k_shims_variable] = m_path.string();
}

}  // namespace wheelsmith::governor
