// Whether a wheel's tags fit its binaries. An extension module is imported by its file name: "x.cpython-311-….so" only
// by CPython 3.11, "x.abi3.so" by every CPython 3, "x.so" by all. A wheel for cp312 with modules of 3.11 installs and
// then cannot be imported.

#include <fmt/format.h>

#include <set>

#include "wheel/check_identity.h"
#include "wheel/inspect.h"

namespace wheelsmith::wheel {

namespace {

bool is_host_binary(const ElfFacts& file) { return !file.machine.starts_with("machine "); }

// "311" of "pkg/x.cpython-311-x86_64-linux-gnu.so"; "313t" with free threading; "" without such a suffix.
std::string cpython_of(const std::string& path) {
  static constexpr std::string_view k_mark = ".cpython-";
  const std::string name = base_name(path);
  const std::size_t mark = name.find(k_mark);
  if (mark == std::string::npos) return "";
  const std::size_t begin = mark + k_mark.size();
  return name.substr(begin, name.find_first_of("-.", begin) - begin);
}

std::string module_stem(const std::string& path) {
  const std::size_t slash = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  return path.substr(0, path.find('.', slash));
}

// The CPythons that the wheel claims by its ABI tags ("cp311" -> "311"); empty when it claims more than those.
std::set<std::string> claimed_cpythons(const pep::WheelName& name) {
  std::set<std::string> result;
  for (const pep::Tag& tag : name.tags()) {
    if (tag.abi == "abi3" || tag.abi == "none" || !tag.abi.starts_with("cp")) return {};
    std::string version = tag.abi.substr(2);
    if (version.ends_with('m') || version.ends_with('d')) version.pop_back();  // cp37m: the suffix has it too
    result.insert(version);
  }
  return result;
}

void check_suffixes(const pep::WheelName& name, const std::vector<ElfFacts>& files, std::vector<Finding>& findings) {
  const std::set<std::string> claimed = claimed_cpythons(name);
  const bool is_abi3 = name.abi == "abi3";
  if (claimed.empty() && !is_abi3) return;
  std::set<std::string> fitting;  // modules that some file provides for a claimed Python
  const auto fits = [&](const ElfFacts& file) {
    std::string version = cpython_of(file.path);
    if (version.empty()) return true;
    if (version.ends_with('m') || version.ends_with('d')) version.pop_back();
    return claimed.contains(version);
  };
  for (const ElfFacts& file : files) {
    if (fits(file)) fitting.insert(module_stem(file.path));
  }
  for (const ElfFacts& file : files) {
    if (!file.python_extension || fits(file) || fitting.contains(module_stem(file.path))) continue;
    findings.push_back({"tag-extension-suffix", Severity::error, file.path,
                        fmt::format("is a module for CPython {} only, the wheel claims {}", cpython_of(file.path),
                                    is_abi3 ? name.python + "-abi3" : name.abi),
                        "Python does not even look at a module with another version's suffix: the import fails",
                        "build the wheel with the Python that its tag names"});
  }
}

}  // namespace

std::vector<Finding> check_tags(const std::optional<pep::WheelName>& name, const Distribution& distribution,
                                const std::vector<ElfFacts>& files) {
  std::vector<Finding> findings;
  bool has_host_binary = false;
  for (const ElfFacts& file : files) {
    if (!is_host_binary(file)) continue;
    has_host_binary = true;
    const bool in_data = file.path.find(".data/") != std::string::npos;
    const bool under_purelib =
        in_data ? file.path.find(".data/purelib/") != std::string::npos : distribution.is_purelib();
    if (under_purelib) {
      // Libraries that are loaded by path are shipped so by many (all of NVIDIA's wheels) and work; an extension module
      // under purelib means that the build did not know that it makes one.
      const bool harmless = !in_data && !file.python_extension && name && name->platform != "any";
      findings.push_back(
          {"purelib-binary", harmless ? Severity::warning : Severity::error, file.path,
           "is a binary, but the wheel declares its files to be pure Python (Root-Is-Purelib: true)",
           "it may be installed where files for every machine lie, and shared with machines it cannot run on",
           "let the build declare its extension modules, so that Root-Is-Purelib is false"});
    }
  }
  if (!name) return findings;
  if (has_host_binary && name->platform == "any") {
    findings.push_back({"tag-any-binary", Severity::warning, name->to_string(),
                        "claims to fit any platform, but holds binaries", "it installs on machines it cannot run on",
                        "build it with a platform tag"});
  }
  if (name->platform.find("linux_") == 0) {
    findings.push_back({"tag-not-portable", Severity::note, name->to_string(),
                        fmt::format("is tagged {}, which promises nothing about other machines", name->platform),
                        "registries refuse such wheels; on another distribution it may not load",
                        "tag it with the platform that `wheelsmith inspect` says it deserves"});
  }
  check_suffixes(*name, files, findings);
  return findings;
}

}  // namespace wheelsmith::wheel
