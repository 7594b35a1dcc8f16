// Build tools: which program is found, its version and its origin. The origin matters for cmake and ninja: pip puts a
// script of that name before the system's in PATH, and inside an isolated environment it then runs without the package
// it imports.

#include "base/error.h"
#include "base/text.h"
#include "toolchain/ask.h"
#include "toolchain/description.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

Origin origin_of(const fs::path& program, const Host& where) {
  if (is_shim(program)) return Origin::pip;
  const fs::path real = real_path(program);
  for (const fs::path& path : {program, real}) {
    for (const fs::path& part : path) {
      if (part == "site-packages" || part == "dist-packages") return Origin::pip;
    }
    // A program in the bin of a virtual environment was put there by an installer.
    if (is_there(path.parent_path().parent_path() / "pyvenv.cfg")) return Origin::pip;
  }
  if (is_script(real)) {
    const std::string head = head_of(real, 512);
    if (head.substr(0, head.find('\n')).find("python") != std::string::npos) return Origin::pip;
  }
  return lies_in(program, variable(where, "CONDA_PREFIX")) ? Origin::conda : Origin::system;
}

std::optional<Answer> ask_version(const fs::path& program, const Host& where) {
  const Reply reply = ask({program.string(), "--version"}, where);
  if (reply.code > 0 && is_shim(program)) {
    Answer none;
    none.facts["none"] = true;
    none.files = {program};
    return none;
  }
  if (!reply.ran) return std::nullopt;
  // A script that fails is broken (its package is missing, its shim selects nothing); a program that fails may just not
  // know the option.
  if (!reply.good && is_script(real_path(program))) return std::nullopt;
  Answer answer;
  std::string version = first_version(reply.output);
  answer.facts["version"] = version.empty() ? first_version(reply.errors) : version;
  answer.files = {program, real_path(program)};
  return answer;
}

}  // namespace

std::optional<Program> find_program(std::string_view name, const Host& where) {
  if (where.described) return find_described_program(name, *where.described);
  for (const fs::path& path : programs_in_path(name, where)) {
    std::string fingerprint = fingerprint_of(path);
    if (is_shim(path)) fingerprint = combined_digest({fingerprint, shim_state(where)});
    const std::optional<document::Table> facts =
        remembered("program", path.string(), fingerprint, where, [&] { return ask_version(path, where); });
    if (!facts || document::Value(*facts)["none"].boolean_or(false)) continue;
    Program program;
    program.name = std::string(name);
    program.path = path;
    program.version = document::Value(*facts)["version"].text_or();
    program.origin = origin_of(path, where);
    auto digest = try_file_digest(real_path(path), where.memo);
    if (!digest) continue;  // executable but unreadable: its output could not be keyed
    program.digest = std::move(*digest);
    return program;
  }
  return std::nullopt;
}

std::optional<Program> program_behind(const Program& first, const Host& where) {
  if (where.described) {
    const auto other = where.described->shadowed.find(first.name);
    return other == where.described->shadowed.end() ? std::nullopt : std::optional(other->second);
  }
  if (first.origin != Origin::pip) return std::nullopt;
  Host rest = where;
  std::vector<std::string> folders;
  bool passed = false;
  const std::string path = where.environment.contains("PATH") ? where.environment.at("PATH") : "";
  for (const std::string_view folder : split(path, ':')) {
    if (passed && fs::path(folder) != first.path.parent_path()) folders.emplace_back(folder);
    passed = passed || fs::path(folder) / first.name == first.path;
  }
  rest.environment["PATH"] = join(folders, ":");
  return find_program(first.name, rest);
}

}  // namespace wheelsmith::toolchain
