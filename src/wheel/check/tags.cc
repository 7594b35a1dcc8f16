// Whether a wheel's tags match its binaries. An extension module is imported by its file name: "x.cpython-311-….so"
// only by CPython 3.11, "x.abi3.so" by every CPython 3, "x.so" by all. A wheel for cp312 with modules for 3.11 installs
// and then fails to import.

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "wheel/check/identity.h"

namespace wheelsmith::wheel {

namespace {

bool is_host_binary(const ElfFacts& file) { return !file.machine.starts_with("machine "); }

// Which Pythons can import a module, by its file name: "x.cpython-313t-x86_64-linux-gnu.so" has python "cp313t" and
// machine "x86_64-linux-gnu"; "x.pypy310-pp73-x86_64-linux-gnu.so" has python "pypy310_pp73"; "x.so" has neither.
struct ModuleSuffix {
  std::string python;
  std::string machine;
};

ModuleSuffix suffix_of(const std::string& path) {
  const std::string_view name = base_name(path);
  const std::size_t begin = name.find('.');
  const std::size_t end = name.rfind(".so");
  if (begin == name.npos || end == name.npos || end <= begin) return {};
  const std::vector<std::string_view> words = split(name.substr(begin + 1, end - begin - 1), '-');
  if (words.size() < 2) return {};
  ModuleSuffix suffix;
  if (words[0] == "cpython") suffix.python = "cp" + std::string(words[1]);
  if (words[0].starts_with("pypy")) suffix.python = std::string(words[0]) + "_" + std::string(words[1]);
  if (suffix.python.empty()) return {};
  // Before Python 3.8 the ABI had an "m"; debug builds have a "d" that wheel tags omit.
  if (suffix.python.starts_with("cp") && (suffix.python.ends_with('m') || suffix.python.ends_with('d'))) {
    suffix.python.pop_back();
  }
  for (std::size_t i = 2; i < words.size(); ++i) suffix.machine += (i > 2 ? "-" : "") + std::string(words[i]);
  return suffix;
}

std::string module_stem(const std::string& path) {
  const std::size_t slash = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  return path.substr(0, path.find('.', slash));
}

// Whether some Python that the wheel's tags allow imports modules with that suffix.
bool is_importable(const ModuleSuffix& suffix, const std::vector<pep::Tag>& tags) {
  if (suffix.python.empty()) return true;
  for (const pep::Tag& tag : tags) {
    std::string abi = tag.abi;
    if (abi.starts_with("cp") && (abi.ends_with('m') || abi.ends_with("mu"))) abi.erase(abi.find('m'));
    if (abi == "none") abi = suffix.python;  // the tag allows any
    // Python calls 32-bit x86 i386; before Python 3.11 musl builds used the suffix gnu.
    std::string machine = suffix.machine;
    if (machine.starts_with("i386-")) machine.replace(0, 4, "i686");
    if (machine.starts_with("arm-")) machine.replace(0, 3, "armv7l");
    if (machine.starts_with("powerpc64le-")) machine.replace(0, 11, "ppc64le");
    const std::size_t dash = machine.find('-');
    const auto is_tagged = [&](std::string_view name) { return tag.platform.ends_with("_" + std::string(name)); };
    const bool arm_fits = machine.starts_with("armv7l-") && (is_tagged("armv6l") || is_tagged("armv8l"));
    const bool machine_fits = machine.empty() || tag.platform.find("linux") == std::string::npos ||
                              is_tagged(machine.substr(0, dash)) || arm_fits;
    const bool libc_fits = !machine.ends_with("-musl") || !tag.platform.starts_with("manylinux");
    if (abi == suffix.python && machine_fits && libc_fits) return true;
  }
  return false;
}

void check_suffixes(const pep::WheelName& name, const std::vector<ElfFacts>& files, std::vector<Finding>& findings) {
  const std::vector<pep::Tag> tags = name.tags();
  std::set<std::string> importable;  // modules provided by some file
  for (const ElfFacts& file : files) {
    if (is_importable(suffix_of(file.path), tags)) importable.insert(module_stem(file.path));
  }
  for (const ElfFacts& file : files) {
    if (!file.python_extension || importable.contains(module_stem(file.path))) continue;
    const ModuleSuffix suffix = suffix_of(file.path);
    findings.push_back({"tag-extension-suffix", Severity::error, file.path,
                        fmt::format("is a module for {} {} only, the wheel claims {}-{}-{}", suffix.python,
                                    suffix.machine, name.python, name.abi, name.platform),
                        "Python ignores modules with another version's or architecture's suffix: the import fails",
                        "rebuild the wheel with the Python that its tag names"});
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
      // Many packages (all of NVIDIA's wheels) ship libraries that are loaded by path this way, and they work, as do
      // platform-independent wheels with helpers for some platforms (debugpy, selenium). Where the tag names the
      // machine (usd-core), Python finds an extension module as well: purelib and platlib are both on its path.
      const bool claims_any = name && name->platform == "any";
      const bool harmless = !in_data && !(file.python_extension && claims_any);
      findings.push_back({"purelib-binary", harmless ? Severity::warning : Severity::error, file.path,
                          "is a binary, but the wheel is declared pure Python (Root-Is-Purelib: true)",
                          "it may be installed into a folder shared with machines that cannot run it",
                          "declare the extension modules in the build, so that Root-Is-Purelib is false"});
    }
  }
  if (!name) return findings;
  if (has_host_binary && name->platform == "any") {
    findings.push_back({"tag-any-binary", Severity::warning, name->to_string(), "is tagged any, but contains binaries",
                        "it installs on machines that cannot run it", "rebuild it with a platform tag"});
  }
  if (name->platform.find("linux_") == 0) {
    findings.push_back({"tag-not-portable", Severity::note, name->to_string(),
                        fmt::format("is tagged {}, which guarantees nothing about other machines", name->platform),
                        "PyPI rejects such wheels; on another distribution it may not load",
                        "run `wheelsmith retag --auto`, which sets the most compatible tag that it qualifies for"});
  }
  check_suffixes(*name, files, findings);
  return findings;
}

}  // namespace wheelsmith::wheel
