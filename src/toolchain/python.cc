// One interpreter. Its name cannot be trusted (python3 may be a pyenv shim that runs anything or nothing, a venv's
// link, conda's), so a small script runs in it once and reads its sysconfig.

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "toolchain/ask.h"
#include "toolchain/description.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace data {
extern const std::string_view python_facts_py;
}

namespace {

std::optional<Answer> ask_python(const fs::path& executable, const Host& where) {
  const Reply reply = ask({executable.string(), "-I", "-B", "-c", std::string(data::python_facts_py)}, where);
  // A shim that selects nothing, and Python 2, which has no -I, will give the same answer again.
  if ((reply.code == 2 || is_shim(executable)) && reply.code > 0) {
    Answer none;
    none.facts["none"] = true;
    none.files = {executable};
    return none;
  }
  if (!reply.good) return std::nullopt;
  // A sitecustomize may print, too: the last line is ours.
  const std::vector<std::string_view> all = lines(reply.output);
  if (all.empty()) return std::nullopt;
  const document::Value value = document::try_parse_json(all.back()).value_or(document::Value());
  const document::Table* table = value.table();
  if (table == nullptr) return std::nullopt;
  if (value["version"].text_or().empty() || !fs::path(value["executable"].text_or()).is_absolute()) {
    return std::nullopt;
  }
  Answer answer{*table, {executable, real_path(executable)}};
  for (const std::string& file : value["files"].texts()) answer.files.emplace_back(file);
  return answer;
}

// Nothing for an executable that cannot be read: its output could not be keyed.
std::optional<std::string> python_digest(const document::Value& facts, const Host& where) {
  std::vector<std::string> parts = {facts["version"].text_or(), facts["soabi"].text_or()};
  for (const std::string& file : {facts["executable"].text_or(), facts["library"].text_or()}) {
    if (file.empty()) continue;
    auto digest = try_file_digest(real_path(file), where.memo);
    if (!digest) return std::nullopt;
    parts.push_back(std::move(*digest));
  }
  return combined_digest(parts);
}

}  // namespace

std::string Python::machine() const { return platform.substr(platform.find('_') + 1); }

std::string Python::short_version() const {
  const std::size_t first = version.find('.');
  return first == std::string::npos ? version : version.substr(0, version.find('.', first + 1));
}

std::optional<Python> read_python(const fs::path& executable, const Host& where) {
  if (where.described) return read_described_python(executable, *where.described);
  if (!is_program(executable)) return std::nullopt;
  std::string fingerprint = fingerprint_of(executable);
  if (is_shim(executable)) fingerprint = combined_digest({fingerprint, shim_state(where)});
  std::optional<document::Table> table =
      remembered("python", executable.string(), fingerprint, where, [&] { return ask_python(executable, where); });
  if (!table) return std::nullopt;
  const document::Value facts(std::move(*table));
  if (facts["none"].boolean_or(false)) return std::nullopt;
  auto digest = python_digest(facts, where);
  if (!digest) return std::nullopt;
  Python python;
  python.digest = std::move(*digest);
  python.executable = facts["executable"].text_or();
  python.version = facts["version"].text_or();
  python.implementation = facts["implementation"].text_or();
  python.tag = facts["tag"].text_or();
  python.abi = facts["abi"].text_or();
  python.platform = facts["platform"].text_or();
  python.soabi = facts["soabi"].text_or();
  python.prefix = facts["prefix"].text_or();
  python.base_prefix = facts["base_prefix"].text_or();
  python.include = facts["include"].text_or();
  python.purelib = facts["purelib"].text_or();
  python.platlib = facts["platlib"].text_or();
  python.stdlib = facts["stdlib"].text_or();
  for (const std::string& site : facts["sites"].texts()) python.sites.emplace_back(site);
  python.has_headers = facts["has_headers"].boolean_or(false);
  python.has_venv = facts["has_venv"].boolean_or(false);
  python.has_pip = facts["has_pip"].boolean_or(false);
  python.has_ensurepip = facts["has_ensurepip"].boolean_or(false);
  python.pip_version = facts["pip_version"].text_or();
  python.glibc = facts["glibc"].text_or();
  return python;
}

}  // namespace wheelsmith::toolchain
