// Facts about a source without running it: from the text of PKG-INFO, pyproject.toml, setup.py and CMakeLists.txt, and
// from file names. Each file is read up to a limit, and none is trusted.

#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "pep/wheel_name.h"
#include "recipe/python_text.h"
#include "recipe/recipe.h"
#include "recipe/text_checks.h"

namespace wheelsmith::recipe {
namespace {

constexpr std::size_t k_longest_text = 1 << 20, k_most_files = 200'000, k_most_names = 64;

using Names = std::vector<std::string>;

void add_once(Names& names, std::string name) {
  if (names.size() < k_most_names && std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(std::move(name));
  }
}

// Folders that lie at the top of many projects and are nothing to import.
bool is_beside_the_point(std::string_view name) {
  static const std::set<std::string_view> names = {
      "test",       "tests", "testing", "doc",   "docs", "example", "examples", "bench", "benchmark",
      "benchmarks", "tools", "scripts", "build", "dist", "csrc",    "src",      "setup", "third_party"};
  return names.count(name) != 0 || name.starts_with('_');
}

class SourceReader {
 public:
  explicit SourceReader(const FileTree& tree) : m_tree(tree), m_files(tree.files()) {
    if (m_files.size() > k_most_files) m_files.resize(k_most_files);
    find_root();
  }

  SourceFacts read() {
    read_pkg_info();
    read_pyproject();
    read_setup();
    read_cmake();
    read_names();
    find_imports();
    find_other_managers();
    return std::move(m_facts);
  }

 private:
  // Other languages' package managers, whose downloads have to come before a build without network. The crates of a
  // workspace have one lock, above them; a manifest below another one is taken for a member.
  void find_other_managers() {
    for (const FileTree::File& file : m_files) {
      if (!file.name.starts_with(m_root)) continue;
      const std::string path = file.name.substr(m_root.size());
      const std::string_view base = base_name(path);
      const std::string folder = path.substr(0, path.size() - base.size());
      if (folder.starts_with("vendor/") || folder.find("/vendor/") != std::string::npos) continue;
      if (base == "Cargo.toml") add_once(m_facts.cargo_manifests, path);
      if (base == "Cargo.lock") add_once(m_facts.cargo_locks, folder);
      if (path == "go.mod") m_facts.has_go_module = true;
      if (folder == "subprojects/" && base.ends_with(".wrap")) m_facts.has_wraps = true;
    }
    const std::vector<std::string> all = m_facts.cargo_manifests;
    std::erase_if(m_facts.cargo_manifests, [&](const std::string& manifest) {
      return std::any_of(all.begin(), all.end(), [&](const std::string& other) {
        const std::string above = other.substr(0, other.size() - base_name(other).size());
        return other != manifest && manifest.starts_with(above);
      });
    });
  }

  // An archive holds one folder, and the project lies in it.
  void find_root() {
    const auto has = [&](const std::string& name) {
      const auto at = std::lower_bound(m_files.begin(), m_files.end(), FileTree::File{name, 0});
      return at != m_files.end() && at->name == name;
    };
    if (m_files.empty() || has("pyproject.toml") || has("setup.py")) return;
    const std::string top = m_files.front().name.substr(0, m_files.front().name.find('/') + 1);
    const auto below = [&](const FileTree::File& file) { return file.name.starts_with(top); };
    if (!top.empty() && std::all_of(m_files.begin(), m_files.end(), below)) m_root = top;
  }

  [[nodiscard]] std::optional<std::string> text(const std::string& name) const {
    return m_tree.head(m_root + name, k_longest_text);
  }

  void read_pkg_info() {
    const auto info = text("PKG-INFO");
    if (!info) return;
    for (const std::string_view line : lines(*info)) {
      if (line.empty()) break;
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      const std::string key = to_lower(line.substr(0, colon));
      const std::string value(trim(line.substr(colon + 1)));
      if (key == "name") m_facts.name = value;
      if (key == "version") m_facts.version = value;
      if (key == "requires-python") m_facts.requires_python = value;
    }
  }

  void read_pyproject() {
    const auto toml = text("pyproject.toml");
    m_facts.has_pyproject = toml.has_value();
    if (!toml) return;
    document::Value root = document::parse_toml(*toml, "pyproject.toml");
    const document::Value& system = root["build-system"];
    m_facts.backend = system["build-backend"].text_or();
    for (const std::string& requirement : system["requires"].texts()) add_once(m_facts.requires_, requirement);
    // A build system without a backend is setuptools, in its old manner.
    if (system.table() != nullptr && m_facts.backend.empty()) m_facts.backend = "setuptools.build_meta:__legacy__";
    const document::Value& project = root["project"];
    if (m_facts.name.empty()) m_facts.name = project["name"].text_or();
    if (m_facts.version.empty()) m_facts.version = project["version"].text_or();
    if (m_facts.requires_python.empty()) m_facts.requires_python = project["requires-python"].text_or();
    for (const std::string& requirement : m_facts.requires_) {
      // One that cannot be read is the build backend's affair; it is told as it stands.
      const auto parsed = pep::Requirement::try_parse(requirement);
      if (parsed && parsed->name == "torch") m_facts.uses_torch = true;
    }
  }

  void read_setup() {
    const auto setup = text("setup.py");
    m_facts.has_setup_py = setup.has_value();
    if (!setup) return;
    const PythonText python = read_python(*setup);
    m_facts.setup_imports = python.imports;
    const auto mentions = [&](std::string_view word) { return setup->find(word) != std::string::npos; };
    m_facts.uses_torch = m_facts.uses_torch || mentions("import torch") || mentions("from torch");
    m_facts.uses_torch_extension = mentions("cpp_extension") && (mentions("CppExtension") || mentions("CUDAExtension"));
    m_facts.compares_with_true = mentions("\"TRUE\"") || mentions("'TRUE'");
    read_variables(python.literals);
    read_required(*setup);
    if (m_facts.name.empty()) m_facts.name = argument(*setup, "name");
  }

  // The text of "name = '…'" in a call or an assignment.
  static std::string argument(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      if (at > 0 && text.substr(at - 1, 1).find_first_not_of(" \t\n(,") != std::string_view::npos) continue;
      std::string_view rest = trim(text.substr(at + word.size(), 200));
      if (!rest.starts_with('=')) continue;
      rest = trim(rest.substr(1));
      if (rest.empty() || (rest[0] != '\'' && rest[0] != '"')) continue;
      const std::size_t end = rest.find(rest[0], 1);
      if (end == std::string_view::npos) continue;
      std::string value(rest.substr(1, end - 1));
      if (pep::is_valid_name(value)) return value;
    }
    return "";
  }

  // Names of variables that decide for which GPUs, or whether for any.
  void read_variables(const std::vector<PythonText::Literal>& literals) {
    static const std::vector<std::string_view> parts = {"CUDA_ARCH", "ARCH_LIST", "GPU_ARCH",       "ROCM_ARCH",
                                                        "CUDAARCHS", "HIP_ARCH",  "AMDGPU_TARGETS", "FORCE_",
                                                        "NO_CUDA",   "USE_CUDA",  "WITH_CUDA",      "SKIP_CUDA"};
    for (std::size_t i = 0; i < literals.size(); ++i) {
      const std::string& word = literals[i].text;
      const bool upper = literals[i].argument && !word.empty() && word.size() <= 64 && word == to_upper(word) &&
                         check_variable(word).empty();
      const auto in_word = [&](std::string_view part) { return word.find(part) != std::string::npos; };
      if (!upper || std::none_of(parts.begin(), parts.end(), in_word)) continue;
      add_once(m_facts.arch_variables, word);
      // os.getenv("X_CUDA_ARCHS", "80;90"): what follows shows how the list is written.
      if (in_word("CUDA_ARCH") && i + 1 < literals.size() && m_facts.arch_example.empty()) {
        const std::string& next = literals[i + 1].text;
        if (next.find_first_not_of("0123456789.;, ") == std::string::npos && next.size() > 1)
          m_facts.arch_example = next;
      }
    }
  }

  // os.environ["X"] fails by itself where X is not set; getenv("X") without a default does where the text raises an
  // error that names X. A text that asks first whether X is set, or gives a default anywhere, does not count.
  void read_required(const std::string& setup) {
    static const RE2 subscript(R"re(environ\[\s*["']([A-Z][A-Z0-9_]+)["']\s*\]\s*(=[^=])?)re");
    static const RE2 asked(R"re((?:getenv|environ\.get)\(\s*["']([A-Z][A-Z0-9_]+)["']\s*\))re");
    Names candidates;
    std::string name, assigned;
    re2::StringPiece rest(setup);
    while (candidates.size() < k_most_names && RE2::FindAndConsume(&rest, subscript, &name, &assigned)) {
      if (assigned.empty()) add_once(candidates, name);
    }
    rest = setup;
    while (candidates.size() < k_most_names && RE2::FindAndConsume(&rest, asked, &name)) {
      const RE2 raised(R"re(raise\s+\w+\([^)]*\b)re" + name + R"re(\b)re");
      if (RE2::PartialMatch(setup, raised)) add_once(candidates, name);
    }
    for (const std::string& one : candidates) {
      const std::string word = "[\"']" + one + "[\"']";
      const RE2 guarded(word + R"re(\s+(?:not\s+)?in\s|(?:getenv|environ\.get|setdefault)\(\s*)re" + word +
                        R"re(\s*,)re");
      if (!RE2::PartialMatch(setup, guarded)) m_facts.required_variables.push_back(one);
    }
  }

  static std::string to_upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return result;
  }

  void read_cmake() {
    const auto cmake = text("CMakeLists.txt");
    m_facts.has_cmake = cmake.has_value();
    if (!cmake) return;
    const std::string lower = to_lower(*cmake);
    // CUDA as a language, or found by torch's own package.
    if (lower.find("find_package(torch") != std::string::npos && !m_facts.has_setup_py) m_facts.uses_torch = true;
  }

  void read_names() {
    for (const FileTree::File& file : m_files) {
      const std::string_view name = file.name;
      if (name.ends_with(".cu")) m_facts.has_cuda_sources = true;
      if (name.ends_with(".hip") || name.ends_with(".hip.cpp") || name.ends_with("_hip.cpp")) {
        m_facts.has_hip_sources = true;
      }
    }
  }

  void find_imports() {
    Names found;
    for (const FileTree::File& file : m_files) {
      if (!file.name.starts_with(m_root)) continue;
      const std::string name = file.name.substr(m_root.size());
      if (!name.ends_with(".egg-info/top_level.txt") || std::count(name.begin(), name.end(), '/') > 2) continue;
      const std::string top = text(name).value_or("");
      for (const std::string_view line : lines(top)) add_once(found, std::string(trim(line)));
    }
    if (found.empty()) found = packages_on_disk();
    const std::string own = pep::escaped_name(m_facts.name);
    for (const std::string& name : found) {
      if (!check_variable(name).empty() || is_beside_the_point(name)) continue;
      if (to_lower(name) == own) {
        m_facts.imports = {name};
        return;
      }
      m_facts.imports.push_back(name);
    }
  }

  // Packages at the top, or in a folder that is known to hold them. What has the project's own name (a package or one
  // file) is believed in any folder of the top: lib, pysrc and their like are too many to know.
  [[nodiscard]] Names packages_on_disk() const {
    const std::string own = pep::escaped_name(m_facts.name);
    Names found;
    for (const FileTree::File& file : m_files) {
      if (!file.name.starts_with(m_root)) continue;
      std::string name = file.name.substr(m_root.size());
      const bool package = name.ends_with("/__init__.py");
      if (!package && !name.ends_with(".py")) continue;
      name.resize(name.size() - std::string_view(package ? "/__init__.py" : ".py").size());
      const std::size_t slash = name.rfind('/');
      const std::string folder = slash == std::string::npos ? "" : name.substr(0, slash);
      const std::string last = name.substr(folder.empty() ? 0 : slash + 1);
      const bool usual = folder.empty() || folder == "src" || folder == "python";
      const bool deep = folder.find('/') != std::string::npos;
      const bool named = to_lower(last) == own && !deep && folder != own && (usual || !is_beside_the_point(folder));
      if (named || (package && usual)) add_once(found, last);
    }
    return found;
  }

  const FileTree& m_tree;
  std::vector<FileTree::File> m_files;
  std::string m_root;
  SourceFacts m_facts;
};

}  // namespace

SourceFacts read_source(const FileTree& source) { return SourceReader(source).read(); }

}  // namespace wheelsmith::recipe
