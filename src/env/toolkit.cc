// A CUDA toolkit assembled from the package index's wheels.
//
// Since CUDA 13 the wheels of one major version unpack into one folder, site-packages/nvidia/cu13, that is nearly a
// toolkit. What it lacks, with the consequences:
//
//   lib64                   nvcc.profile and CMake search there; the wheels have lib
//   libcudart.so            only libcudart.so.13 exists: "cannot find -lcudart"
//   include/thrust, cub, …  CCCL's headers are in include/cccl, which nvcc searches and the host compiler does not
//
// nvcc finds its parts (cicc, ptxas, nvcc.profile, the headers) relative to its own file, and asks the kernel for that
// path, so a symbolic link would lead back to the wheels. So its programs are files here, hard links where the file
// system allows; everything else is symbolic links. All parts must have one minor version: nvcc 13.2 with the newest
// cicc, 13.4, emits PTX that its own ptxas rejects, and the wheels' own requirements do not prevent that.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "env/env.h"
#include "pep/version.h"
#include "sys/files.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_toolkit_layout = "toolkit 1";  // bump when the content changes
constexpr std::uint64_t k_first_major_with_nvcc = 13;
constexpr const char* k_parts[] = {"nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-nvvm", "nvidia-cuda-runtime"};

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

// nvidia/cu13 first, then the folders of libraries that have their own (nvidia/cudnn, nvidia/nccl).
std::vector<fs::path> parts_in(const fs::path& site_packages) {
  std::vector<fs::path> parts = sorted_entries(site_packages / "nvidia");
  std::error_code error;
  const auto has_nvcc = [&](const fs::path& part) { return fs::is_regular_file(part / "bin" / "nvcc", error); };
  std::ranges::stable_partition(parts, has_nvcc);
  if (parts.empty() || !has_nvcc(parts[0])) {
    throw Error(
        fmt::format("{} has no nvcc: wheels of CUDA 12 and older have none, and from 13 on it is in "
                    "nvidia-cuda-nvcc",
                    (site_packages / "nvidia").string()));
  }
  if (parts.size() > 1 && has_nvcc(parts[1])) {
    throw Error(fmt::format("{} has compilers of two CUDA versions: {} and {}", site_packages.string(),
                            parts[0].filename().string(), parts[1].filename().string()));
  }
  return parts;
}

// The first one gets the name.
void link_once(const fs::path& target, const fs::path& link) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(link, error))) fs::create_symlink(target, link);
}

void link_headers(const fs::path& part, const fs::path& include) {
  for (const fs::path& entry : sorted_entries(part / "include")) {
    if (entry.filename() != "__init__.py") link_once(entry, include / entry.filename());
  }
  for (const fs::path& entry : sorted_entries(part / "include" / "cccl")) link_once(entry, include / entry.filename());
}

// libcudart.so for libcudart.so.13, libfoo.so for libfoo.so.2.1: the names that linkers search for.
void link_libraries(const fs::path& part, const fs::path& lib) {
  for (const char* name : {"lib64", "lib"}) {
    for (const fs::path& entry : sorted_entries(part / name)) {
      const std::string file = entry.filename().string();
      if (file == "__init__.py" || file == "__pycache__") continue;
      link_once(entry, lib / file);
      const std::size_t version = file.find(".so.");
      if (version != std::string::npos) link_once(file, lib / file.substr(0, version + 3));
    }
  }
}

void write_toolkit(const Environment& environment, const std::vector<fs::path>& other_sites, const fs::path& root) {
  std::vector<fs::path> parts = parts_in(environment.site_packages);
  const fs::path compiler = parts[0];
  for (const fs::path& site : other_sites) {
    const std::vector<fs::path> more = sorted_entries(site / "nvidia");
    parts.insert(parts.end(), more.begin(), more.end());
  }
  std::error_code error;
  if (!fs::is_directory(compiler / "nvvm", error)) {
    throw Error(fmt::format("{} has nvcc but no nvvm: its compiler is in nvidia-nvvm", compiler.string()));
  }
  for (const char* folder : {"bin", "nvvm"}) sys::copy_tree(compiler / folder, root / folder, true);
  for (const char* folder : {"include", "lib64"}) sys::make_folders(root / folder);
  for (const fs::path& part : parts) {
    link_headers(part, root / "include");
    link_libraries(part, root / "lib64");
  }
  // CCCL's files for find_package(CCCL), which refer to the headers by relative path.
  const fs::path cmake = compiler / "cuda_cccl" / "lib" / "cmake";
  if (fs::is_directory(cmake, error)) link_once(cmake, root / "lib64" / "cmake");
  fs::create_directory_symlink("lib64", root / "lib");
}

}  // namespace

std::vector<std::string> toolkit_requirements(std::string_view cuda_version) {
  const auto version = pep::Version::try_parse(cuda_version);
  if (!version || version->release.size() < 2) {
    throw Error(fmt::format("\"{}\" is not a CUDA version (expected, for example, 13.2)", printable(cuda_version)));
  }
  if (version->release[0] < k_first_major_with_nvcc) {
    throw Error(
        fmt::format("cannot assemble a CUDA {} toolkit from wheels: wheels before 13 contain no nvcc; "
                    "install that toolkit, or build against a torch for CUDA 13",
                    cuda_version));
  }
  const std::uint64_t major = version->release[0], minor = std::min<std::uint64_t>(version->release[1], 1000);
  std::vector<std::string> requirements;
  for (const char* part : k_parts) {
    requirements.push_back(fmt::format("{}=={}.{}.*", part, major, minor));
  }
  // CCCL is not released with every minor version (13.4 has none). Its headers support every compiler of the same major
  // version that is not older.
  requirements.push_back(fmt::format("nvidia-cuda-cccl>={}.0,<{}.{}", major, major, minor + 1));
  return requirements;
}

fs::path make_toolkit(const Environment& environment, store::Store& store, const std::vector<fs::path>& other_sites) {
  std::string text = fmt::format("{}\n{}\n{}\n", k_toolkit_layout, environment.key, environment.root.string());
  for (const fs::path& site : other_sites) text += site.string() + "\n";
  const std::string key = to_hex(sha256(Bytes(text)));
  const fs::path root = store.toolkit(key);
  store.use_folder(root, store::toolkit_lock(key), [&] {
    sys::remove_tree(root);
    sys::make_folders(root);
    write_toolkit(environment, other_sites, root);
  });
  return root;
}

}  // namespace wheelsmith::env
