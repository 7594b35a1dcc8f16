// torch, by its files: version.py, headers and libraries identify it without the two seconds and the side effects of an
// import. The import is tested only on request, since it can fail for reasons that no file shows (a missing CUDA
// library). Success is remembered; a failure is queried again, because users fix it.

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "sys/file.h"
#include "toolchain/ask.h"
#include "toolchain/description.h"
#include "toolchain/torch_files.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace data {
extern const std::string_view torch_facts_py;
}

namespace {

// The site folders, and the folders that their .pth files add (a torch installed from its own checkout).
std::vector<fs::path> package_folders(const Python& python) {
  std::vector<fs::path> folders = python.sites;
  for (const fs::path& site : python.sites) {
    for (const std::string& name : names_in(site)) {
      if (!name.ends_with(".pth")) continue;
      const std::string text = head_of(site / name, 1u << 16);
      for (const std::string_view line : lines(text)) {
        const fs::path folder(trim(line));
        if (folder.is_absolute() && folders.size() < 256) folders.push_back(folder);
      }
    }
  }
  return folders;
}

std::optional<fs::path> torch_folder(const Python& python) {
  for (const fs::path& folder : package_folders(python)) {
    if (is_there(folder / "torch/version.py")) return folder / "torch";
  }
  return std::nullopt;
}

// For a torch that does not say: names exported by libc10 contain std::string of the new ABI.
bool exports_cxx11(const fs::path& library) {
  const auto blob = sys::map_file_if_possible(library);
  const auto elf = blob ? elf::ElfFile::try_parse(blob->bytes) : std::nullopt;
  if (!elf) return true;  // true for every wheel since 2.7
  return std::any_of(elf->symbols.begin(), elf->symbols.end(), [](const elf::Symbol& symbol) {
    return symbol.is_exported() && symbol.name.starts_with("_ZN3c10") &&
           symbol.name.find("__cxx11") != std::string_view::npos;
  });
}

std::string torch_digest(const fs::path& folder) {
  std::vector<fs::path> files = {folder / "version.py"};
  for (const std::string& name : names_in(folder / "lib")) {
    if (name.find(".so") == std::string::npos) continue;
    if (name.starts_with("libtorch") || name.starts_with("libc10")) files.push_back(folder / "lib" / name);
  }
  // RECORD has the hashes of everything else: headers, Python files.
  for (const std::string& name : names_in(folder.parent_path())) {
    if (name.starts_with("torch-") && name.ends_with(".dist-info"))
      files.push_back(folder.parent_path() / name / "RECORD");
  }
  std::vector<std::string> digests(files.size());
  parallel_for(files.size(), usable_threads(), [&](std::size_t i) {
    // Without the memo, which is not thread-safe: the caller remembers the combined digest.
    digests[i] = try_file_digest(files[i], Memo{}).value_or("unreadable");
  });
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    parts.push_back(files[i].filename().string());
    parts.push_back(digests[i]);
  }
  return combined_digest(parts);
}

std::vector<fs::path> torch_state(const fs::path& folder) {
  std::vector<fs::path> files = {folder / "version.py", folder / "lib", folder.parent_path(),
                                 folder.parent_path() / "nvidia"};
  for (const std::string& name : names_in(folder / "lib")) {
    if (name.find(".so") != std::string::npos) files.push_back(folder / "lib" / name);
  }
  for (const std::string& name : names_in(folder.parent_path() / "nvidia")) {
    files.push_back(folder.parent_path() / "nvidia" / name / "lib");
  }
  return files;
}

document::Table torch_facts(const fs::path& folder, const TorchVersion& version) {
  document::Table facts;
  facts["version"] = version.version;
  facts["cuda"] = version.cuda;
  facts["hip"] = version.hip;
  const std::string config = head_of(folder / "share/cmake/Torch/TorchConfig.cmake", 1u << 20);
  const std::optional<bool> abi = read_torch_abi(config);
  facts["cxx11_abi"] = abi ? *abi : exports_cxx11(folder / "lib/libc10.so");
  facts["digest"] = torch_digest(folder);
  return facts;
}

// The last line of a traceback states the error.
std::string import_problem(const Reply& reply) {
  std::string last;
  for (const std::string_view line : lines(reply.errors)) {
    if (!trim(line).empty() && line[0] != ' ') last = printable(line.substr(0, 500));
  }
  return last.empty() ? reply.problem : last;
}

void try_import(Torch& torch, const Python& python, const Host& where) {
  std::string problem;
  const std::string subject = python.executable.string() + " " + torch.folder.string();
  const std::optional<document::Table> facts =
      remembered("import-torch", subject, python.digest, where, [&]() -> std::optional<Answer> {
        const Reply reply = ask({python.executable.string(), "-I", "-B", "-c", std::string(data::torch_facts_py)},
                                where, "", std::chrono::seconds(180));
        const std::vector<std::string_view> all = lines(reply.output);
        problem = reply.good ? "its answer is invalid" : import_problem(reply);
        if (!reply.good || all.empty()) return std::nullopt;
        const document::Value value = document::try_parse_json(all.back()).value_or(document::Value());
        if (value.table() == nullptr) return std::nullopt;
        return Answer{*value.table(), torch_state(torch.folder)};
      });
  if (!facts) {
    torch.problem = problem;
    return;
  }
  const document::Value value(*facts);
  torch.version = value["version"].text_or(torch.version);
  torch.cuda = value["cuda"].text_or();
  torch.hip = value["hip"].text_or();
  torch.cxx11_abi = value["cxx11_abi"].boolean_or(torch.cxx11_abi);
}

}  // namespace

std::string Torch::variant() const { return !hip.empty() ? "rocm" : !cuda.empty() ? "cuda" : "cpu"; }

std::optional<Torch> find_torch(const fs::path& executable, bool import_it, const Host& where) {
  if (where.described) return find_described_torch(executable, *where.described);
  const std::optional<Python> python = read_python(executable, where);
  if (!python) return std::nullopt;
  const std::optional<fs::path> folder = torch_folder(*python);
  if (!folder) return std::nullopt;
  const std::optional<TorchVersion> version = read_torch_version(head_of(*folder / "version.py", 1u << 16));
  if (!version) return std::nullopt;
  Torch torch;
  torch.folder = *folder;
  const std::optional<document::Table> table =
      remembered("torch", folder->string(), fingerprint_of(*folder / "version.py"), where,
                 [&] { return std::optional(Answer{torch_facts(*folder, *version), torch_state(*folder)}); });
  const document::Value facts(*table);
  torch.version = facts["version"].text_or();
  torch.cuda = facts["cuda"].text_or();
  torch.hip = facts["hip"].text_or();
  torch.cxx11_abi = facts["cxx11_abi"].boolean_or(true);
  torch.digest = facts["digest"].text_or();
  torch.has_cuda_macros = is_there(*folder / "include/c10/cuda/impl/cuda_cmake_macros.h");
  if (import_it) try_import(torch, *python, where);
  return torch;
}

}  // namespace wheelsmith::toolchain
