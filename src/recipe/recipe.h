#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_tree.h"
#include "document/value.h"
#include "gpu/arch.h"
#include "gpu/code/expected_code.h"
#include "pep/requirement.h"

// A recipe describes in TOML how one package is fetched, patched, built, checked and tested, per variant. All
// package-specific build knowledge is in recipes. docs/recipes.md describes each key.
//
// Texts may hold {placeholders} (see expand()): {version}, {archs}, {python}, {source}, {tree}, {env}, {toolkit},
// {torch.version}, {torch.cuda}, {jobs}, {platform}, {build-type}, {variant}, {target}, {label} (cpu, cu130, rocm),
// {set.NAME}, {fetch.NAME} and more (known_placeholders()); "{{" is a brace.

namespace wheelsmith::recipe {

enum class Variant : std::uint8_t { cpu, cuda, rocm };
std::string_view to_string(Variant variant);
std::optional<Variant> variant_named(std::string_view name);

struct Source {
  enum class Kind : std::uint8_t { sdist, folder, git, program } kind = Kind::sdist;
  std::string project;  // sdist: its name on the package index
  std::string version;  // sdist: the version or specifiers ("2.8.3.post2", ">=2.1"); "" is the newest
  std::string folder;   // folder: relative to the recipe's file; embedded recipes: below examples/
  std::string url;      // git
  std::string ref;      // git
  std::optional<std::vector<std::string>> submodules;  // git: those the build needs; nothing: all
  std::string subfolder;                               // where pyproject.toml or setup.py is, below the source
  std::vector<std::string> other_subfolders;           // where it is in versions that have none there
  std::vector<std::string> patches;                    // file names relative to the recipe, applied in order with -p1
  std::string version_file;                            // git: the file that contains the version; "" for tags only
  std::string tag_prefix;                              // git: a tag is this and the version
  std::map<std::string, std::string> refs;             // git: torch's MAJOR.MINOR -> the ref that belongs to it
  // The same for one variant, where its pairs differ: variant -> MAJOR.MINOR -> ref.
  std::map<std::string, std::map<std::string, std::string>> refs_for;
  std::string checked;  // specifiers: the versions whose rules were compared with the package's sources

  // Another recipe's checkout decides the commit: its related_commits or its pin files.
  struct PinnedBy {
    std::string recipe, record;
    std::vector<std::string> files;
    bool unless_release = false;  // at a release of the other recipe `refs` decide, not the files
  } pinned_by;

  // Which origin and which patches belong to which refs; the first match is used.
  struct Family {
    std::vector<std::string> refs;  // shell patterns
    std::string git, patchset, why;
    std::vector<std::string> variants;  // empty: all
  };
  std::vector<Family> families;
  [[nodiscard]] const Family* family(std::string_view wanted_ref, std::string_view variant) const;
};

enum class ArchSpelling : std::uint8_t { dotted, compact, cmake, sm, gfx };
// dotted "8.0;9.0a+PTX" (torch), compact "80;90a" (flash-attention), cmake "80-real;90a-real;100-virtual", sm
// "sm_80,sm_90a", gfx "gfx942;gfx1151".

// What a package does with target features ("gfx942:sramecc+:xnack-"): many compare names exactly and drop or reject
// those. A GPU's own features are named only where they are wanted.
enum class ArchFeatures : std::uint8_t { accepted, refused, wanted };

struct ArchRules {
  std::string variable;  // environment variable that takes the list; "" for none (then {archs} stands somewhere)
  ArchSpelling spelling = ArchSpelling::dotted;
  std::string separator = ";";
  std::string fallback;  // the list if the user names none and the machine has no GPU
  std::vector<std::string>
      legal;          // architectures the package can be built for, as written ("8.0", "gfx942"); empty: all
  std::string fixed;  // the package compiles for this list, whatever is requested; "" if it can be chosen
  bool ptx = true;    // whether "+PTX" can be expressed
  // The suffixes that a legal number stands for too: with "a", 9.0 in `legal` admits 9.0a.
  std::vector<std::string> suffixes;
  ArchFeatures features = ArchFeatures::accepted;
};

// A build requirement with the reason where it must not come from pip.
struct Dependency {
  std::string recipe;       // another recipe, built as a step of its own …
  std::string requirement;  // … or a published wheel ("torch>=2.6")
  std::string why;
  std::string target{};             // of the recipe
  std::string published{};          // a project whose published wheel is preferred to building it …
  std::string published_version{};  // … of the version that this file of the source says
  bool optional = false;            // its failure or refusal stops nothing
  bool companion = false;           // built before and delivered with it, but no part of its build environment
};

// Which part of a repository a variant needs, and what is done to it before it is compiled.
struct Checkout {
  std::optional<std::vector<std::string>> submodules;  // nothing: all
  std::string hipify;                                  // a Python script below the source
  bool commit_hipify = true;
};

// Repositories that the package's own CMake would clone at configure time; fetched before, by commit and through
// mirrors.
struct Fetch {
  std::string name, git, ref;
  std::string ref_file, ref_pattern;  // where the source itself says the ref: an expression whose group 1 it is
  std::string variable, subfolder, why;
  std::optional<std::vector<std::string>> submodules;
};

// ROCm libraries that must be loaded before the package's own; the module that does it is generated.
struct Preload {
  std::string module;
  std::vector<std::string> libraries;
  // Where the SDK itself lists the names that it knows: a file below site-packages, and an expression whose group 1 is
  // a name. An unknown name makes the import of the package fail.
  std::string names_file, names_pattern;
};

// A value read from the pinned source when a step is planned, instead of being copied.
struct ReadRule {
  enum class What : std::uint8_t { archs, torch, cxx_standard, gcc, cmake } what = What::archs;
  std::string file, pattern;  // pattern: an expression whose group 1 is the value
};

struct Prepare {
  std::vector<std::string> command;
  std::string why;
  // It downloads what the build then uses without network (crates, Go modules, Meson's subprojects).
  bool network = false;
};

// A text of a source file that is replaced before the build, everywhere in that file. It becomes one of the `prepare`
// commands; where the text is not there, that command fails or warns, so that no edit is silently without effect.
struct Edit {
  std::string file, from, to, why;
  bool required = true;  // else a missing text is a warning
};

// Architectures that a package cannot be built for, and the setting that overrides this.
struct Refusal {
  std::vector<std::string> archs;  // shell patterns; empty: always
  std::string why, override_by;

  [[nodiscard]] std::vector<std::string> hits(const gpu::ArchList& list) const;  // which of them
  // Its setting is neither empty nor a no.
  [[nodiscard]] bool is_overridden(const std::map<std::string, std::string>& settings) const;
};

// A variable that matters when the package runs.
struct RuntimeVariable {
  std::string variable, value, why;
};

// One item of the checklist that is printed at the end of a build.
struct ChecklistItem {
  std::string id, why, fix;
  std::string program, not_from;       // a program that is in use, and where it must not come from
  std::vector<std::string> command;    // a program of the environment that must succeed
  std::vector<std::string> installed;  // distributions
  std::vector<std::string> variables;  // set while it was built
  std::vector<std::string> folders;    // there
  std::vector<std::string> wheels;     // in the wheelhouse
};

// Rules for another operating system: shown by plan, because builds run on Linux.
struct OtherPlatform {
  struct Rule {
    std::string id, what, why, fix;
  };
  std::string match, tag;  // a shell pattern of --platform; the tag that wheels get
  std::vector<Rule> rules;
  std::vector<std::pair<std::string, std::string>> environment;
};

// A part that may be missing from the result, and why that is not a failure.
struct OptionalPart {
  std::string name;
  std::string member;  // shell pattern of the members of that part
  std::string why;
};

// A path or device that a sandbox is opened for.
struct OpenPath {
  std::string path;
  bool write = false;
  std::string why;
};

struct Test {
  std::string name;
  std::vector<std::string> imports;    // modules that must import
  std::string script;                  // Python text
  std::vector<std::string> command;    // or argv after the interpreter: ["-m", "texture", "--self-test"]
  std::vector<std::string> requires_;  // requirements of the test environment besides the wheel and its own
  std::vector<std::string> files;      // of the source, copied into the folder where it starts
  bool gpu = false;                    // without a GPU of the variant's kind it is "not run"
  bool network = false;                // it may reach the network
  std::string network_why;
  std::vector<OpenPath> open;
};

struct Checks {
  std::vector<std::string> symbols;     // must be exported
  std::vector<std::string> members;     // shell patterns, each must match a member
  std::vector<std::string> no_members;  // must match none
  std::vector<std::string> provided;    // libraries (shell patterns) that are provided at run time
  std::vector<std::pair<std::string, std::string>> accepted;  // finding id, and the reason why it is accepted
  std::optional<std::uint64_t> max_size;
  bool archs = true;                    // false for packages without device code of their own
  std::vector<gpu::ExpectedCode> code;  // the first entry that matches a library applies to it
};

// Whether, and how, libraries of the build machine are copied into the wheel.
struct RepairRules {
  bool enabled = false;
  std::vector<std::string> exclude;  // libraries (shell patterns) that stay outside, besides Checks::provided
  std::vector<std::string> graft;    // libraries that are loaded by name at run time
  bool strip = false;
};

// What the package is known to need; for doctor and for forecasts without history.
struct Estimate {
  double seconds = 0;                // CPU seconds of one architecture
  double seconds_per_arch = 0;       // more for each further one
  std::uint64_t memory_per_job = 0;  // bytes
  std::uint64_t disk = 0;
  std::uint64_t wheel_size = 0;           // of one architecture
  std::uint64_t wheel_size_per_arch = 0;  // more for each further one
};

// A library that must be installed before anything is compiled.
struct RequiredLibrary {
  std::string name, specifiers;  // "cudnn", ">=8.5"
  std::string place;             // "{set.cudnn-root}": where the user says that it is; "" or empty: it is looked for
};

// The limits of versions that the package sets itself.
struct Requires {
  std::string python;  // specifiers
  std::string torch;   // specifiers; "" when it does not use torch
  bool uses_torch = false;
  std::string torch_series;                   // MAJOR.MINOR that the source itself names ([[read]]); another may fail
  std::string cuda, rocm, cmake, gcc, clang;  // specifiers
  bool needs_rocm = true;                     // variant rocm: to be built, not only to run
  int cxx_standard = 0;                       // 17, 20; 0: not known
  std::vector<std::string> programs;          // "ninja", "git", "cmake"
  std::vector<RequiredLibrary> libraries;     // each once

  [[nodiscard]] const RequiredLibrary* library(std::string_view name) const;  // null for one that is not required
};

// Everything about building one variant and target, after the tables for all variants, the variant's and the target's
// have been overlaid.
struct Rules {
  enum class Backend : std::uint8_t { pep517, setup_py, program } backend = Backend::pep517;
  std::vector<std::pair<std::string, std::string>> environment;  // sorted by name
  std::vector<std::pair<std::string, std::string>> config;       // PEP 517 config settings (a key may repeat)
  std::vector<std::string> options;                              // arguments of setup.py bdist_wheel
  std::vector<std::string> requires_;                            // build requirements besides pyproject's
  std::vector<std::string> drop_requires;  // names in pyproject's list that must not come from pip
  std::vector<std::pair<std::string, std::string>> not_from_pip;  // the same with the reason; programs of the machine
  std::string project;           // the distribution's name where the variant has one of its own
  std::string version_variable;  // the variable of `environment` that gives the wheel its version
  std::vector<std::pair<std::string, std::string>> append;  // behind what a variable holds already
  std::vector<Edit> edits;
  std::vector<Prepare> prepare;  // commands in the source before the backend is called; the edits come first
  std::vector<std::pair<std::string, std::string>> files;  // written into the source before: path, text
  bool network = false;                                    // may reach the network while it compiles
  std::string network_why;
  std::vector<OpenPath> open;                     // to prepare commands and the backend
  bool cache = true;                              // its compiles may come from the compile cache
  std::string cache_why;                          // they may not
  std::vector<std::string> clean;                 // globs below the source that are removed first (stale build folders)
  std::map<std::string, std::string> build_type;  // release/debug/… to the value of {build-type}
  std::vector<std::pair<std::string, std::string>> verbose;  // variables that --verbose sets
  ArchRules archs;
  std::vector<Dependency> needs;
  std::vector<OptionalPart> optional;
  Requires requires_versions;
  Checks checks;
  RepairRules repair;
  std::vector<Test> tests;
  Estimate known;
  Checkout checkout;
  std::vector<Fetch> fetches;
  Preload preload;
  std::vector<ReadRule> reads;
  std::vector<Refusal> refusals;
  std::vector<RuntimeVariable> runtime;
  std::vector<ChecklistItem> checklist;
  std::vector<OtherPlatform> platforms;
};

// The inputs of [[when]] conditions. Unknown inputs fulfil no condition.
struct Conditions {
  std::string ref, version, python, platform, machine, build_type;
  std::string compiler_family, compiler_version;
  std::optional<std::string> torch, cuda, rocm;
  std::vector<std::string> archs;  // "9.0a", "gfx1151"
  std::vector<std::string> needs;  // recipes that are built before
  std::map<std::string, std::string> settings;
};

struct Setting {  // what --set NAME=VALUE may change
  std::string name, help, fallback;
  std::vector<std::string> choices;  // empty: any text
};

class Recipe {
 public:
  // The option that builds a refused combination anyway; "" if there is none.
  [[nodiscard]] std::string override_words(const Refusal& refusal) const;

  std::string name;     // the name that users type
  std::string project;  // the distribution's name; usually the same
  std::string summary;
  std::string origin;                    // "built in", a file's path, or "inferred"
  std::vector<std::string> assumptions;  // of an inferred one, as sentences
  Source source;
  std::vector<Setting> settings;

  // "" is the target of recipes that have none.
  [[nodiscard]] std::vector<Variant> variants() const;
  [[nodiscard]] std::vector<std::string> targets(Variant variant) const;
  // Throws Error that names what is legal (and the nearest).
  [[nodiscard]] const Rules& rules(Variant variant, const std::string& target = "") const;

  // Whether [[when]] tables may change the rules of that variant and target.
  [[nodiscard]] bool depends_on_conditions(Variant variant, const std::string& target) const;
  // The recipe for one variant and target overlaid with the [[when]] tables that apply; their reasons are added to
  // `reasons`.
  [[nodiscard]] Recipe resolved_for(Variant variant, const std::string& target, const Conditions& conditions,
                                    std::vector<std::string>& reasons) const;

  // The same recipe with what its [[read]] rules find in the source (see apply_reads); it must be resolved_for() this
  // variant and target.
  [[nodiscard]] Recipe with_reads(Variant variant, const std::string& target,
                                  const std::function<std::optional<std::string>(const std::string&)>& text_of,
                                  std::vector<std::string>& notes) const;

  // As TOML, extensions merged; what `recipe show` and `recipe init` print.
  [[nodiscard]] std::string to_toml() const;
  // The whole of it as one value; what is hashed into keys (the part for one variant and target).
  [[nodiscard]] document::Value expanded(Variant variant, const std::string& target) const;

  document::Table document;  // merged; tables of variants are still in it
  std::map<std::pair<Variant, std::string>, Rules> all_rules;
};

// Throws Error "FILE:LINE: unknown key bakend; did you mean backend?".
Recipe parse_recipe(std::string_view toml, std::string_view file_name);

// What fills the placeholders. Throws Error for one that is not known, with the nearest.
std::string expand(std::string_view text, const std::map<std::string, std::string>& values);

// The list as the package wants it spelled. Throws Error for what cannot be expressed (a gfx name in "dotted", PTX
// where the rules have none).
std::string spell(const gpu::ArchList& archs, const ArchRules& rules);
// Throws Error that names the architectures that are not legal, and which are.
void check_legal(const gpu::ArchList& archs, const ArchRules& rules, std::string_view package);

// The architectures to build for so that the code runs on these devices.
struct Serving {
  gpu::ArchList archs;
  std::vector<std::string> notes;     // "8.0 code runs on RTX 3090 (8.6): ..."
  std::vector<std::string> unserved;  // devices that nothing the package can be built for runs on
};
Serving archs_for_devices(const std::vector<gpu::Device>& devices, const ArchRules& rules);

// All recipes there are: those inside the program, and the .toml files of the user's folders, which replace those of
// the same name or extend them (`extends`).
class Library {
 public:
  struct File {
    std::string path, text;
  };
  // Later files win. Recipes that extend each other in a circle are an Error.
  explicit Library(const std::vector<File>& users = {});

  [[nodiscard]] std::vector<std::string> names() const;  // sorted
  // Null when there is none. Names are compared as PEP 503 does.
  [[nodiscard]] const Recipe* find(std::string_view name) const;
  // Throws Error for those that could not be read; `names()` leaves them out.
  [[nodiscard]] const std::map<std::string, std::string>& broken() const { return m_broken; }

 private:
  std::map<std::string, Recipe> m_recipes;
  std::map<std::string, std::string> m_broken;  // name or path -> what is wrong
};

// torch's MAJOR.MINOR -> the ref that belongs to it, for one variant where its pairs differ.
std::map<std::string, std::string> torch_pairs(const Source& source, std::optional<Variant> variant);
// The text of a file of the source, by its path from the root; nothing if it does not exist.
using TextReader = std::function<std::optional<std::string>(const std::string& path)>;
// Where the package is below its source: `subfolder`, or, if that has none, the first of the others that has one.
std::string package_folder(const Source& source, const TextReader& text);

// Which ref belongs to a torch, by its MAJOR.MINOR. Throws Error that names the nearest pairs where none does.
std::string ref_for_torch(const Recipe& recipe, std::optional<Variant> variant, std::string_view series);
// The torch that a ref, or another release of the same MAJOR.MINOR, belongs to; the newest of several, "" for none.
std::string torch_for_ref(const Recipe& recipe, std::optional<Variant> variant, std::string_view ref);
// Whether that ref, or another release of the same MAJOR.MINOR, is paired with this torch; so is one of no known pair.
bool is_paired(const Recipe& recipe, std::optional<Variant> variant, std::string_view ref, std::string_view series);

// Why the rules may not fit this version: it is outside the range that the recipe was compared with. "" if it is
// inside, or if the recipe does not state a range.
std::string unchecked_reason(const Recipe& recipe, std::string_view version);

// What is wrong with an edit of this text of its file (nothing: there is no such file); "" for one that changes it or
// has been made.
std::string edit_problem(const Edit& edit, const std::optional<std::string>& text);

// Replaces what the source says itself. `text_of` returns a file of the source, or nothing. Of several rules about one
// thing the first that finds something counts; where none does, and where a value differs from the recipe's, a
// sentence is added to `notes`.
void apply_reads(Rules& rules, const std::function<std::optional<std::string>(const std::string&)>& text_of,
                 std::vector<std::string>& notes);

// The libraries to preload of those that the SDK's own list (the text of `names_file`) knows.
std::vector<std::string> known_to_sdk(const Preload& preload, std::string_view names_text,
                                      std::vector<std::string>& notes);

// What can be seen of a source without running it.
struct SourceFacts {
  std::string name, version;           // PKG-INFO or pyproject
  std::string backend;                 // build-backend of pyproject; "" for none
  std::vector<std::string> requires_;  // build-system.requires
  std::string requires_python;
  bool has_pyproject = false, has_setup_py = false, has_cmake = false;
  bool uses_torch = false;            // setup.py or pyproject mention torch
  bool uses_torch_extension = false;  // torch.utils.cpp_extension
  bool has_cuda_sources = false, has_hip_sources = false;
  std::vector<std::string> imports;               // top-level modules that it seems to contain
  std::vector<std::string> setup_imports;         // modules that setup.py imports at its top
  std::vector<std::string> arch_variables;        // "TORCH_CUDA_ARCH_LIST", "FORCE_CUDA", … seen in its text
  std::string arch_example;                       // "80;90": a list as setup.py writes it behind such a variable
  bool compares_with_true = false;                // setup.py takes the word TRUE for yes
  std::vector<std::string> required_variables;    // setup.py reads them and fails where they are not set
  std::vector<std::string> cargo_manifests;       // Cargo.toml of each workspace or lone crate, by its path
  std::vector<std::string> cargo_locks;           // folders that have a Cargo.lock, "" for the first one
  bool has_go_module = false, has_wraps = false;  // go.mod; subprojects/*.wrap
};
// Reads PKG-INFO, pyproject.toml and setup.py as texts; runs nothing.
SourceFacts read_source(const FileTree& source);
// A recipe for a package that has none; what it assumed is in its `assumptions`.
Recipe infer(const SourceFacts& facts);

}  // namespace wheelsmith::recipe
