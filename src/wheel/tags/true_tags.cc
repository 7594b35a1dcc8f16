#include "wheel/tags/true_tags.h"

// Determines which Pythons can load the binaries of a wheel. Setup scripts often get this wrong: libraries loaded with
// torch.ops.load_library are published as cp311-cp311 and rebuilt needlessly for each Python, modules for 3.11 as
// py3-none.
//
//   x.cpython-311-….so   imported by CPython 3.11 only               cp311-cp311
//   x.abi3.so            imported by CPython 3 from a minimum on     cpXY-abi3, if it uses only the stable ABI
//   x.so with PyInit_x   imported by every Python                    see below
//   other libraries      loaded by path; tied to a Python like modules if they call Python's C API, else not
//
// The minimum of abi3 is not in the file. The wheel's own tag is used, but not below the first Python that exports
// every symbol the module needs. A module that calls functions outside the stable ABI is tied to the Python it was
// built with, whatever its name. The reverse proves nothing: macros of the full API read object fields without calling
// anything, so a plain x.so counts as abi3 only if the wheel's tag says so too.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "wheel/read/symbol_names.h"
#include "wheel/tags/stable_abi.h"

namespace wheelsmith::wheel {

namespace {

struct PythonAbi {
  std::string python, abi;
};

// "cp313t" is Python cp313 with ABI cp313t.
PythonAbi split_building(std::string_view building) {
  PythonAbi result{std::string(building), std::string(building)};
  while (!result.python.empty() && result.python.back() >= 'a') result.python.pop_back();
  return result;
}

// The Python and ABI in a module's file name; empty ABI if none.
PythonAbi named_abi(std::string_view path) {
  const std::string_view name = base_name(path);
  const std::size_t begin = name.find('.');
  const std::size_t end = name.rfind(".so");
  if (begin == name.npos || end == name.npos || end <= begin) return {};
  const std::string_view suffix = name.substr(begin + 1, end - begin - 1);
  if (suffix == "abi3" || suffix.ends_with(".abi3")) return {"", "abi3"};
  const std::vector<std::string_view> words = split(suffix, '-');
  if (words.size() < 2 || words[1].empty()) return {};
  if (words[0] == "cpython") {
    PythonAbi result = split_building("cp" + std::string(words[1]));
    if (result.abi.ends_with('d')) result.abi.pop_back();  // debug builds have the same tags
    return result;
  }
  if (words[0].starts_with("pypy")) {
    return {"pp" + std::string(words[0].substr(4)), std::string(words[0]) + "_" + std::string(words[1])};
  }
  return {};
}

// The minor version of "cp39"; 0 for other words.
unsigned minor_of(std::string_view python) {
  if (!python.starts_with("cp3")) return 0;
  return static_cast<unsigned>(std::min<std::uint64_t>(to_number(python.substr(3)).value_or(0), 999));
}

// How a file uses Python's C API.
struct ApiUse {
  bool any = false;
  std::string unstable;  // a symbol outside the stable ABI
  unsigned minor = 0;    // the first Python that has all other symbols
  std::string newest;    // the symbol that determined it
};

ApiUse api_use(const ElfFacts& file) {
  ApiUse use;
  for (const UndefinedSymbol& symbol : file.undefined) {
    if (symbol.weak || !is_python_symbol(symbol.name)) continue;
    use.any = true;
    const std::optional<unsigned> minor = stable_since(symbol.name);
    if (!minor && (use.unstable.empty() || symbol.name < use.unstable)) use.unstable = symbol.name;
    if (minor.value_or(0) > use.minor) {
      use.minor = *minor;
      use.newest = symbol.name;
    }
  }
  return use;
}

class Judge {
 public:
  Judge(std::string_view building, const pep::WheelName& claimed)
      : m_building(split_building(building)), m_claimed(claimed) {
    const std::vector<std::string_view> abis = split(claimed.abi, '.');
    m_claims_abi3 = std::find(abis.begin(), abis.end(), "abi3") != abis.end();
    for (const std::string_view python : split(claimed.python, '.')) {
      const unsigned minor = minor_of(python);
      if (minor != 0 && (m_claimed_minor == 0 || minor < m_claimed_minor)) m_claimed_minor = minor;
    }
  }

  void see(const ElfFacts& file) {
    if (file.machine.starts_with("machine ")) return;  // device code is data to the host
    if (m_binary.empty()) m_binary = file.path;
    if (is_executable(file)) return;
    const PythonAbi named = file.python_extension ? named_abi(file.path) : PythonAbi{};
    if (!named.python.empty()) {
      m_exact.emplace(named.abi, named.python);
      if (m_exact_file.empty()) m_exact_file = file.path;
      return;
    }
    const ApiUse use = api_use(file);
    if (!file.python_extension && !use.any) return;
    if (!use.unstable.empty()) {
      note_bound(fmt::format("{} needs {}, which is not in the stable ABI", file.path, readable(use.unstable)));
    } else if (named.abi == "abi3" || m_claims_abi3) {
      note_stable(file);
    } else if (file.python_extension) {
      note_bound(fmt::format("{} is a module, and neither its name nor the wheel's tag has abi3", file.path));
    } else if (m_loose.empty()) {
      m_loose = file.path;
    }
    if (use.minor > m_minor) {
      m_minor = use.minor;
      m_newest = fmt::format("{} needs {}, added in Python 3.{}", file.path, use.newest, use.minor);
    }
  }

  [[nodiscard]] TrueTags verdict() const {
    if (m_binary.empty())
      return {.python = plain_python(), .abi = "none", .pure = true, .why = "there are no binaries"};
    if (!m_exact.empty()) return exact();
    if (!m_bound.empty()) return bound(m_bound);
    if (!m_stable.empty()) return stable();
    if (!m_loose.empty())
      return bound(fmt::format("{} calls Python's C API, and neither it nor the wheel has an abi3 tag", m_loose));
    return {.python = plain_python(),
            .abi = "none",
            .pure = false,
            .why = fmt::format("{} and all other binaries are loaded without Python's C API", m_binary)};
  }

 private:
  void note_bound(std::string why) {
    if (m_bound.empty()) m_bound = std::move(why);
  }

  void note_stable(const ElfFacts& file) {
    if (m_stable.empty()) m_stable = file.path;
  }

  // "py3", or the wheel's tag if it is generic: "py2.py3", "py39".
  [[nodiscard]] std::string plain_python() const {
    const std::vector<std::string_view> words = split(m_claimed.python, '.');
    const bool plain = std::all_of(words.begin(), words.end(), [](std::string_view word) {
      return word.starts_with("py") && to_number(word.substr(2)).has_value();
    });
    return plain && m_claimed.abi == "none" ? m_claimed.python : "py3";
  }

  [[nodiscard]] TrueTags bound(const std::string& why) const {
    return {.python = m_building.python, .abi = m_building.abi, .pure = false, .why = why};
  }

  [[nodiscard]] TrueTags exact() const {
    std::vector<std::string> pythons, abis;
    for (const auto& [abi, python] : m_exact) {
      abis.push_back(abi);
      if (std::find(pythons.begin(), pythons.end(), python) == pythons.end()) pythons.push_back(python);
    }
    return {.python = join(pythons, "."),
            .abi = join(abis, "."),
            .pure = false,
            .why = fmt::format("other Python versions do not import {}", m_exact_file)};
  }

  [[nodiscard]] TrueTags stable() const {
    const bool claimed = m_claims_abi3 && m_claimed_minor != 0;
    const unsigned floor = claimed ? m_claimed_minor : minor_of(m_building.python);
    std::string why = fmt::format("{} uses only the stable ABI", m_stable);
    if (m_minor > floor) why += "; " + m_newest;
    return {.python = fmt::format("cp3{}", std::max(floor, m_minor)), .abi = "abi3", .pure = false, .why = why};
  }

  PythonAbi m_building;
  const pep::WheelName& m_claimed;
  bool m_claims_abi3 = false;
  unsigned m_claimed_minor = 0;

  std::map<std::string, std::string> m_exact;  // ABI -> Python
  std::string m_exact_file;
  std::string m_binary;  // a file for this machine
  std::string m_bound;   // why it is tied to the Python that built it
  std::string m_stable;  // a file that uses only the stable ABI and claims it
  std::string m_loose;   // a library (not a module) that calls only the stable ABI
  unsigned m_minor = 0;
  std::string m_newest;
};

}  // namespace

TrueTags true_tags(const std::vector<ElfFacts>& files, std::string_view building_python,
                   const pep::WheelName& claimed) {
  Judge judge(building_python, claimed);
  for (const ElfFacts& file : files) judge.see(file);
  return judge.verdict();
}

}  // namespace wheelsmith::wheel
