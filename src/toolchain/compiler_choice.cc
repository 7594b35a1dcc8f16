// The order goes from the user's choice to what is available: a setting, CC and CXX, the active conda environment where
// it is the toolchain, then PATH. C and C++ compiler are a pair: if one is given, the other is its counterpart beside
// it, since two families in one build end up with two C++ libraries. CC may contain more than a path ("ccache gcc",
// "gcc -m64"), and a name may be a wrapper: in /usr/lib/ccache every compiler is ccache, which searches the rest of
// PATH for the real one.

#include "toolchain/compiler_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "toolchain/ask.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 5> k_masks = {"ccache", "sccache", "distcc", "icecc", "buildcache"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> k_pairs = {
    {{"clang", "clang++"}, {"gcc", "g++"}, {"cc", "c++"}}};

bool is_mask_name(std::string_view name) { return std::find(k_masks.begin(), k_masks.end(), name) != k_masks.end(); }

bool is_mask(const fs::path& program) {
  if (is_mask_name(real_path(program).filename().string())) return true;
  // Some distributions install scripts instead of links.
  const std::string head = is_script(program) ? head_of(program, 4096) : "";
  return head.find("ccache ") != std::string::npos && head.size() < 4096;
}

// The first program of that name in PATH that is a compiler and not a wrapper.
std::optional<fs::path> unmasked(std::string_view name, const Host& where) {
  for (const fs::path& program : programs_in_path(name, where)) {
    if (!is_mask(program)) return program;
  }
  return std::nullopt;
}

// The program in a setting: "ccache g++ -m64" is g++.
std::string_view program_word(std::string_view setting) {
  for (const std::string_view word : split(setting, ' ')) {
    if (!trim(word).empty() && !is_mask_name(base_name(word))) return trim(word);
  }
  return {};
}

fs::path named(std::string_view setting, std::string_view name_of_setting, const Host& where) {
  const std::string_view word = program_word(setting);
  if (word.find('/') != std::string_view::npos) {
    std::error_code error;
    const fs::path path = fs::absolute(fs::path(word), error).lexically_normal();
    if (is_program(path)) {
      if (!is_mask(path)) return path;
      if (std::optional<fs::path> behind = unmasked(base_name(word), where)) return *behind;
    }
  } else if (std::optional<fs::path> found = unmasked(word, where)) {
    return *found;
  }
  throw Error(fmt::format("{} is set to '{}', but there is no such compiler; correct or remove the setting",
                          name_of_setting, printable(setting)));
}

// The counterpart beside the program, otherwise in PATH; empty if neither.
fs::path partner(const fs::path& program, const std::string& name, const Host& where) {
  if (name.empty()) return {};
  if (is_program(program.parent_path() / name) && !is_mask(program.parent_path() / name)) {
    return program.parent_path() / name;
  }
  return unmasked(name, where).value_or(fs::path());
}

std::string exchange(std::string_view name, bool to_cxx) {
  for (const auto& [c, cxx] : k_pairs) {
    const std::string_view from = to_cxx ? c : cxx, to = to_cxx ? cxx : c;
    const std::size_t at = name.rfind(from);
    if (at == std::string_view::npos) continue;
    const std::string_view before = name.substr(0, at), after = name.substr(at + from.size());
    if (!before.empty() && !before.ends_with('-')) continue;
    if (!after.empty() && !after.starts_with('-')) continue;
    return fmt::format("{}{}{}", before, to, after);
  }
  return {};
}

std::optional<CompilerChoice> from_settings(const Host& where) {
  const std::string cc = where.cc.empty() ? variable(where, "CC") : where.cc;
  const std::string cxx = where.cxx.empty() ? variable(where, "CXX") : where.cxx;
  if (program_word(cc).empty() && program_word(cxx).empty()) return std::nullopt;
  CompilerChoice choice;
  choice.origin = Origin::setting;
  // One setting on the command line overrides both variables: a pair has one family.
  const bool cc_counts = !program_word(cc).empty() && (!where.cc.empty() || where.cxx.empty());
  const bool cxx_counts = !program_word(cxx).empty() && (!where.cxx.empty() || where.cc.empty());
  if (cxx_counts) choice.cxx = named(cxx, "the C++ compiler (cxx, CXX)", where);
  if (cc_counts) choice.cc = named(cc, "the C compiler (cc, CC)", where);
  if (choice.cxx.empty()) choice.cxx = partner(choice.cc, cxx_name_of(choice.cc.filename().string()), where);
  if (choice.cxx.empty()) {
    throw Error(fmt::format("the C compiler is {}, but there is no C++ compiler beside it; set cxx or CXX",
                            printable(choice.cc.string())));
  }
  if (choice.cc.empty()) choice.cc = partner(choice.cxx, cc_name_of(choice.cxx.filename().string()), where);
  return choice;
}

std::optional<CompilerChoice> from_conda(const Host& where) {
  const fs::path folder = fs::path(variable(where, "CONDA_PREFIX")) / "bin";
  if (!folder.is_absolute()) return std::nullopt;
  std::vector<std::string> names = names_in(folder);
  for (const std::string_view ending : {"-linux-gnu-c++", "-linux-gnu-g++", "-linux-gnu-clang++", "clang++", "g++"}) {
    for (const std::string& name : names) {
      if (!name.ends_with(ending) || !is_program(folder / name)) continue;
      return CompilerChoice{partner(folder / name, cc_name_of(name), where), folder / name, Origin::conda};
    }
  }
  return std::nullopt;
}

std::optional<CompilerChoice> from_path(const Host& where) {
  const auto found = [&](const fs::path& cxx) {
    const fs::path conda = variable(where, "CONDA_PREFIX");
    return CompilerChoice{partner(cxx, cc_name_of(cxx.filename().string()), where), cxx,
                          lies_in(cxx, conda) ? Origin::conda : Origin::system};
  };
  for (const std::string_view name : {"c++", "g++", "clang++"}) {
    if (const std::optional<fs::path> cxx = unmasked(name, where)) return found(*cxx);
  }
  // A machine that only has clang++-19 does have a compiler.
  for (const std::string_view stem : {"g++-", "clang++-"}) {
    fs::path best;
    std::uint64_t newest = 0;
    for (const fs::path& folder : path_folders(where)) {
      for (const std::string& name : names_in(folder)) {
        if (!name.starts_with(stem)) continue;
        const std::uint64_t version = to_number(std::string_view(name).substr(stem.size())).value_or(0);
        if (version <= newest || !is_program(folder / name) || is_mask(folder / name)) continue;
        newest = version;
        best = folder / name;
      }
    }
    if (!best.empty()) return found(best);
  }
  return std::nullopt;
}

}  // namespace

std::string cxx_name_of(std::string_view cc_name) { return exchange(cc_name, true); }
std::string cc_name_of(std::string_view cxx_name) { return exchange(cxx_name, false); }

std::optional<CompilerChoice> choose_compiler(const Host& where) {
  if (std::optional<CompilerChoice> choice = from_settings(where)) return choice;
  if (where.use_conda) {
    if (std::optional<CompilerChoice> choice = from_conda(where)) return choice;
    throw Error(
        "use_conda is set, but the active conda environment has no C++ compiler; install one "
        "(conda install -c conda-forge gxx_linux-64) or remove use_conda");
  }
  return from_path(where);
}

}  // namespace wheelsmith::toolchain
