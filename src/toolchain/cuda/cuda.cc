// A CUDA toolkit: nvcc, its tools, and the headers and libraries beside it. Toolkits have many layouts: NVIDIA's own
// with targets/x86_64-linux behind include and lib64, Debian's split over /usr, conda's below a prefix, one assembled
// from the package index's wheels with only lib. In all of them nvcc knows its location: `nvcc --dryrun` prints TOP.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "toolchain/ask.h"
#include "toolchain/cuda/cuda_limits.h"
#include "toolchain/cuda/cuda_texts.h"
#include "toolchain/description.h"
#include "toolchain/library/library.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_most_header = 8u << 20;

std::vector<fs::path> include_folders_of(const fs::path& root, const Host& where) {
  std::vector<fs::path> bases = {root}, folders;
  for (const std::string& name : names_in(root / "targets")) bases.push_back(root / "targets" / name);
  for (const fs::path& base : bases) {
    if (is_there(base / "include")) folders.push_back(base / "include");
  }
  // Debian's own package has only programs below its root.
  if (folders.empty()) folders.push_back(on_machine(where, "usr/include"));
  return folders;
}

void read_parts(Cuda& cuda, const Host& where) {
  // Debian's own package has only programs below its root.
  const bool programs_only = !is_there(cuda.root / "include") && names_in(cuda.root / "targets").empty();
  LibrarySearch search;
  search.cuda = programs_only ? on_machine(where, "usr") : cuda.root;
  const auto has = [&](const char* name) {
    LibraryKind kind = *find_library_kind(name);
    kind.places = {"cuda"};
    kind.variables.clear();
    return find_library(kind, search, where).state() == Library::State::found;
  };
  cuda.has_cudart = has("cudart");
  cuda.has_cublas = has("cublas");
  cuda.has_cusparse = has("cusparse");
  cuda.has_nvml = has("nvml");
  cuda.has_cccl = has("cccl");
}

// The programs that nvcc calls, in its own folders.
std::vector<std::pair<std::string, fs::path>> parts_of(const fs::path& root, const fs::path& nvcc) {
  const fs::path bin = real_path(nvcc).parent_path();
  std::vector<std::pair<std::string, fs::path>> parts = {{"nvcc", nvcc}, {"nvcc/nvcc.profile", bin / "nvcc.profile"}};
  for (const std::string name : {"ptxas", "cudafe++", "fatbinary", "nvlink", "bin2c"}) {
    parts.emplace_back("nvcc/" + name, bin / name);
  }
  for (const fs::path& folder : {root / "nvvm/bin", bin / "../nvvm/bin", bin}) {
    if (!is_there(folder / "cicc")) continue;
    parts.emplace_back("nvcc/cicc", folder / "cicc");
    break;
  }
  for (const std::string& name : names_in(root / "nvvm/libdevice")) {
    parts.emplace_back("nvcc/" + name, root / "nvvm/libdevice" / name);
  }
  return parts;
}

std::optional<Answer> ask_nvcc(const fs::path& root, const fs::path& nvcc, const Host& where) {
  const Reply version = ask({nvcc.string(), "--version"}, where);
  const NvccVersion found = read_nvcc_version(version.output);
  if (!version.good || found.version.empty()) return std::nullopt;
  // --list-gpu-code omits architectures with a suffix; the help lists them all.
  std::vector<std::string> archs = read_nvcc_archs(ask({nvcc.string(), "--help"}, where).output);
  if (archs.empty()) archs = read_nvcc_archs(ask({nvcc.string(), "--list-gpu-code"}, where).output);
  if (archs.empty()) archs = nvcc_archs(found.version);
  HostLimits limits;
  Answer answer;
  for (const fs::path& folder : include_folders_of(root, where)) {
    const fs::path file = folder / "crt/host_config.h";
    answer.files.push_back(file);
    if (limits.gcc == 0 && limits.clang == 0) limits = read_host_config(head_of(file, k_most_header));
  }
  const CudaRow row = cuda_row(found.version).value_or(CudaRow());
  document::Array words(archs.begin(), archs.end());
  answer.facts["version"] = found.version;
  answer.facts["full_version"] = found.full_version;
  answer.facts["archs"] = std::move(words);
  answer.facts["max_gcc"] = limits.gcc != 0 ? limits.gcc : row.max_gcc;
  answer.facts["max_clang"] = limits.clang != 0 ? limits.clang : row.max_clang;
  for (const auto& [name, file] : parts_of(root, nvcc)) answer.files.push_back(file);
  return answer;
}

// The toolkit's folder, as reported by nvcc where the program found is a wrapper.
fs::path root_of(const fs::path& nvcc, const Host& where) {
  const fs::path real = real_path(nvcc);
  if (!is_script(real)) return real.parent_path().parent_path();
  const std::optional<document::Table> facts =
      remembered("nvcc-root", nvcc.string(), fingerprint_of(nvcc), where, [&]() -> std::optional<Answer> {
        // It need not succeed: TOP is printed before the missing file is noticed.
        const Reply reply = ask({nvcc.string(), "--dryrun", "wheelsmith-asks.cu"}, where);
        const std::string top = dryrun_variable(reply.errors + "\n" + reply.output, "TOP");
        if (!fs::path(top).is_absolute()) return std::nullopt;
        Answer answer;
        answer.facts["root"] = real_path(top).lexically_normal().string();
        answer.files = {nvcc, fs::path(top) / "bin/nvcc"};
        return answer;
      });
  return facts ? fs::path(document::Value(*facts)["root"].text_or()) : fs::path();
}

std::optional<Cuda> read_toolkit(const fs::path& root, const fs::path& nvcc, const Host& where) {
  if (!is_program(nvcc)) return std::nullopt;
  std::optional<document::Table> table =
      remembered("nvcc", nvcc.string(), fingerprint_of(nvcc), where, [&] { return ask_nvcc(root, nvcc, where); });
  if (!table) return std::nullopt;
  const document::Value facts(std::move(*table));
  Cuda cuda;
  cuda.root = root;
  cuda.nvcc = nvcc;
  cuda.version = facts["version"].text_or();
  cuda.full_version = facts["full_version"].text_or();
  cuda.archs = facts["archs"].texts();
  cuda.max_gcc = static_cast<int>(facts["max_gcc"].integer_or(0));
  cuda.max_clang = static_cast<int>(facts["max_clang"].integer_or(0));
  cuda.origin = Origin::machine;
  read_parts(cuda, where);
  for (const auto& [name, file] : parts_of(root, nvcc)) add_program_digests(cuda.digests, name, file, where);
  return cuda;
}

}  // namespace

std::optional<Cuda> read_cuda(const fs::path& root, const Host& where) {
  if (where.described) return read_described_cuda(root, *where.described);
  std::error_code error;
  const fs::path folder = fs::absolute(root, error);
  return read_toolkit(folder, folder / "bin/nvcc", where);
}

std::optional<Cuda> find_cuda(const Host& where) {
  if (where.described) return find_described_cuda(where);
  if (!where.cuda.empty()) {
    std::optional<Cuda> cuda = read_cuda(where.cuda, where);
    if (!cuda) {
      throw Error(
          fmt::format("the CUDA toolkit is set to {}, but it has no working bin/nvcc; correct or "
                      "remove the setting",
                      printable(where.cuda.string())));
    }
    cuda->origin = Origin::setting;
    return cuda;
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string root = variable(where, name);
    if (root.empty()) continue;
    // Images with only the runtime libraries set these, too; so a folder without nvcc is not an error.
    if (std::optional<Cuda> cuda = read_cuda(root, where)) return cuda;
  }
  for (const fs::path& nvcc : programs_in_path("nvcc", where)) {
    const fs::path root = root_of(nvcc, where);
    if (root.empty()) continue;
    if (std::optional<Cuda> cuda = read_cuda(root, where)) return cuda;
    if (std::optional<Cuda> cuda = read_toolkit(root, nvcc, where)) return cuda;
  }
  return read_cuda(on_machine(where, "usr/local/cuda"), where);
}

}  // namespace wheelsmith::toolchain
