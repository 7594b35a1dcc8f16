// Identifies a C++ compiler. Its banner is made for users and translated; its predefined macros are made for programs
// and cannot be wrong without breaking every header. The newest standard is tested rather than looked up: a clang
// without a recent libstdc++ beside it accepts -std=c++23 and then finds no <expected>.

#include <fmt/format.h>

#include <array>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "sys/file.h"
#include "toolchain/ask.h"
#include "toolchain/compiler_choice.h"
#include "toolchain/description.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

struct StandardProof {
  int standard;
  std::array<std::string_view, 2> flags;  // the final spelling and the draft one
  std::string_view source;
};

constexpr std::array<StandardProof, 5> k_proofs = {{
    {23,
     {"-std=c++23", "-std=c++2b"},
     "#include <version>\n#include <utility>\n#include <expected>\n"
     "constexpr int f() { if consteval { return 1; } else { return 2; } }\n"
     "enum class E { a = 3 }; static_assert(f() == 1 && std::to_underlying(E::a) == 3);\n"},
    {20,
     {"-std=c++20", "-std=c++2a"},
     "#include <version>\n#include <concepts>\n#include <span>\n#include <compare>\n"
     "template <std::integral T> consteval T twice(T t) { return t + t; }\n"
     "struct S { int a; auto operator<=>(const S&) const = default; };\n"
     "static_assert(twice(2) == 4 && S{.a = 1} < S{.a = 2});\n"},
    {17,
     {"-std=c++17", "-std=c++1z"},
     "#include <optional>\n#include <string_view>\n"
     "template <class T> int f(T) { if constexpr (sizeof(T) == 1) return 1; return 2; }\n"
     "inline int g() { auto [a, b] = std::make_pair(1, 2); return a + b + f('c'); }\n"},
    {14, {"-std=c++14", "-std=c++1y"}, "#include <utility>\nauto f = [](auto x) { return x; };\n"},
    {11, {"-std=c++11", "-std=c++0x"}, "#include <type_traits>\nauto f = [] { return nullptr; };\n"},
}};

class Interview {
 public:
  Interview(fs::path cxx, const Host& where) : m_cxx(std::move(cxx)), m_where(where) {}

  std::optional<Answer> answer() {
    if (!read_macros()) return std::nullopt;
    const std::string target(trim(one("-dumpmachine")));
    m_facts["target"] = printable(target);
    m_facts["newest_standard"] = newest_standard();
    m_facts["sysroot"] = std::string(trim(one("-print-sysroot")));
    for (const std::string_view name : {"cc1", "cc1plus", "collect2", "lto1", "lto-wrapper", "as", "ld"}) {
      const std::string path(trim(one(fmt::format("-print-prog-name={}", name))));
      m_programs[name] = path;
      if (path.starts_with('/')) m_files.emplace_back(path);
    }
    m_facts["programs"] = m_programs;
    read_libraries();
    read_runtime();
    m_files.push_back(m_cxx);
    m_files.push_back(real_path(m_cxx));
    return Answer{std::move(m_facts), std::move(m_files)};
  }

 private:
  std::vector<std::string> call(std::initializer_list<std::string_view> arguments) const {
    std::vector<std::string> argv = {m_cxx.string()};
    if (!m_where.sysroot.empty()) argv.push_back("--sysroot=" + m_where.sysroot.string());
    for (const std::string_view argument : arguments) argv.emplace_back(argument);
    return argv;
  }
  std::string one(std::string_view flag) const {
    const Reply reply = ask(call({flag}), m_where);
    return reply.good && is_valid_utf8(reply.output) ? reply.output : std::string();
  }

  bool read_macros() {
    const std::vector<std::string> argv = call({"-dM", "-E", "-x", "c++", "-"});
    Reply reply = ask(argv, m_where, "#include <cstddef>\n");
    // A clang without a C++ library is still a compiler; the missing library is a separate fact.
    if (!reply.good) reply = ask(argv, m_where, "\n");
    if (!reply.good) return false;
    std::map<std::string_view, std::string_view> macros;
    for (std::string_view line : lines(reply.output)) {
      if (!line.starts_with("#define ")) continue;
      line.remove_prefix(8);
      const std::size_t blank = line.find(' ');
      if (blank != std::string_view::npos) macros[line.substr(0, blank)] = trim(line.substr(blank));
    }
    const auto number = [&](std::string_view name) { return to_number(macros[name]).value_or(0); };
    const bool clang = macros.count("__clang__") != 0;
    if (!clang && macros.count("__GNUC__") == 0) return false;
    m_facts["family"] = clang ? "clang" : "gcc";
    m_facts["version"] =
        clang ? fmt::format("{}.{}.{}", number("__clang_major__"), number("__clang_minor__"),
                            number("__clang_patchlevel__"))
              : fmt::format("{}.{}.{}", number("__GNUC__"), number("__GNUC_MINOR__"), number("__GNUC_PATCHLEVEL__"));
    m_facts["standard_library"] = macros.count("_LIBCPP_VERSION") != 0 ? "libc++"
                                  : macros.count("__GLIBCXX__") != 0   ? "libstdc++"
                                                                       : "";
    return true;
  }

  int newest_standard() const {
    for (const StandardProof& proof : k_proofs) {
      for (const std::string_view flag : proof.flags) {
        if (ask(call({flag, "-fsyntax-only", "-x", "c++", "-"}), m_where, proof.source).good) return proof.standard;
      }
    }
    return 0;
  }

  void read_libraries() {
    const std::string library(trim(one("-print-file-name=libstdc++.so.6")));
    std::string c_library(trim(one("-print-file-name=libc.so.6")));
    if (!m_where.sysroot.empty()) c_library = c_library_of_sysroot().string();
    if (library.starts_with('/')) m_facts["glibcxx"] = newest_definition(library, "GLIBCXX_");
    if (c_library.starts_with('/')) m_facts["glibc"] = newest_definition(c_library, "GLIBC_");
    for (const std::string& file : {library, c_library}) {
      if (file.starts_with('/')) m_files.emplace_back(file);
    }
  }

  // A wrapper that finds only libstdc++.a silently links a copy into each library. The NEEDED entries of a test library
  // show it.
  void read_runtime() {
    const std::string runtime = runtime_of(m_cxx);
    m_facts["runtime"] = runtime;
    if (runtime != "static") return;
    for (const std::string_view name : {"g++", "c++", "clang++"}) {
      std::vector<fs::path> others = programs_in_path(name, m_where);
      others.push_back(on_machine(m_where, "usr/bin") / name);
      for (const fs::path& other : others) {
        if (other == m_cxx || !is_program(other) || runtime_of(other) != "shared") continue;
        m_facts["other_cxx"] = other.string();
        m_files.push_back(other);
        return;
      }
    }
  }

  std::string runtime_of(const fs::path& cxx) const {
    constexpr std::string_view k_source =
        "#include <stdexcept>\n#include <string>\n"
        "int probe(int n) { if (n > 1) throw std::runtime_error(std::to_string(n)); return n; }\n";
    try {
      const sys::TempDir folder;
      const fs::path library = folder.path() / "probe.so";
      std::vector<std::string> argv = call({"-shared", "-fPIC", "-x", "c++", "-", "-o", library.string()});
      argv.front() = cxx.string();
      if (!ask(argv, m_where, k_source).good) return "";
      const Blob file = sys::map_file(library);
      for (const std::string_view needed : elf::ElfFile::parse(file.bytes).dynamic.needed) {
        if (needed.starts_with("libstdc++.so") || needed.starts_with("libc++.so")) return "shared";
      }
      return "static";
    } catch (const Error&) {
      return "";  // no disk space, or the output is not an ELF file
    }
  }

  fs::path c_library_of_sysroot() const {
    const std::string target = document::Value(m_facts)["target"].text_or();
    for (const fs::path& folder : {fs::path("lib64"), fs::path("lib") / target, fs::path("lib"), fs::path("usr/lib64"),
                                   fs::path("usr/lib") / target, fs::path("usr/lib")}) {
      if (is_there(m_where.sysroot / folder / "libc.so.6")) return m_where.sysroot / folder / "libc.so.6";
    }
    return {};
  }

  fs::path m_cxx;
  const Host& m_where;
  document::Table m_facts, m_programs;
  std::vector<fs::path> m_files;
};

// A driver that finds no as or ld of its own prints the bare name, and uses the one in PATH.
fs::path sub_program(const std::string& answer, const Host& where) {
  if (answer.starts_with('/')) return answer;
  const std::vector<fs::path> found = programs_in_path(answer, where);
  return found.empty() ? fs::path() : found.front();
}

}  // namespace

std::optional<Compiler> find_compiler(const Host& where) {
  if (where.described) return find_described_compiler(where);
  const std::optional<CompilerChoice> choice = choose_compiler(where);
  if (!choice) return std::nullopt;
  const std::string fingerprint =
      combined_digest({fingerprint_of(choice->cxx), fingerprint_of(where.sysroot), variable(where, "PATH"),
                       variable(where, "GCC_EXEC_PREFIX"), variable(where, "COMPILER_PATH"), variable(where, "CPATH"),
                       variable(where, "CPLUS_INCLUDE_PATH"), variable(where, "LIBRARY_PATH")});
  const std::string subject = choice->cxx.string() + (where.sysroot.empty() ? "" : " " + where.sysroot.string());
  std::optional<document::Table> table =
      remembered("compiler-2", subject, fingerprint, where, [&] { return Interview(choice->cxx, where).answer(); });
  if (!table) {
    if (choice->origin != Origin::setting) return std::nullopt;
    throw Error(fmt::format("{} does not behave like a C++ compiler (GCC or Clang)", printable(choice->cxx.string())));
  }
  const document::Value facts(std::move(*table));
  Compiler compiler;
  compiler.cc = choice->cc;
  compiler.cxx = choice->cxx;
  compiler.origin = choice->origin;
  compiler.family = facts["family"].text_or();
  compiler.version = facts["version"].text_or();
  compiler.target = facts["target"].text_or();
  compiler.newest_standard = static_cast<int>(facts["newest_standard"].integer_or(0));
  compiler.glibcxx = facts["glibcxx"].text_or();
  compiler.glibc = facts["glibc"].text_or();
  compiler.standard_library = facts["standard_library"].text_or();
  compiler.runtime = facts["runtime"].text_or();
  compiler.other_cxx = facts["other_cxx"].text_or();
  compiler.sysroot = where.sysroot.empty() ? fs::path(facts["sysroot"].text_or()) : where.sysroot;
  if (compiler.sysroot == "/") compiler.sysroot.clear();
  if (!compiler.cc.empty()) add_program_digests(compiler.digests, "cc", compiler.cc, where);
  add_program_digests(compiler.digests, "cxx", compiler.cxx, where);
  if (const document::Table* programs = facts["programs"].table()) {
    for (const auto& [name, answer] : *programs) {
      add_program_digests(compiler.digests, "cc/" + name, sub_program(answer.text_or(), where), where);
    }
  }
  return compiler;
}

}  // namespace wheelsmith::toolchain
