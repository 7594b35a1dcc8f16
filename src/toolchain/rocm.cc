// ROCm: a folder (/opt/rocm, or one named by a variable) or the rocm-sdk wheels of an environment, whose own module
// reports their path. hipcc's C++ compiler searches for the device libraries (amdgcn/bitcode) in several places by
// version and packaging; a build without them fails only at the first kernel, so they are searched for here.
//
// An environment with the wheels has a bin/hipcc, too, a small Python script that starts the real one. Its folder is
// not a ROCm: it has neither headers nor libraries. So where rocm-sdk is beside hipcc, the module is queried.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "toolchain/ask.h"
#include "toolchain/description.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

// The first query unpacks the devel package: gigabytes, on a slow disk.
constexpr std::chrono::seconds k_patience(600);

std::string version_of(const fs::path& root) {
  for (const char* name :
       {".info/version", ".info/version-dev", ".info/version-rocm", "share/rocm/version", "share/therock/version"}) {
    const std::string version = first_version(head_of(root / name, 4096));
    if (!version.empty()) return version;
  }
  // HIP's own version, in a tree that was not installed by a package manager.
  const std::string text = head_of(root / "share/hip/version", 4096);
  std::string major, minor;
  for (const std::string_view line : lines(text)) {
    const auto take = [&](std::string_view name, std::string& into) {
      if (line.starts_with(name)) into = first_version(std::string(line.substr(name.size())) + ".0");
    };
    take("HIP_VERSION_MAJOR=", major);
    take("HIP_VERSION_MINOR=", minor);
  }
  const auto number = [](const std::string& dotted) { return dotted.substr(0, dotted.find('.')); };
  return major.empty() || minor.empty() ? std::string() : number(major) + "." + number(minor);
}

bool has_bitcode(const fs::path& folder) {
  const std::vector<std::string> names = names_in(folder);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".bc"); });
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
    if (has_bitcode(root / place)) return root / place;
  }
  return {};
}

fs::path clang_of(const fs::path& root) {
  for (const char* folder : {"lib/llvm/bin", "llvm/bin"}) {
    if (is_program(root / folder / "clang++")) return root / folder;
  }
  return {};
}

fs::path cmake_of(const fs::path& root) {
  for (const char* folder : {"lib/cmake", "lib64/cmake"}) {
    if (is_there(root / folder / "hip/hip-config.cmake")) return root / folder;
  }
  return {};
}

std::string folder_digest(const fs::path& folder, const Host& where) {
  std::vector<std::string> parts;
  for (const std::string& name : names_in(folder)) {
    if (!name.ends_with(".bc")) continue;
    parts.push_back(name);
    parts.push_back(file_digest(real_path(folder / name), where.memo));
  }
  return combined_digest(parts);
}

void add_digests(Rocm& rocm, const Host& where) {
  add_program_digests(rocm.digests, "hipcc", rocm.hipcc, where);
  if (!rocm.clang.empty()) {
    for (const std::string name : {"clang", "clang++", "lld", "clang-offload-bundler", "clang-linker-wrapper"})
      add_program_digests(rocm.digests, "hipcc/" + name, rocm.clang / name, where);
  }
  if (!rocm.device_libraries.empty())
    rocm.digests.emplace_back("hipcc/bitcode", folder_digest(rocm.device_libraries, where));
  // Thousands of headers are identified by the versions they name, and the runtime by its content.
  for (const char* name : {".info/version", "include/hip/hip_version.h", "include/rocm-core/rocm_version.h",
                           "share/hip/version", "lib/libamdhip64.so"}) {
    if (is_there(rocm.root / name))
      rocm.digests.emplace_back("rocm/" + std::string(base_name(name)),
                                file_digest(real_path(rocm.root / name), where.memo));
  }
}

// Path of an environment's interpreter, if the folder is an environment with rocm-sdk.
fs::path environment_python(const fs::path& folder) {
  for (const char* name : {"bin/python", "bin/python3"}) {
    if (is_program(folder / "bin/rocm-sdk") && is_program(folder / name)) return folder / name;
  }
  return {};
}

std::string last_line(const std::string& output) {
  std::string_view last;
  for (const std::string_view line : lines(output)) {
    if (!trim(line).empty()) last = trim(line);
  }
  return is_valid_utf8(last) ? std::string(last) : std::string();
}

struct Question {
  std::vector<std::string> words;  // "rocm-sdk", or "python -m rocm_sdk"
  fs::path program;                // the key of the remembered answer
  std::vector<fs::path> files;     // other files the answer depends on
};

std::optional<Rocm> ask_rocm_sdk(const Question& question, const Host& where, std::string* problem) {
  const auto answer = [&](std::vector<std::string> more) {
    std::vector<std::string> words = question.words;
    words.insert(words.end(), more.begin(), more.end());
    return ask(words, where, "", k_patience);
  };
  const std::optional<document::Table> facts = remembered(
      "rocm-sdk", join(question.words, " "), fingerprint_of(question.program), where, [&]() -> std::optional<Answer> {
        const Reply reply = answer({"path", "--root"});
        const fs::path root = last_line(reply.output);
        if (!reply.good || !root.is_absolute()) {
          const std::string said = last_line(reply.errors);
          if (problem != nullptr)
            *problem =
                fmt::format("{} path --root: {}", join(question.words, " "), said.empty() ? reply.problem : said);
          return std::nullopt;
        }
        Answer result;
        result.facts["root"] = root.string();
        const Reply version = answer({"version"});
        if (version.good) result.facts["version"] = last_line(version.output);
        // Separated by ';' or blanks, depending on the version.
        const Reply targets = answer({"targets"});
        if (targets.good && is_valid_utf8(targets.output)) result.facts["targets"] = targets.output;
        result.files = question.files;
        result.files.push_back(question.program);
        result.files.push_back(root / "bin/hipcc");
        return result;
      });
  if (!facts) return std::nullopt;
  const document::Value value(*facts);
  const fs::path root = value["root"].text_or();
  std::optional<Rocm> rocm = read_rocm(root, Origin::rocm_sdk, where);
  if (!rocm) {
    if (problem != nullptr) *problem = fmt::format("rocm-sdk reports {}, but there is no bin/hipcc", root.string());
    return std::nullopt;
  }
  rocm->python = question.program;
  if (const std::string version = value["version"].text_or(); pep::Version::try_parse(version)) rocm->version = version;
  std::string targets = value["targets"].text_or();
  std::replace_if(targets.begin(), targets.end(), [](char c) { return c == ';' || c == ',' || c == '\n'; }, ' ');
  for (const std::string_view target : split(targets, ' ')) {
    if (target.starts_with("gfx")) rocm->targets.emplace_back(target);
  }
  return rocm;
}

std::optional<Rocm> from_program(const fs::path& program, const Host& where) {
  return ask_rocm_sdk({{program.string()}, program, {}}, where, nullptr);
}

// A folder named by a user or a variable: of ROCm, of HIP inside it, or of an environment.
std::optional<Rocm> from_folder(const fs::path& folder, const Host& where) {
  if (const fs::path python = environment_python(folder); !python.empty())
    return ask_rocm_sdk({{python.string(), "-m", "rocm_sdk"}, folder / "bin/rocm-sdk", {python}}, where, nullptr);
  return read_rocm(folder, Origin::folder, where);
}

}  // namespace

std::optional<Rocm> read_rocm(const fs::path& given, Origin origin, const Host& where) {
  std::error_code error;
  Rocm rocm;
  rocm.root = fs::absolute(given, error).lexically_normal();
  if (!rocm.root.has_filename()) rocm.root = rocm.root.parent_path();
  rocm.hipcc = rocm.root / "bin/hipcc";
  // Older HIP_PATH values name a folder inside: /opt/rocm/hip.
  if (rocm.root.filename() == "hip" && is_program(rocm.root.parent_path() / "bin/hipcc")) {
    rocm.root = rocm.root.parent_path();
    rocm.hipcc = rocm.root / "bin/hipcc";
  }
  if (!is_program(rocm.hipcc)) return std::nullopt;
  rocm.version = version_of(rocm.root);
  rocm.device_libraries = device_libraries_of(rocm.root);
  rocm.clang = clang_of(rocm.root);
  rocm.cmake = cmake_of(rocm.root);
  rocm.origin = origin;
  add_digests(rocm, where);
  return rocm;
}

std::optional<Rocm> read_rocm_sdk(const Python& python, const Host& where, std::string* problem) {
  // Files first: an interpreter without the module is not started.
  for (const fs::path& site : python.sites) {
    const fs::path module = site / "rocm_sdk/__init__.py";
    if (!is_there(module)) continue;
    return ask_rocm_sdk({{python.executable.string(), "-m", "rocm_sdk"}, module, {python.executable}}, where, problem);
  }
  return std::nullopt;
}

std::optional<Rocm> find_rocm(const Host& where, const Python* python) {
  if (where.described) return find_described_rocm(where);
  if (!where.rocm.empty()) {
    if (std::optional<Rocm> rocm = from_folder(where.rocm, where)) return rocm;
    throw Error(fmt::format("ROCm is set to {}, but it has no bin/hipcc; correct or remove the setting",
                            printable(where.rocm.string())));
  }
  for (const char* name : {"ROCM_PATH", "ROCM_HOME", "HIP_PATH"}) {
    const std::string root = variable(where, name);
    if (root.empty()) continue;
    if (std::optional<Rocm> rocm = from_folder(root, where)) return rocm;
  }
  if (python != nullptr) {
    if (std::optional<Rocm> rocm = read_rocm_sdk(*python, where)) return rocm;
  }
  for (const fs::path& program : programs_in_path("rocm-sdk", where)) {
    if (std::optional<Rocm> rocm = from_program(program, where)) return rocm;
  }
  if (std::optional<Rocm> rocm = read_rocm(on_machine(where, "opt/rocm"), Origin::folder, where)) return rocm;
  for (const fs::path& hipcc : programs_in_path("hipcc", where)) {
    // A link to the real one; or the script of an environment, which was already queried above if it can answer.
    const fs::path root = real_path(hipcc).parent_path().parent_path();
    if (!environment_python(hipcc.parent_path().parent_path()).empty()) continue;
    if (std::optional<Rocm> rocm = read_rocm(root, Origin::folder, where)) return rocm;
  }
  return std::nullopt;
}

}  // namespace wheelsmith::toolchain
