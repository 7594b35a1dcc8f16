// A wheel may rely on libraries in other wheels: rmm needs librmm.so from librmm-cu12, and its __init__.py loads it;
// PyQt6 has run paths into the folder of PyQt6-Qt6. Such a library is missing on purpose. The requirement alone proves
// little (protobuf's wheel has no libprotobuf.so), so the library must also be reachable: by a run path to a folder
// outside this wheel, or by Python code that loads or imports the package first.

#include "wheel/tags/required_packages.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"
#include "wheel/read/symbol_names.h"
#include "wheel/tags/platform_survey.h"

namespace wheelsmith::wheel {
namespace {

constexpr std::size_t k_most_requirements = 1000;
constexpr std::size_t k_shortest_word = 3;

// Words in package names that carry no information about the contents.
constexpr std::array<std::string_view, 22> k_common_words = {
    "python", "lib",    "core",   "runtime", "base", "common", "bin",   "cuda",     "cu11",  "cu12",  "cu13",
    "binary", "native", "nvidia", "intel",   "sdk",  "data",   "tools", "headless", "wheel", "extra", "plugin"};

// "rapids_logger" and "Rapids-Logger" are both "rapidslogger".
std::string flat(std::string_view text) {
  std::string result;
  for (const char c : to_lower(text)) {
    if (c != '-' && c != '_' && c != '.') result += c;
  }
  return result;
}

// "rapidslogger" of "librapids_logger.so.1".
std::string flat_stem(std::string_view soname) {
  std::string_view stem = soname.substr(0, soname.find(".so"));
  if (stem.starts_with("lib")) stem.remove_prefix(3);
  return flat(stem);
}

// Possible library names of a package: "rmm" for "librmm-cu12", "qt6" for "pyqt6-qt6", "arrow" for "pyarrow".
std::vector<std::string> library_words(const std::string& package) {
  std::vector<std::string> words = {flat(package)};
  for (const std::string_view part : split(package, '-')) {
    if (std::find(k_common_words.begin(), k_common_words.end(), part) != k_common_words.end()) continue;
    words.emplace_back(part);
    for (const std::string_view prefix : {"lib", "py"}) {
      if (part.starts_with(prefix)) words.emplace_back(part.substr(prefix.size()));
    }
  }
  std::erase_if(words, [](const std::string& word) { return word.size() < k_shortest_word; });
  return words;
}

bool fits_name(const std::string& package, const std::string& stem) {
  if (stem.size() >= k_shortest_word && flat(package).ends_with(stem)) return true;
  const std::vector<std::string> words = library_words(package);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return stem.starts_with(word); });
}

// Whether a module or folder belongs to a package: "librmm" is "librmm-cu12"'s, "Qt6" is "pyqt6-qt6"'s.
bool belongs_to(std::string_view module, const std::string& package) {
  const std::string name = flat(module);
  if (name.size() < k_shortest_word) return false;
  const std::string whole = flat(package);
  return whole.starts_with(name) || whole.ends_with(name) || name.starts_with(whole);
}

bool is_pinned_to(const pep::Requirement& requirement, const std::string& version) {
  const auto own = pep::Version::try_parse(version);
  return own &&
         std::any_of(requirement.specifiers.begin(), requirement.specifiers.end(),
                     [&](const pep::Specifier& each) { return each.op.starts_with("==") && each.contains(*own); });
}

// Parts of one project share its name: librmm-cu12 beside rmm-cu12, sherpa-onnx-core beside sherpa-onnx.
bool shares_name(const std::string& package, const std::string& own) {
  const std::vector<std::string> words = library_words(own);
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return flat(package).find(word) != std::string::npos; });
}

class Search {
 public:
  Search(const RequiredPackages& packages, const ElfFacts& file, std::string_view soname,
         const std::set<std::string>& own_folders)
      : m_packages(packages), m_stem(flat_stem(soname)), m_own_top(file.path.substr(0, file.path.find('/'))) {
    for (const auto* paths : {&file.rpath, &file.runpath}) {
      for (const std::string& path : *paths) {
        auto folder = folder_in_wheel(path, file.path);
        if (folder && !own_folders.contains(*folder)) m_foreign_folders.push_back(std::move(*folder));
      }
    }
  }

  [[nodiscard]] std::optional<RequiredLibrary> run() const {
    std::vector<std::string> fitting;
    std::copy_if(m_packages.required.begin(), m_packages.required.end(), std::back_inserter(fitting),
                 [&](const std::string& package) { return fits_name(package, m_stem); });
    // Both PyQt6-sip and PyQt6-Qt6 match libQt6Core.so; the folder decides.
    for (const std::string& package : fitting) {
      if (is_loaded(package) || has_folder(package)) return RequiredLibrary{package, true};
    }
    for (const std::string& package : fitting) {
      if (is_led_to(package)) return RequiredLibrary{package, true};
    }
    std::optional<RequiredLibrary> likely;
    if (!fitting.empty()) likely = RequiredLibrary{fitting.front(), false};
    // The libraries of such a part may have any name: sherpa-onnx-core contains libonnxruntime.so, librmm loads
    // librapids_logger.so.
    for (const std::string& package : m_packages.parts) {
      if (is_loaded(package) || has_folder(package)) return RequiredLibrary{package, true};
      if (!likely) likely = RequiredLibrary{package, false};
    }
    // A folder named like the library, in site-packages and not in this wheel.
    for (const std::string& folder : m_foreign_folders) {
      const std::string top = folder.substr(0, folder.find('/'));
      if (m_stem.size() >= k_shortest_word && flat(top).ends_with(m_stem)) return RequiredLibrary{top, true};
    }
    return likely;
  }

 private:
  [[nodiscard]] bool is_loaded(const std::string& package) const {
    return std::any_of(m_packages.loaded.begin(), m_packages.loaded.end(),
                       [&](const std::string& module) { return belongs_to(module, package); });
  }

  [[nodiscard]] bool has_folder(const std::string& package) const {
    return std::any_of(m_foreign_folders.begin(), m_foreign_folders.end(), [&](const std::string& folder) {
      const std::vector<std::string_view> parts = split(folder, '/');
      return std::any_of(parts.begin(), parts.end(),
                         [&](std::string_view part) { return part != m_own_top && belongs_to(part, package); });
    });
  }

  [[nodiscard]] bool is_led_to(const std::string& package) const {
    return !m_foreign_folders.empty() ||
           std::any_of(m_packages.imported.begin(), m_packages.imported.end(),
                       [&](const std::string& module) { return belongs_to(module, package); });
  }

  const RequiredPackages& m_packages;
  std::string m_stem;
  std::string m_own_top;                       // the package's own folder in site-packages
  std::vector<std::string> m_foreign_folders;  // named by run paths, without binaries in the wheel
};

}  // namespace

bool RequiredPackages::has_module(std::string_view name) const {
  return std::any_of(required.begin(), required.end(),
                     [&](const std::string& package) { return belongs_to(name, package); });
}

RequiredPackages required_packages(const Distribution& distribution, const PythonUse& python) {
  RequiredPackages result;
  result.imported = python.imported();
  result.loaded = python.loaded();
  if (!distribution.metadata) return result;
  const std::string own = pep::normalized_name(distribution.name());
  for (const std::string& text : distribution.metadata->all("Requires-Dist")) {
    if (result.required.size() == k_most_requirements) break;
    try {
      const pep::Requirement requirement = pep::Requirement::parse(text);
      if (requirement.marker.find("extra") != std::string::npos) continue;
      result.required.push_back(pep::normalized_name(requirement.name));
      const std::string& package = result.required.back();
      if (is_pinned_to(requirement, distribution.version()) && shares_name(package, own)) {
        result.parts.push_back(package);
      }
    } catch (const Error&) {  // reported with the metadata
    }
  }
  return result;
}

std::set<std::string> folders_of(const std::vector<ElfFacts>& files) {
  std::set<std::string> folders;
  for (const ElfFacts& file : files) {
    const std::size_t slash = file.path.rfind('/');
    folders.insert(slash == std::string::npos ? "" : file.path.substr(0, slash));
  }
  return folders;
}

std::optional<RequiredLibrary> find_required(const RequiredPackages& packages, const ElfFacts& file,
                                             std::string_view soname, const std::set<std::string>& own_folders) {
  // Compiler runtime libraries come from the system or not at all.
  if (is_versioned_system_library(soname)) return std::nullopt;
  return Search(packages, file, soname, own_folders).run();
}

}  // namespace wheelsmith::wheel
