// Infers a recipe for a package that has none. It is generated as TOML and read like any other, so that `recipe init`
// shows exactly what was assumed and users can edit it.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "recipe/recipe.h"
#include "recipe/recipe_reader.h"
#include "recipe/text_checks.h"

namespace wheelsmith::recipe {

namespace data {
extern const std::string_view imports_tsv;
}  // namespace data

namespace {

using document::Array;
using document::Table;
using document::Value;

// The requirement that provides a module, "" if pip does not provide it.
std::string requirement_of(std::string_view module) {
  for (const std::string_view line : lines(data::imports_tsv)) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos && line.substr(0, tab) == module) return std::string(line.substr(tab + 1));
  }
  return "";
}

std::string name_of(const std::string& requirement) {
  const auto parsed = pep::Requirement::try_parse(requirement);
  return parsed ? pep::normalized_name(parsed->name) : "";
}

class Maker {
 public:
  explicit Maker(const SourceFacts& facts) : m_facts(facts) {}

  Table make() {
    if (!pep::is_valid_name(m_facts.name)) {
      throw Error("cannot determine the project's name from PKG-INFO, pyproject.toml or setup.py");
    }
    if (!m_facts.has_pyproject && !m_facts.has_setup_py) {
      throw Error(m_facts.name + ": there is neither a pyproject.toml nor a setup.py, so the build command is unknown");
    }
    head();
    build();
    limits();
    tests();
    variants();
    Array assumptions;
    for (const std::string& sentence : m_assumptions) assumptions.emplace_back(sentence);
    m_root["assumptions"] = std::move(assumptions);
    return std::move(m_root);
  }

 private:
  void assume(std::string sentence) { m_assumptions.push_back(std::move(sentence)); }

  [[nodiscard]] bool mentions(std::string_view variable) const {
    const auto& seen = m_facts.arch_variables;
    return std::find(seen.begin(), seen.end(), variable) != seen.end();
  }

  [[nodiscard]] bool is_rust() const {
    const auto brings_rust = [](const std::string& requirement) {
      return name_of(requirement) == "maturin" || name_of(requirement) == "setuptools-rust";
    };
    return std::any_of(m_facts.requires_.begin(), m_facts.requires_.end(), brings_rust);
  }

  [[nodiscard]] bool is_go() const {
    return std::any_of(m_facts.requires_.begin(), m_facts.requires_.end(),
                       [](const std::string& requirement) { return name_of(requirement) == "setuptools-golang"; });
  }

  static Table& inner(Table& table, std::string_view key) {
    Value& value = table[key];
    if (value.table() == nullptr) value = Table();
    return *value.table();
  }

  void head() {
    m_root["name"] = pep::normalized_name(m_facts.name);
    m_root["project"] = m_facts.name;
    m_root["summary"] = "inferred from its source files";
    m_root["assumptions"] = Array();
    Table& source = inner(m_root, "source");
    source["sdist"] = m_facts.name;
    if (pep::Version::try_parse(m_facts.version)) source["version"] = m_facts.version;
  }

  void build() {
    Table& table = inner(m_root, "build");
    // Without a backend the one of setuptools for such projects is called, as pip does: it names the setup_requires,
    // which setup.py itself would download during the build.
    const bool legacy = m_facts.backend.empty() && m_facts.has_setup_py;
    table["backend"] = "pep517";
    if (legacy) assume("There is no build backend in pyproject.toml, so setuptools builds setup.py, as with pip.");
    std::vector<std::string> named;
    for (const std::string& requirement : m_facts.requires_) named.push_back(name_of(requirement));
    Array more;
    const auto need = [&](const std::string& requirement) {
      const std::string name = name_of(requirement);
      if (name.empty() || name == "torch" || std::find(named.begin(), named.end(), name) != named.end()) return;
      named.push_back(name);
      more.emplace_back(requirement);
    };
    // pkg_resources limits setuptools, so it must speak first.
    std::vector<std::string> found;
    for (const std::string& module : m_facts.setup_imports) found.push_back(requirement_of(module));
    std::stable_partition(found.begin(), found.end(), [](const std::string& r) { return name_of(r) != r; });
    for (const std::string& requirement : found) need(requirement);
    if (!more.empty() && !legacy) assume("The imports of setup.py are installed too: " + texts(more) + ".");
    if (legacy) {
      need("setuptools");
      need("wheel");
    }
    if (m_facts.uses_torch_extension) need("ninja");
    if (m_facts.has_cmake && !m_facts.uses_torch_extension && m_facts.backend.starts_with("setuptools")) {
      need("cmake");
      need("ninja");
    }
    table["requires"] = more;
    if (std::find(named.begin(), named.end(), "torch") != named.end()) table["drop-requires"] = Array{"torch"};
    // By default these compile in a temporary folder, and an interrupted build would start over.
    if (m_facts.backend == "mesonpy" || m_facts.backend.starts_with("scikit_build_core"))
      inner(table, "config")["build-dir"] = "build/wheelsmith";
    Table environment;
    for (const std::string& variable : m_facts.arch_variables) {
      if (!variable.ends_with("FORCE_BUILD")) continue;
      environment[variable] = m_facts.compares_with_true ? "TRUE" : "1";
      assume(variable + " prevents it from downloading a prebuilt wheel instead of building.");
    }
    prefetch(table, environment);
    if (!environment.empty()) table["environment"] = environment;
  }

  // Downloads of other package managers happen before the build, which has no network.
  void prefetch(Table& table, Table& environment) {
    Array commands;
    const auto add = [&](Array command, const char* why) {
      Table one;
      one["command"] = std::move(command);
      one["network"] = true;
      one["why"] = why;
      commands.emplace_back(std::move(one));
    };
    if (is_rust()) {
      for (const std::string& manifest : m_facts.cargo_manifests) {
        const std::string folder = manifest.substr(0, manifest.rfind('/') + 1);
        const auto& locks = m_facts.cargo_locks;
        Array command = {"cargo", "--config", "net.offline=false", "fetch"};
        if (std::find(locks.begin(), locks.end(), folder) != locks.end()) command.emplace_back("--locked");
        command.emplace_back("--manifest-path");
        command.emplace_back(manifest);
        add(std::move(command), "cargo downloads the crates of Cargo.lock before the build, which has no network");
      }
      if (!commands.empty()) environment["CARGO_NET_OFFLINE"] = "true";
    }
    if (is_go() && m_facts.has_go_module)
      add({"go", "mod", "download"}, "go downloads the modules of go.sum before the build, which has no network");
    // Many wraps are fallbacks for system libraries: one that cannot be downloaded is not a failure yet.
    if (m_facts.backend == "mesonpy" && m_facts.has_wraps)
      add({"sh", "-c", "\"$1\" subprojects download || echo 'meson: not all subprojects could be downloaded'", "sh",
           "{env}/bin/meson"},
          "meson downloads the subprojects of *.wrap before the build");
    if (!commands.empty()) table["prepare"] = std::move(commands);
  }

  static std::string texts(const Array& list) {
    std::vector<std::string> words;
    for (const Value& value : list) words.push_back(value.text_or());
    return join(words, ", ");
  }

  void limits() {
    Table table;
    if (!m_facts.requires_python.empty() && check_specifiers(m_facts.requires_python).empty()) {
      table["python"] = m_facts.requires_python;
    }
    if (is_rust()) {
      table["programs"] = Array{"cargo", "rustc"};
      assume(m_facts.cargo_manifests.empty() ? "It is written in Rust, so cargo and rustc must be installed; --network "
                                               "on lets cargo download its crates."
                                             : "It is written in Rust, so cargo and rustc must be installed; its "
                                               "crates are downloaded before the build.");
    }
    if (is_go() && m_facts.has_go_module) table["programs"] = Array{"go"};
    if (m_facts.uses_torch) {
      table["torch"] = true;
      for (const std::string& requirement : m_facts.requires_) {
        if (name_of(requirement) != "torch") continue;
        std::vector<std::string> specifiers;
        for (const auto& one : pep::Requirement::parse(requirement).specifiers)
          specifiers.push_back(one.op + one.version);
        if (!specifiers.empty()) table["torch"] = join(specifiers, ",");
      }
      assume("It is built against torch and works with that torch version only.");
    }
    if (!table.empty()) m_root["requires"] = table;
  }

  void tests() {
    if (m_facts.imports.empty()) {
      assume("Its modules are unknown, so the wheel is not tested.");
      return;
    }
    Table test;
    test["name"] = "imports";
    Array imports;
    for (const std::string& module : m_facts.imports) imports.emplace_back(module);
    test["imports"] = imports;
    m_root["test"] = Array{Value(test)};
    assume(fmt::format("The test imports {}.", join(m_facts.imports, ", ")));
  }

  void variants() {
    Table& all = inner(m_root, "variant");
    set_variables(inner(all, "cpu"), false);
    if (m_facts.has_cuda_sources) {
      Table& cuda = inner(all, "cuda");
      set_variables(cuda, true);
      cuda_archs(cuda);
    }
    if (m_facts.has_hip_sources || (m_facts.has_cuda_sources && m_facts.uses_torch_extension)) {
      Table& rocm = inner(all, "rocm");
      set_variables(rocm, true);
      Table& archs = inner(rocm, "archs");
      archs["variable"] = "PYTORCH_ROCM_ARCH";
      archs["spelling"] = "gfx";
      archs["default"] = "gfx90a;gfx942";
      if (!m_facts.has_hip_sources) assume("For ROCm, torch's build hipifies its CUDA sources.");
    }
    if (!m_facts.has_cuda_sources && !m_facts.has_hip_sources) {
      assume("It has no GPU sources (.cu, .hip), so it is built for the CPU.");
    }
  }

  // By default builds detect the GPU of the build machine.
  void set_variables(Table& variant, bool gpu) const {
    Table environment;
    for (const std::string_view name : {"FORCE_CUDA", "USE_CUDA", "WITH_CUDA"}) {
      if (mentions(name)) environment[name] = gpu ? "1" : "0";
    }
    for (const std::string_view name : {"FORCE_ONLY_CPU", "BUILD_NO_CUDA"}) {
      if (mentions(name) && !gpu) environment[name] = "1";
    }
    if (!environment.empty()) inner(variant, "build")["environment"] = environment;
  }

  void cuda_archs(Table& cuda) {
    Table& archs = inner(cuda, "archs");
    archs["default"] = "8.0;9.0";
    for (const std::string& variable : m_facts.arch_variables) {
      const bool own = variable.find("_CUDA_ARCH") != std::string::npos && variable != "TORCH_CUDA_ARCH_LIST" &&
                       !variable.starts_with("CMAKE_");
      if (!own) continue;
      const bool compact = !m_facts.arch_example.empty() && m_facts.arch_example.find('.') == std::string::npos;
      archs["variable"] = variable;
      archs["spelling"] = compact ? "compact" : "dotted";
      assume(fmt::format("Its variable {} takes the architectures, in the form {}.", variable,
                         compact ? "80;90" : "8.0;9.0"));
      return;
    }
    if (m_facts.uses_torch_extension) {
      archs["variable"] = "TORCH_CUDA_ARCH_LIST";
      archs["spelling"] = "dotted";
    } else if (m_facts.backend.starts_with("scikit_build_core")) {
      archs["spelling"] = "cmake";
      Table& config = inner(inner(cuda, "build"), "config");
      config["cmake.define.CMAKE_CUDA_ARCHITECTURES"] = "{archs}";
      assume("CMake takes the architectures as CMAKE_CUDA_ARCHITECTURES.");
    } else if (m_facts.has_cmake) {
      archs["variable"] = "CUDAARCHS";
      archs["spelling"] = "cmake";
      assume("CMake takes the architectures from CUDAARCHS, unless its files override them.");
    } else {
      assume("How its build takes the architectures is unknown.");
    }
  }

  const SourceFacts& m_facts;
  Table m_root;
  std::vector<std::string> m_assumptions;
};

}  // namespace

Recipe infer(const SourceFacts& facts) { return recipe_from(Maker(facts).make(), "inferred", true); }

}  // namespace wheelsmith::recipe
