#include <fmt/format.h>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "document/table_reader.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"
#include "toolchain/cuda/cuda_limits.h"
#include "toolchain/description.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

using document::in_quotes;
using document::TableReader;

// "" means absent.
std::string check_path(const std::string& text) {
  return text.empty() || text.starts_with('/') ? "" : fmt::format("{} is not an absolute path", in_quotes(text));
}

std::string check_version(const std::string& text) {
  return pep::Version::try_parse(text) ? "" : fmt::format("{} is not a valid version", in_quotes(text));
}

std::string check_place(const std::string& text) {
  const bool known = text == "store" || text == "temporary" || text == "out";
  return known ? "" : fmt::format("{} is not one of store, temporary, out", in_quotes(text));
}

class DescriptionReader {
 public:
  Description read(TableReader& table) {
    m_machine.platform = "linux_x86_64";
    m_machine.name = "the described machine";
    table.text("name", m_machine.name);
    table.text("platform", m_machine.platform);
    table.text("glibc", m_machine.glibc, check_version);
    number(table, "cores", m_machine.cores);
    table.size("memory", m_machine.memory.total);
    m_machine.memory.available = m_machine.memory.total;
    table.size("free-memory", m_machine.memory.available);
    table.flag("isolates-network", m_machine.isolates_network);
    m_machine.environment = map(table, "environment");
    table.each("python", [&](TableReader& one) { read_python(one); });
    table.each("compiler", [&](TableReader& one) { read_compiler(one); });
    table.each("cuda", [&](TableReader& one) { read_cuda(one); });
    table.each("rocm", [&](TableReader& one) { read_rocm(one); });
    m_machine.lists_libraries = table.each("library", [&](TableReader& one) { read_library(one); });
    table.within("programs", [&](TableReader& all) { read_programs(all); });
    table.each("gpu", [&](TableReader& one) { read_gpu(one); });
    table.each("place", [&](TableReader& one) { read_place(one); });
    for (const auto& [name, version] : map(table, "wheels", check_version))
      m_machine.wheels[pep::normalized_name(name)] = version;
    table.within("sources", [&](TableReader& all) { read_sources(all); });
    return std::move(m_machine);
  }

 private:
  static std::map<std::string, std::string> map(TableReader& table, std::string_view key,
                                                const document::TextCheck& check = {}) {
    document::Pairs pairs;
    table.pairs(key, pairs, {}, check);
    return {pairs.begin(), pairs.end()};
  }

  static void path(TableReader& table, std::string_view key, fs::path& result) {
    std::string text;
    if (table.text(key, text, check_path)) result = text;
  }

  template <class Number>
  static void number(TableReader& table, std::string_view key, Number& result) {
    double value = 0;
    if (table.number(key, value)) result = static_cast<Number>(std::min(value, 1e6));
  }

  // Required keys.
  static bool has(TableReader& table, std::initializer_list<std::string_view> keys) {
    bool all = true;
    for (const std::string_view key : keys) {
      const document::Value* value = table.take(key);
      if (value != nullptr && !(value->text() != nullptr && value->text()->empty())) continue;
      table.problems().add(table.line(), fmt::format("{} needs {}", table.name(), key));
      all = false;
    }
    return all;
  }

  void read_python(TableReader& table) {
    Python python;
    python.implementation = "cpython";
    python.has_headers = python.has_venv = python.has_ensurepip = true;
    has(table, {"path", "version"});
    path(table, "path", python.executable);
    table.text("version", python.version, check_version);
    table.text("implementation", python.implementation);
    table.text("tag", python.tag);
    table.text("abi", python.abi);
    table.text("platform", python.platform);
    table.text("soabi", python.soabi);
    path(table, "prefix", python.prefix);
    path(table, "base-prefix", python.base_prefix);
    path(table, "include", python.include);
    path(table, "purelib", python.purelib);
    path(table, "platlib", python.platlib);
    path(table, "stdlib", python.stdlib);
    std::vector<std::string> sites;
    table.texts("sites", sites, check_path);
    python.sites.assign(sites.begin(), sites.end());
    table.flag("headers", python.has_headers);
    table.flag("venv", python.has_venv);
    table.flag("ensurepip", python.has_ensurepip);
    table.text("pip", python.pip_version, check_version);
    table.text("glibc", python.glibc, check_version);
    fill_python(python, m_machine);
    table.within("torch", [&](TableReader& inner) { read_torch(inner, python); });
    m_machine.pythons.push_back(std::move(python));
  }

  void read_torch(TableReader& table, const Python& python) {
    Torch torch;
    has(table, {"version"});
    table.text("version", torch.version, check_version);
    table.text("cuda", torch.cuda, check_version);
    table.text("hip", torch.hip, check_version);
    table.flag("cxx11-abi", torch.cxx11_abi);
    torch.has_cuda_macros = !torch.cuda.empty() || !torch.hip.empty();
    table.flag("cuda-headers", torch.has_cuda_macros);
    torch.folder = python.purelib / "torch";
    path(table, "folder", torch.folder);
    table.text("problem", torch.problem);
    torch.digest = described_digest("torch", torch.version);
    m_machine.torches[python.executable.string()] = std::move(torch);
  }

  static void origin(TableReader& table, Origin& result) {
    static const std::vector<std::string> names(EnumNames<Origin>::list.begin(), EnumNames<Origin>::list.end());
    if (std::size_t place = 0; table.choice("origin", names, place)) result = static_cast<Origin>(place);
  }

  void read_compiler(TableReader& table) {
    Compiler compiler;
    compiler.newest_standard = 20;
    compiler.origin = Origin::system;
    compiler.standard_library = "libstdc++";
    compiler.glibc = m_machine.glibc;
    compiler.target = m_machine.platform.substr(m_machine.platform.find('_') + 1) + "-linux-gnu";
    has(table, {"cc", "cxx", "family", "version"});
    path(table, "cc", compiler.cc);
    path(table, "cxx", compiler.cxx);
    if (std::size_t family = 0; table.choice("family", {"gcc", "clang"}, family))
      compiler.family = family == 0 ? "gcc" : "clang";
    table.text("version", compiler.version, check_version);
    table.text("target", compiler.target);
    number(table, "standard", compiler.newest_standard);
    table.text("glibcxx", compiler.glibcxx, check_version);
    origin(table, compiler.origin);
    table.text("standard-library", compiler.standard_library);
    table.text("runtime", compiler.runtime);
    table.text("glibc", compiler.glibc, check_version);
    path(table, "sysroot", compiler.sysroot);
    compiler.digests = {{"cc", described_digest(compiler.family, compiler.version)}};
    m_machine.compilers.push_back(std::move(compiler));
  }

  void read_cuda(TableReader& table) {
    Cuda cuda;
    cuda.origin = Origin::machine;
    has(table, {"root", "version"});
    path(table, "root", cuda.root);
    table.text("version", cuda.version, check_version);
    cuda.full_version = cuda.version;
    table.text("full-version", cuda.full_version, check_version);
    cuda.nvcc = cuda.root / "bin/nvcc";
    path(table, "nvcc", cuda.nvcc);
    if (const auto row = cuda_row(cuda.version)) {
      cuda.archs = row->archs;
      cuda.max_gcc = row->max_gcc;
      cuda.max_clang = row->max_clang;
    }
    table.texts("archs", cuda.archs);
    number(table, "max-gcc", cuda.max_gcc);
    number(table, "max-clang", cuda.max_clang);
    const std::pair<const char*, bool&> parts[] = {{"cudart", cuda.has_cudart},
                                                   {"cublas", cuda.has_cublas},
                                                   {"cusparse", cuda.has_cusparse},
                                                   {"nvml", cuda.has_nvml},
                                                   {"cccl", cuda.has_cccl}};
    std::vector<std::string> known, there;
    for (const auto& [name, flag] : parts) known.emplace_back(name);
    const auto check = [&](const std::string& part) {
      const bool good = std::find(known.begin(), known.end(), part) != known.end();
      return good ? std::string()
                  : fmt::format("{} is not one of {}{}", in_quotes(part), join(known, ", "),
                                document::suggestion(part, known));
    };
    if (!table.texts("parts", there, check)) there = known;
    for (const auto& [name, flag] : parts) flag = std::find(there.begin(), there.end(), name) != there.end();
    for (const char* name : {"cudnn", "nccl"}) {
      std::string version;
      if (table.text(name, version, check_version))
        m_machine.libraries.push_back(fill_library(*find_library_kind(name), version, cuda.root));
    }
    cuda.digests = {{"nvcc", described_digest("nvcc", cuda.full_version)}};
    m_machine.cudas.push_back(std::move(cuda));
  }

  void read_rocm(TableReader& table) {
    Rocm rocm;
    rocm.origin = Origin::folder;
    has(table, {"root", "version"});
    path(table, "root", rocm.root);
    table.text("version", rocm.version);
    rocm.hipcc = rocm.root / "bin/hipcc";
    path(table, "hipcc", rocm.hipcc);
    rocm.device_libraries = rocm.root / "amdgcn/bitcode";
    path(table, "device-libraries", rocm.device_libraries);
    rocm.clang = rocm.root / "lib/llvm/bin";
    path(table, "clang", rocm.clang);
    rocm.cmake = rocm.root / "lib/cmake";
    path(table, "cmake", rocm.cmake);
    path(table, "python", rocm.python);
    table.texts("targets", rocm.targets);
    origin(table, rocm.origin);
    rocm.digests = {{"hipcc", described_digest("rocm", rocm.version)}};
    m_machine.rocms.push_back(std::move(rocm));
  }

  void read_library(TableReader& table) {
    std::string name, version;
    has(table, {"name"});
    table.text("name", name, check_library);
    table.text("version", version, check_version);
    const LibraryKind* kind = find_library_kind(name);
    if (kind == nullptr) return;
    fs::path root = "/usr";
    path(table, "root", root);
    Library library = fill_library(*kind, version, root);
    path(table, "header", library.header);
    path(table, "file", library.file);
    m_machine.libraries.push_back(std::move(library));
  }

  static std::string check_library(const std::string& text) {
    if (find_library_kind(text) != nullptr) return "";
    std::vector<std::string> known;
    for (const LibraryKind& kind : library_kinds()) known.push_back(kind.name);
    return fmt::format("{} is not one of {}{}", in_quotes(text), join(known, ", "), document::suggestion(text, known));
  }

  // `cmake = "3.25.1"` for one in /usr/bin, or a table.
  void read_programs(TableReader& all) {
    for (const auto& [name, value] : all.table()) {
      Program program;
      program.name = name;
      program.path = "/usr/bin/" + name;
      program.origin = Origin::system;
      if (value.table() == nullptr) {
        if (!all.text(name, program.version)) continue;
      } else {
        all.within(name, [&](TableReader& table) {
          table.text("version", program.version);
          path(table, "path", program.path);
          origin(table, program.origin);
          table.within("behind", [&](TableReader& inner) {
            Program other = program;
            other.path = "/usr/bin/" + name;
            other.origin = Origin::system;
            inner.text("version", other.version);
            path(inner, "path", other.path);
            other.digest = described_digest(name, other.version);
            m_machine.shadowed[name] = other;
          });
        });
      }
      program.digest = described_digest(name, program.version);
      m_machine.programs[name] = std::move(program);
    }
  }

  void read_gpu(TableReader& table) {
    Gpu gpu;
    has(table, {"arch"});
    std::string arch;
    const auto check = [&](const std::string& text) -> std::string {
      return problem_of([&] {
        const gpu::ArchList list = gpu::ArchList::parse(text);
        if (list.requests.size() != 1) throw Error("a GPU has one architecture");
        gpu.arch = list.requests[0].arch;
      });
    };
    table.text("arch", arch, check);
    gpu.name = arch;
    table.text("name", gpu.name);
    table.size("memory", gpu.memory);
    table.text("driver", gpu.driver);
    m_machine.gpus.push_back(std::move(gpu));
  }

  void read_place(TableReader& table) {
    DescribedPlace place;
    has(table, {"name", "folder", "free"});
    table.text("name", place.name, check_place);
    path(table, "folder", place.folder);
    table.size("free", place.free);
    m_machine.places.push_back(std::move(place));
  }

  void read_sources(TableReader& all) {
    for (const auto& [name, value] : all.table()) {
      DescribedSource source;
      all.within(name, [&](TableReader& table) {
        table.text("version", source.version, check_version);
        table.text("commit", source.commit, check_commit);
        source.refs = map(table, "refs", check_commit);
        source.files = map(table, "files");
        if (std::string backend; table.text("backend", backend)) source.backend = backend;
        if (std::vector<std::string> wanted; table.texts("requires", wanted, check_requirement))
          source.requires_ = wanted;
      });
      m_machine.sources.emplace_back(name, std::move(source));
    }
  }

  static std::string check_commit(const std::string& text) {
    const bool good = text.size() == 40 && text.find_first_not_of("0123456789abcdef") == text.npos;
    return good ? "" : fmt::format("{} is not a commit (40 hex digits)", in_quotes(text));
  }

  static std::string check_requirement(const std::string& text) {
    return problem_of([&] { (void)pep::Requirement::parse(text); });
  }

  Description m_machine;
};

}  // namespace

Description read_description(std::string_view toml, std::string_view file_name) {
  const document::Table document = document::parse_toml(toml, file_name);
  document::Problems problems(file_name);
  TableReader table(document, "the description", 1, problems);
  Description machine = DescriptionReader().read(table);
  table.finish();
  problems.throw_if_any();
  return machine;
}

}  // namespace wheelsmith::toolchain
