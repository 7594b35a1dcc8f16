// A ROCm to compile with, assembled from the wheels of an environment.
//
// The wheels unpack into sibling folders: _rocm_sdk_core, _rocm_sdk_libraries, …; the rest (headers, CMake files,
// lib*.so names) is in a tar inside rocm_sdk_devel, mostly as links into the other folders. The SDK's own module
// unpacks it into the environment on first use. Our environments are shared and never change, so it is unpacked into a
// folder of the store instead, beside links to the environment's folders.
//
// Links to files become hard links: clang and hipcc ask the kernel for their own path and search for headers and
// libraries from there; through a symbolic link they would end up in the core, which lacks the libraries' headers. The
// compiler's drivers (amdclang) inspect the link itself, and stay links.
//
// The tar is untrusted. Links are created after all files, so that nothing is written through one.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "archive/archive.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "env/rocm_wheels.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_rocm_layout = "rocm 1";  // bump when the content changes

fs::path devel_tar(const fs::path& site_packages) {
  std::error_code error;
  for (const char* name : {"_devel.tar.xz", "_devel.tar"}) {
    const fs::path path = site_packages / "rocm_sdk_devel" / name;
    if (fs::is_regular_file(path, error)) return path;
  }
  throw Error(
      fmt::format("{} has no rocm_sdk_devel/_devel.tar: the wheel rocm-sdk-devel is missing or has an unknown layout",
                  site_packages.string()));
}

bool is_driver(const std::string& name) {
  const std::string_view base = base_name(name);
  return name.find("/bin/") == name.find('/') &&
         (base.starts_with("amdclang") || base == "amdflang" || base == "amdlld" || base == "amdllvm");
}

class DevelTree {
 public:
  explicit DevelTree(fs::path root) : m_root(std::move(root)) {}

  void unpack(const fs::path& tar) {
    const Blob file = sys::map_file(tar);
    archive::read_tar(
        file.bytes, [&](const archive::TarEntry& entry) { add(entry); }, [&](Bytes piece) { write(piece); });
    finish_file();
    make_links();
  }

 private:
  void add(const archive::TarEntry& entry) {
    finish_file();
    if (entry.name.substr(0, entry.name.find('/')).find("_rocm_sdk_devel") != 0)
      throw Error(fmt::format("the ROCm devel package has a file outside its folder: {}", printable(entry.name)));
    const fs::path path = m_root / entry.name;
    switch (entry.kind) {
      case archive::TarEntry::Kind::folder: sys::make_folders(path); break;
      case archive::TarEntry::Kind::file:
        sys::make_folders(path.parent_path());
        m_name = path;
        m_executable = (entry.mode & 0111) != 0;
        m_out.open(path, std::ios::binary | std::ios::trunc);
        check();
        break;
      case archive::TarEntry::Kind::symlink: m_links.emplace_back(entry.name, entry.target); break;
      case archive::TarEntry::Kind::hardlink:
        m_links.emplace_back(entry.name, fs::path(entry.target).lexically_relative(fs::path(entry.name).parent_path()));
        break;
    }
  }

  void write(Bytes piece) {
    m_out.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    check();
  }

  void check() const {
    if (!m_out) throw Error(fmt::format("cannot write {}; is the disk full?", m_name.string()));
  }

  void finish_file() {
    if (!m_out.is_open()) return;
    m_out.close();
    check();
    if (m_executable) fs::permissions(m_name, fs::perms(0755));
  }

  void make_links() {
    std::set<std::string> names;
    for (const auto& [name, target] : m_links) names.insert(name);
    for (const auto& [name, target] : m_links) {
      for (std::size_t slash = name.find('/'); slash != name.npos; slash = name.find('/', slash + 1)) {
        if (names.contains(name.substr(0, slash)))
          throw Error(fmt::format("the ROCm devel package has {} below a link", printable(name)));
      }
      const fs::path leads_to = (fs::path(name).parent_path() / target).lexically_normal();
      if (fs::path(target).is_absolute() || leads_to.empty() || *leads_to.begin() == "..")
        throw Error(fmt::format("the ROCm devel package has a link that points outside its folder: {} to {}",
                                printable(name), printable(target)));
      make_link(name, target);
    }
  }

  void make_link(const std::string& name, const std::string& target) {
    const fs::path path = m_root / name;
    sys::make_folders(path.parent_path());
    std::error_code error;
    fs::remove(path, error);
    const fs::path real = fs::canonical(path.parent_path() / target, error);
    if (!error && fs::is_regular_file(real, error) && !is_driver(name)) {
      fs::create_hard_link(real, path, error);
      if (!error) return;  // otherwise on another file system
    }
    fs::create_symlink(target, path, error);
    if (error) sys::throw_sys_error(error.value(), "link", path);
  }

  fs::path m_root, m_name;
  std::ofstream m_out;
  bool m_executable = false;
  std::vector<std::pair<std::string, std::string>> m_links;
};

}  // namespace

fs::path make_rocm(const Environment& environment, store::Store& store) {
  const std::string key =
      to_hex(sha256(Bytes(fmt::format("{}\n{}\n{}\n", k_rocm_layout, environment.key, environment.root.string()))));
  const fs::path folder = store.toolkit(key);
  const fs::path root = folder / "_rocm_sdk_devel";
  store.use_folder(folder, store::toolkit_lock(key), [&] {
    const fs::path tar = devel_tar(environment.site_packages);
    sys::remove_tree(folder);
    sys::make_folders(folder);
    for (const fs::directory_entry& entry : fs::directory_iterator(environment.site_packages)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("_rocm_") && !name.starts_with("_rocm_sdk_devel"))
        fs::create_directory_symlink(entry.path(), folder / name);
    }
    DevelTree(folder).unpack(tar);
    if (!fs::exists(root / "bin/hipcc"))
      throw Error(fmt::format("{} has no bin/hipcc: the ROCm wheels do not match each other", root.string()));
  });
  return root;
}

}  // namespace wheelsmith::env
