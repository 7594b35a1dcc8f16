// ROCm: a folder (/opt/rocm, or one that a variable names) or the rocm-sdk wheels, whose own program says where they
// lie. hipcc's C++ compiler looks for the device libraries (amdgcn/bitcode) in several places by version and packaging;
// a build without them fails only when the first kernel is compiled, so they are looked for here.

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "toolchain/ask.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

std::string version_of(const fs::path& root) {
  for (const char* name :
       {".info/version", ".info/version-dev", ".info/version-rocm", "share/rocm/version", "share/therock/version"}) {
    const std::string version = first_version(head_of(root / name, 4096));
    if (!version.empty()) return version;
  }
  // HIP's own, in a tree that was never installed by a package manager.
  const std::string text = head_of(root / "share/hip/version", 4096);
  std::string major, minor, patch;
  for (const std::string_view line : lines(text)) {
    const auto take = [&](std::string_view name, std::string& into) {
      if (line.starts_with(name)) into = first_version(std::string(line.substr(name.size())) + ".0");
    };
    take("HIP_VERSION_MAJOR=", major);
    take("HIP_VERSION_MINOR=", minor);
    take("HIP_VERSION_PATCH=", patch);
  }
  const auto number = [](const std::string& dotted) { return dotted.substr(0, dotted.find('.')); };
  return major.empty() || minor.empty() ? std::string() : number(major) + "." + number(minor);
}

fs::path device_libraries_of(const fs::path& root) {
  std::vector<fs::path> places = {"amdgcn/bitcode", "lib/llvm/amdgcn/bitcode", "llvm/amdgcn/bitcode",
                                  "share/amdgcn/bitcode"};
  for (const char* clang : {"lib/llvm/lib/clang", "llvm/lib/clang"}) {
    for (const std::string& version : names_in(root / clang)) {
      places.push_back(fs::path(clang) / version / "amdgcn/bitcode");
      places.push_back(fs::path(clang) / version / "lib/amdgcn/bitcode");
    }
  }
  for (const fs::path& place : places) {
    for (const std::string& name : names_in(root / place)) {
      if (name.ends_with(".bc")) return root / place;
    }
  }
  return {};
}

std::string folder_digest(const fs::path& folder, const Surroundings& where) {
  std::vector<std::string> parts;
  for (const std::string& name : names_in(folder)) {
    if (!name.ends_with(".bc")) continue;
    parts.push_back(name);
    parts.push_back(file_digest(real_path(folder / name), where.memo));
  }
  return combined_digest(parts);
}

std::optional<Rocm> read_rocm(const fs::path& given, const std::string& origin, const Surroundings& where) {
  std::error_code error;
  Rocm rocm;
  rocm.root = fs::absolute(given, error).lexically_normal();
  rocm.hipcc = rocm.root / "bin/hipcc";
  // HIP_PATH of old names a folder inside: /opt/rocm/hip.
  if (rocm.root.filename() == "hip" && is_program(rocm.root.parent_path() / "bin/hipcc")) {
    rocm.root = rocm.root.parent_path();
    rocm.hipcc = rocm.root / "bin/hipcc";
  }
  if (!is_program(rocm.hipcc)) return std::nullopt;
  rocm.version = version_of(rocm.root);
  rocm.device_libraries = device_libraries_of(rocm.root);
  rocm.origin = origin;
  add_program_digests(rocm.digests, "hipcc", rocm.hipcc, where);
  for (const char* folder : {"lib/llvm/bin", "llvm/bin"}) {
    if (!is_program(rocm.root / folder / "clang")) continue;
    for (const std::string name : {"clang", "lld", "clang-offload-bundler", "clang-linker-wrapper"}) {
      add_program_digests(rocm.digests, "hipcc/" + name, rocm.root / folder / name, where);
    }
    break;
  }
  if (!rocm.device_libraries.empty()) {
    rocm.digests.emplace_back("hipcc/bitcode", folder_digest(rocm.device_libraries, where));
  }
  return rocm;
}

std::optional<Rocm> from_rocm_sdk(const Surroundings& where) {
  for (const fs::path& program : programs_in_path("rocm-sdk", where)) {
    const std::optional<document::Table> facts =
        remembered("rocm-sdk", program.string(), fingerprint_of(program), where, [&]() -> std::optional<Answer> {
          const Reply reply = ask({program.string(), "path", "--root"}, where, "", std::chrono::seconds(60));
          const std::vector<std::string_view> all = lines(reply.output);
          if (!reply.good || all.empty() || !is_valid_utf8(all.back())) return std::nullopt;
          const fs::path root(trim(all.back()));
          if (!root.is_absolute()) return std::nullopt;
          Answer answer;
          answer.facts["root"] = root.string();
          answer.files = {program, root / "bin/hipcc"};
          return answer;
        });
    if (!facts) continue;
    if (std::optional<Rocm> rocm = read_rocm(document::Value(*facts)["root"].text_or(), "rocm-sdk", where)) return rocm;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Rocm> find_rocm(const Surroundings& where) {
  if (!where.rocm.empty()) {
    if (std::optional<Rocm> rocm = read_rocm(where.rocm, "folder", where)) return rocm;
    throw Error(fmt::format("ROCm is to be {}, and there is no bin/hipcc; correct the setting or leave it out",
                            printable(where.rocm.string())));
  }
  for (const char* name : {"ROCM_PATH", "ROCM_HOME", "HIP_PATH"}) {
    const std::string root = variable(where, name);
    if (root.empty()) continue;
    if (std::optional<Rocm> rocm = read_rocm(root, "folder", where)) return rocm;
  }
  if (std::optional<Rocm> rocm = from_rocm_sdk(where)) return rocm;
  if (std::optional<Rocm> rocm = read_rocm(on_machine(where, "opt/rocm"), "folder", where)) return rocm;
  for (const fs::path& hipcc : programs_in_path("hipcc", where)) {
    const fs::path root = real_path(hipcc).parent_path().parent_path();
    if (std::optional<Rocm> rocm = read_rocm(root, "folder", where)) return rocm;
  }
  return std::nullopt;
}

}  // namespace wheelsmith::toolchain
