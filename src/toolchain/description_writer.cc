#include <algorithm>

#include "document/value.h"
#include "toolchain/description.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

using document::Array;
using document::Table;
using document::Value;

void put(Table& table, std::string_view key, const std::string& text, const std::string& usual = "") {
  if (text != usual) table[key] = text;
}

void put(Table& table, std::string_view key, const fs::path& path, const fs::path& usual = {}) {
  put(table, key, path.string(), usual.string());
}

void put(Table& table, std::string_view key, Origin origin, Origin usual) {
  if (origin != usual) table[key] = to_string(origin);
}

Array list_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

Table table_of(const std::map<std::string, std::string>& map) {
  Table table;
  for (const auto& [name, value] : map) table[name] = value;
  return table;
}

template <class Items, class Write>
void put_each(Table& document, std::string_view key, const Items& items, Write write) {
  Array array;
  for (const auto& item : items) array.emplace_back(write(item));
  if (!array.empty()) document[key] = std::move(array);
}

Table torch_table(const Torch& torch, const Python& python) {
  Table table;
  table["version"] = torch.version;
  put(table, "cuda", torch.cuda);
  put(table, "hip", torch.hip);
  if (!torch.cxx11_abi) table["cxx11-abi"] = false;
  if (torch.has_cuda_macros != (!torch.cuda.empty() || !torch.hip.empty()))
    table["cuda-headers"] = torch.has_cuda_macros;
  put(table, "folder", torch.folder, python.purelib / "torch");
  put(table, "problem", torch.problem);
  return table;
}

Table python_table(const Python& python, const Description& machine) {
  // Values that the reader would fill in are omitted.
  Python usual;
  usual.executable = python.executable;
  usual.version = python.version;
  usual.implementation = python.implementation;
  usual.prefix = python.prefix;
  usual.base_prefix = python.base_prefix;
  usual.abi = python.abi;
  fill_python(usual, machine);
  Table table;
  table["path"] = python.executable.string();
  table["version"] = python.version;
  put(table, "implementation", python.implementation, "cpython");
  put(table, "tag", python.tag, usual.tag);
  put(table, "abi", python.abi, python.tag);
  put(table, "platform", python.platform, usual.platform);
  put(table, "soabi", python.soabi, usual.soabi);
  put(table, "prefix", python.prefix, python.executable.parent_path().parent_path());
  put(table, "base-prefix", python.base_prefix, python.prefix);
  put(table, "include", python.include, usual.include);
  put(table, "purelib", python.purelib, usual.purelib);
  put(table, "platlib", python.platlib, python.purelib);
  put(table, "stdlib", python.stdlib, usual.stdlib);
  if (python.sites != std::vector<fs::path>{python.purelib}) {
    Array sites;
    for (const fs::path& site : python.sites) sites.emplace_back(site.string());
    table["sites"] = std::move(sites);
  }
  if (!python.has_headers) table["headers"] = false;
  if (!python.has_venv) table["venv"] = false;
  if (!python.has_ensurepip) table["ensurepip"] = false;
  put(table, "pip", python.pip_version);
  put(table, "glibc", python.glibc, machine.glibc);
  if (const auto torch = machine.torches.find(python.executable.string()); torch != machine.torches.end())
    table["torch"] = torch_table(torch->second, python);
  return table;
}

Table compiler_table(const Compiler& compiler) {
  Table table;
  table["cc"] = compiler.cc.string();
  table["cxx"] = compiler.cxx.string();
  table["family"] = compiler.family;
  table["version"] = compiler.version;
  table["target"] = compiler.target;
  table["standard"] = compiler.newest_standard;
  put(table, "glibcxx", compiler.glibcxx);
  put(table, "origin", compiler.origin, Origin::system);
  put(table, "standard-library", compiler.standard_library, "libstdc++");
  put(table, "runtime", compiler.runtime);
  put(table, "glibc", compiler.glibc);
  put(table, "sysroot", compiler.sysroot);
  return table;
}

Table cuda_table(const Cuda& cuda) {
  Table table;
  table["root"] = cuda.root.string();
  table["version"] = cuda.version;
  put(table, "full-version", cuda.full_version, cuda.version);
  put(table, "nvcc", cuda.nvcc, cuda.root / "bin/nvcc");
  table["archs"] = list_of(cuda.archs);
  table["max-gcc"] = cuda.max_gcc;
  table["max-clang"] = cuda.max_clang;
  const std::pair<const char*, bool> parts[] = {{"cudart", cuda.has_cudart},
                                                {"cublas", cuda.has_cublas},
                                                {"cusparse", cuda.has_cusparse},
                                                {"nvml", cuda.has_nvml},
                                                {"cccl", cuda.has_cccl}};
  Array there;
  for (const auto& [name, has] : parts) {
    if (has) there.emplace_back(name);
  }
  table["parts"] = std::move(there);
  return table;
}

Table rocm_table(const Rocm& rocm) {
  Table table;
  table["root"] = rocm.root.string();
  table["version"] = rocm.version;
  put(table, "hipcc", rocm.hipcc, rocm.root / "bin/hipcc");
  put(table, "device-libraries", rocm.device_libraries, rocm.root / "amdgcn/bitcode");
  put(table, "clang", rocm.clang, rocm.root / "lib/llvm/bin");
  put(table, "cmake", rocm.cmake, rocm.root / "lib/cmake");
  put(table, "python", rocm.python);
  if (!rocm.targets.empty()) table["targets"] = list_of(rocm.targets);
  put(table, "origin", rocm.origin, Origin::folder);
  return table;
}

Table library_table(const Library& library) {
  Table table;
  table["name"] = library.name;
  put(table, "version", library.version);
  table["root"] = library.root.string();
  // "" means absent; omitted means the usual path.
  table["header"] = library.header.string();
  table["file"] = library.file.string();
  return table;
}

Table program_table(const Program& program, const Program* behind) {
  Table table;
  table["version"] = program.version;
  table["path"] = program.path.string();
  put(table, "origin", program.origin, Origin::system);
  if (behind == nullptr) return table;
  Table other;
  other["version"] = behind->version;
  other["path"] = behind->path.string();
  table["behind"] = std::move(other);
  return table;
}

Table gpu_table(const Gpu& gpu) {
  Table table;
  table["name"] = gpu.name;
  table["arch"] = gpu::to_string({.arch = gpu.arch, .binary = true, .ptx = false});
  if (gpu.memory != 0) table["memory"] = gpu.memory;
  put(table, "driver", gpu.driver);
  return table;
}

Table source_table(const DescribedSource& source) {
  Table table;
  put(table, "version", source.version);
  put(table, "commit", source.commit);
  if (source.backend) table["backend"] = *source.backend;
  if (source.requires_) table["requires"] = list_of(*source.requires_);
  if (!source.refs.empty()) table["refs"] = table_of(source.refs);
  if (!source.files.empty()) table["files"] = table_of(source.files);
  return table;
}

}  // namespace

std::string to_toml(const Description& machine) {
  Table document;
  document["name"] = machine.name;
  document["platform"] = machine.platform;
  put(document, "glibc", machine.glibc);
  document["cores"] = machine.cores;
  document["memory"] = machine.memory.total;
  document["free-memory"] = machine.memory.available;
  if (!machine.isolates_network) document["isolates-network"] = false;
  if (!machine.environment.empty()) document["environment"] = table_of(machine.environment);
  put_each(document, "python", machine.pythons, [&](const Python& python) { return python_table(python, machine); });
  put_each(document, "compiler", machine.compilers, compiler_table);
  put_each(document, "cuda", machine.cudas, cuda_table);
  put_each(document, "rocm", machine.rocms, rocm_table);
  if (machine.lists_libraries) document["library"] = Array();
  put_each(document, "library", machine.libraries, library_table);
  Table programs;
  for (const auto& [name, program] : machine.programs) {
    const auto behind = machine.shadowed.find(name);
    programs[name] = program_table(program, behind == machine.shadowed.end() ? nullptr : &behind->second);
  }
  if (!programs.empty()) document["programs"] = std::move(programs);
  put_each(document, "gpu", machine.gpus, gpu_table);
  put_each(document, "place", machine.places, [](const DescribedPlace& place) {
    Table table;
    table["name"] = place.name;
    table["folder"] = place.folder.string();
    table["free"] = place.free;
    return table;
  });
  if (!machine.wheels.empty()) document["wheels"] = table_of(machine.wheels);
  Table sources;
  for (const auto& [name, source] : machine.sources) sources[name] = source_table(source);
  if (!sources.empty()) document["sources"] = std::move(sources);
  return document::to_toml(document);
}

}  // namespace wheelsmith::toolchain
