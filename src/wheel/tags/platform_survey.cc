// Determines the platform tag that a wheel qualifies for. PyPI and users trust auditwheel, so the result must be the
// same. These rules were found by reading auditwheel and by comparing results on real wheels:
//
// - Files count if they are for the machine of the wheel's name and not for the other libc. A file's libc shows in its
//   interpreter, its NEEDED libraries (libc.so.6, libc.musl-x86_64.so.1), or its name (-linux-gnu.so, -linux-musl.so).
// - The symbol versions of all counted files are checked, whichever library they name, except the dynamic loader's.
// - NEEDED libraries, forbidden symbols and instruction sets are checked for files that are loaded on their own: Python
//   extensions, and files that no other file of the wheel needs by name. Other libraries of the wheel are checked as
//   part of the trees that load them.
// - In a tree a library is searched in the run paths of the root, then in those of the file that needs it. A library
//   found in the wheel is not a requirement on the machine, but its own dependencies are. libpython is never searched.
//
// One deliberate difference: this code reads the dynamic segment, auditwheel the section headers, which may be absent.

#include "wheel/tags/platform_survey.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "wheel/read/file_roles.h"
#include "wheel/tags/required_packages.h"

namespace wheelsmith::wheel {
namespace {

using pep::LibC;

// torch takes about 600 steps; a hostile wheel could need the square of its number of files.
constexpr std::uint64_t k_most_steps = 1'000'000;

constexpr std::array<std::string_view, 9> k_machines = {"x86_64",  "i686",  "aarch64", "armv7l",     "ppc64",
                                                        "ppc64le", "s390x", "riscv64", "loongarch64"};

bool is_known_machine(std::string_view machine) {
  return std::find(k_machines.begin(), k_machines.end(), machine) != k_machines.end();
}

bool is_loader(std::string_view soname) {
  return soname.find("ld-linux") != std::string_view::npos || soname == "ld64.so.1" || soname == "ld64.so.2";
}

bool is_excluded(std::string_view soname, const PlatformOptions& options) {
  return std::any_of(options.excluded.begin(), options.excluded.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, soname); });
}

// "" unless all tags name the same machine.
std::string machine_of_tags(const std::vector<std::string>& tags) {
  std::string found;
  for (const std::string& tag : tags) {
    const auto machine = std::find_if(k_machines.begin(), k_machines.end(),
                                      [&](std::string_view name) { return tag.ends_with("_" + std::string(name)); });
    if (machine == k_machines.end() || (!found.empty() && found != *machine)) {
      return "";
    }
    found = *machine;
  }
  return found;
}

std::optional<LibC> libc_of_tags(const std::vector<std::string>& tags) {
  const auto any = [&](std::string_view prefix) {
    return std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) { return tag.starts_with(prefix); });
  };
  const bool glibc = any("manylinux");
  const bool musl = any("musllinux");
  return glibc == musl ? std::nullopt : std::optional(musl ? LibC::musl : LibC::glibc);
}

std::optional<LibC> libc_of_name(std::string_view name) {
  if (name.ends_with("-arm-linux-musleabihf.so") || name.ends_with("-linux-musl.so")) {
    return LibC::musl;
  }
  if (!name.ends_with("-arm-linux-gnueabihf.so") && !name.ends_with("-linux-gnu.so")) {
    return std::nullopt;
  }
  // Before Python 3.11 extensions for musl were called gnu too: "x.cpython-310-x86_64-linux-gnu.so" proves nothing.
  const std::size_t at = name.rfind(".cpython-3");
  const std::string_view minor =
      at == std::string_view::npos ? "" : name.substr(at + 10, name.find('-', at + 10) - at - 10);
  const auto number = to_number(minor);
  return number && *number >= 11 ? std::optional(LibC::glibc) : std::nullopt;
}

std::optional<LibC> libc_of(const ElfFacts& file) {
  if (!file.interpreter.empty()) {
    return base_name(file.interpreter).starts_with("ld-musl-") ? LibC::musl : LibC::glibc;
  }
  for (const std::string& soname : file.needed) {
    // Rust and zig link musl's libc under the name of its makefile.
    if (soname.starts_with("libc.musl-") || soname.starts_with("ld-musl-") || soname == "libc.so") {
      return LibC::musl;
    }
    if (soname == "libc.so.6" || soname.starts_with("ld-linux-") || soname.starts_with("ld64.so.")) {
      return LibC::glibc;
    }
  }
  return libc_of_name(base_name(file.path));
}

class TreeBuilder {
 public:
  TreeBuilder(const std::vector<ElfFacts>& files, const PlatformOptions& options)
      : m_options(options), m_own_folders(folders_of(files)) {
    for (const ElfFacts& file : files) {
      m_by_path.emplace(file.path, &file);
      m_own_names.insert(base_name(file.path));
    }
  }

  LoadTree tree(const ElfFacts& root) {
    LoadTree result;
    result.root = &root;
    const RunPaths& of_root = run_paths(root);
    std::unordered_set<std::string_view> seen;
    std::vector<std::pair<const ElfFacts*, std::size_t>> stack = {{&root, 0}};
    while (!stack.empty()) {
      auto& [file, next] = stack.back();
      if (next == file->needed.size()) {
        stack.pop_back();
        continue;
      }
      const ElfFacts* by = file;
      const std::string& soname = by->needed[next++];
      count_step();
      if (!seen.insert(soname).second || is_excluded(soname, m_options) || is_trusted_to_others(*by, soname)) {
        continue;
      }
      const ElfFacts* resolved = find(soname, of_root, run_paths(*by), root.machine);
      result.needs.push_back({by, soname, resolved});
      if (resolved != nullptr) {
        stack.emplace_back(resolved, 0);
      }
    }
    return result;
  }

 private:
  struct RunPaths {
    std::vector<std::string> rpath;
    std::vector<std::string> runpath;
  };

  // A library in the wheel needs no provider, even if there is one.
  bool is_trusted_to_others(const ElfFacts& file, const std::string& soname) const {
    if (!m_options.trust_others || m_own_names.contains(soname)) return false;
    static const RequiredPackages k_none;
    const RequiredPackages& packages = m_options.packages == nullptr ? k_none : *m_options.packages;
    if (!provided_by_others(soname, packages.required).empty()) return true;
    const auto found = find_required(packages, file, soname, m_own_folders);
    return found && found->certain;
  }

  void count_step() {
    if (++m_steps > k_most_steps) {
      throw Error("has too many dependencies between its files to follow");
    }
  }

  const RunPaths& run_paths(const ElfFacts& file) {
    const auto [entry, is_new] = m_run_paths.try_emplace(&file);
    if (is_new) {
      const bool by_runpath = !file.runpath.empty();
      for (const std::string& text : by_runpath ? file.runpath : file.rpath) {
        if (auto folder = folder_in_wheel(text, file.path)) {
          (by_runpath ? entry->second.runpath : entry->second.rpath).push_back(std::move(*folder));
        }
      }
    }
    return entry->second;
  }

  const ElfFacts* find(const std::string& soname, const RunPaths& root, const RunPaths& own,
                       const std::string& machine) {
    if (glob_match("libpython[0-9]*.[0-9]*.so*", soname)) {
      return nullptr;
    }
    for (const auto* folders : {&root.rpath, &own.rpath, &own.runpath, &root.runpath}) {
      for (const std::string& folder : *folders) {
        count_step();
        const auto found = m_by_path.find(folder.empty() ? soname : folder + "/" + soname);
        if (found != m_by_path.end() && found->second->machine == machine) {
          return found->second;
        }
      }
    }
    return nullptr;
  }

  const PlatformOptions& m_options;
  std::set<std::string> m_own_folders;
  std::unordered_map<std::string, const ElfFacts*> m_by_path;
  std::unordered_set<std::string_view> m_own_names;
  std::unordered_map<const ElfFacts*, RunPaths> m_run_paths;
  std::uint64_t m_steps = 0;
};

void choose_files(const std::vector<ElfFacts>& files, std::optional<LibC> libc, LibcRule rule, Survey& result) {
  for (const ElfFacts& file : files) {
    if (!is_known_machine(file.machine) || file.path.ends_with(".py")) {
      continue;
    }
    if (result.machine.empty()) {
      result.machine = file.machine;
    } else if (result.machine != file.machine) {
      result.foreign.push_back(&file);
      continue;
    }
    const auto own = libc_of(file);
    libc = libc ? libc : own;
    if (rule == LibcRule::any || !own || own == libc) {
      result.counted.push_back(&file);
    }
  }
  result.libc = libc.value_or(LibC::glibc);
  if (result.counted.empty()) {
    result.machine.clear();
  }
}

bool breaks_symbols(const ElfFacts& file, const std::set<std::string>& forbidden, std::vector<std::string>& found) {
  for (const UndefinedSymbol& symbol : file.undefined) {
    if (!symbol.weak && forbidden.contains(symbol.name)) {
      found.push_back(symbol.name);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return !found.empty();
}

bool uses_fpectl(const ElfFacts& file) {
  return std::any_of(file.undefined.begin(), file.undefined.end(), [](const UndefinedSymbol& symbol) {
    return symbol.name == "PyFPE_jbuf" || symbol.name == "PyFPE_dummy" || symbol.name == "PyFPE_counter";
  });
}

void add_version_violations(const Survey& survey, const pep::Policy& policy, std::vector<Violation>& out) {
  std::map<std::pair<std::string, std::string>, Violation> by_place;  // (path, library)
  for (const auto& [version, users] : survey.versions) {
    if (policy.allows(survey.machine, version)) {
      continue;
    }
    for (const auto& [file, library] : users) {
      Violation& violation = by_place[{file->path, library}];
      violation.kind = Violation::Kind::version;
      violation.file = file;
      violation.library = library;
      violation.names.push_back(version);
    }
  }
  for (auto& [place, violation] : by_place) {
    out.push_back(std::move(violation));
  }
}

// Calls `use(file, soname)` for the libraries of a tree that neither the policy nor the wheel has, until it returns
// stop. The dependencies of a policy library are not checked, even if a file of the wheel has the same name.
template <class Use>
void for_each_missing(const LoadTree& tree, const pep::Policy& policy, Use use) {
  std::unordered_map<std::string_view, const ElfFacts*> resolved;
  for (const NeededLibrary& need : tree.needs) {
    resolved.emplace(need.soname, need.resolved);
  }
  std::unordered_set<std::string_view> visited;
  std::vector<const ElfFacts*> queue = {tree.root};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::string& soname : queue[i]->needed) {
      const auto found = resolved.find(soname);
      if (found == resolved.end() || is_loader(soname) || policy.has_library(soname) ||
          !visited.insert(soname).second) {
        continue;
      }
      if (found->second != nullptr) {
        queue.push_back(found->second);
      } else if (!use(*queue[i], soname)) {
        return;
      }
    }
  }
}

bool is_complete(const LoadTree& tree, const pep::Policy& policy) {
  bool missing = false;
  for_each_missing(tree, policy, [&](const ElfFacts&, const std::string&) { return !(missing = true); });
  return !missing;
}

// Whether a library needs nothing that neither the policy nor the wheel has.
bool has_complete_library(const Survey& survey, const pep::Policy& policy) {
  std::unordered_set<std::string_view> own;
  for (const ElfFacts* file : survey.counted) own.insert(base_name(file->path));
  return std::any_of(survey.counted.begin(), survey.counted.end(), [&](const ElfFacts* file) {
    return file->is_dynamic && std::all_of(file->needed.begin(), file->needed.end(), [&](const std::string& soname) {
             return is_loader(soname) || policy.has_library(soname) || own.contains(soname);
           });
  });
}

void add_library_violations(const Survey& survey, const pep::Policy& policy, std::vector<Violation>& out) {
  // In a wheel of libraries, one that nothing needs and that cannot be loaded, next to others that can, is a plugin:
  // nvshmem's transports, tbbbind for the versions of hwloc.
  const bool some_is_complete = has_complete_library(survey, policy);
  std::set<std::pair<const ElfFacts*, std::string>> seen;
  // A library that an extension also needs is not stray, so stray trees come last.
  for (const bool stray : {false, true}) {
    std::map<std::string, Violation> by_file;
    for (const LoadTree& tree : survey.trees) {
      if (tree.stray == stray) {
        for_each_missing(tree, policy, [&](const ElfFacts& file, const std::string& soname) {
          if (seen.emplace(&file, soname).second) {
            Violation& violation = by_file[file.path];
            violation.kind = Violation::Kind::library;
            violation.file = &file;
            violation.stray = stray || (tree.may_be_plugin && some_is_complete && &file == tree.root);
            violation.names.push_back(soname);
          }
          return true;
        });
      }
    }
    for (auto& [path, violation] : by_file) {
      out.push_back(std::move(violation));
    }
  }
}

void add_root_violations(const ElfFacts& root, const pep::Policy& policy, std::vector<Violation>& out) {
  for (const auto& [library, forbidden] : policy.blacklist) {
    std::vector<std::string> found;
    if (std::find(root.needed.begin(), root.needed.end(), library) != root.needed.end() &&
        breaks_symbols(root, forbidden, found)) {
      out.push_back({Violation::Kind::symbol, &root, library, std::move(found), false});
    }
  }
  if (root.machine == "x86_64" && (root.x86_isa_needed & 0xe) != 0) {
    out.push_back({Violation::Kind::instructions, &root, "", {}, false});
  }
  if (root.python_extension && uses_fpectl(root)) {
    out.push_back({Violation::Kind::fpectl, &root, "", {}, false});
  }
}

}  // namespace

std::optional<std::string> folder_in_wheel(std::string_view run_path, std::string_view file_path) {
  run_path.remove_prefix(std::min(run_path.find_first_not_of('/'), run_path.size()));
  std::size_t token = 0;
  for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
    if (run_path.starts_with(word)) {
      token = word.size();
      break;
    }
  }
  const std::string_view rest = run_path.substr(token);
  const bool at_boundary = rest.empty() || rest.front() == '/';
  if (token == 0 || !at_boundary || rest.find('$') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t slash = file_path.rfind('/');
  std::vector<std::string> folders;
  const std::string_view origin = slash == std::string_view::npos ? "" : file_path.substr(0, slash);
  for (const std::string_view text : {origin, rest}) {
    for (const std::string_view part : split(text, '/')) {
      if (part == "..") {
        if (folders.empty()) {
          return std::nullopt;
        }
        folders.pop_back();
      } else if (!part.empty() && part != ".") {
        folders.emplace_back(part);
      }
    }
  }
  return join(folders, "/");
}

Survey survey(const std::vector<ElfFacts>& files, const PlatformOptions& options, const std::string& machine,
              LibcRule rule) {
  Survey result;
  result.machine = machine.empty() ? machine_of_tags(options.tags) : machine;
  choose_files(files, libc_of_tags(options.tags), rule, result);

  std::unordered_set<std::string_view> needed;
  for (const ElfFacts* file : result.counted) {
    needed.insert(file->needed.begin(), file->needed.end());
    for (const auto& [library, versions] : file->versions_needed) {
      if (library.starts_with("ld-linux") || library == "ld64.so.1" || library == "ld64.so.2") {
        continue;
      }
      for (const std::string& version : versions) {
        result.versions[version].emplace(file, library);
      }
    }
  }
  const bool has_extension = std::any_of(result.counted.begin(), result.counted.end(),
                                         [](const ElfFacts* file) { return file->python_extension; });
  TreeBuilder builder(files, options);
  for (const ElfFacts* file : result.counted) {
    const std::string_view name = base_name(file->path);
    if (file->python_extension || !needed.contains(name)) {
      LoadTree tree = builder.tree(*file);
      // A library with a version in its name that nothing needs, in a wheel of extensions: left over, most likely.
      tree.stray = (has_extension && !file->python_extension && glob_match("lib*.so.[0-9]*", name)) ||
                   (options.roles != nullptr && options.roles->of(file->path) != Role::needed);
      tree.may_be_plugin = options.roles != nullptr && options.roles->may_be_plugin(file->path);
      result.trees.push_back(std::move(tree));
    }
  }
  return result;
}

std::vector<Violation> violations(const Survey& survey, const pep::Policy& policy) {
  std::vector<Violation> out;
  if (!policy.is_linux()) {
    add_version_violations(survey, policy, out);
    add_library_violations(survey, policy, out);
    for (const LoadTree& tree : survey.trees) {
      add_root_violations(*tree.root, policy, out);
    }
  }
  return out;
}

bool satisfies(const Survey& survey, const pep::Policy& policy) {
  if (policy.is_linux()) {
    return true;
  }
  // The cheapest and most often decisive checks come first: some files have 100,000 symbols.
  for (const auto& [version, users] : survey.versions) {
    if (!policy.allows(survey.machine, version)) {
      return false;
    }
  }
  for (const LoadTree& tree : survey.trees) {
    if (!is_complete(tree, policy)) return false;
  }
  std::vector<Violation> rest;
  for (const LoadTree& tree : survey.trees) {
    add_root_violations(*tree.root, policy, rest);
    if (!rest.empty()) {
      return false;
    }
  }
  return true;
}

}  // namespace wheelsmith::wheel
