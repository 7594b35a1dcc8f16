#include "wheel/check/symbols/symbol_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_undefined = 20;  // findings per file; the rest are counted
constexpr std::size_t k_examples = 3;

// "GLIBCXX_3.4.30" is the family "GLIBCXX" and the numbers 3, 4, 30.
std::string_view family_of(std::string_view version) { return version.substr(0, version.rfind('_')); }

std::vector<std::uint64_t> numbers_of(std::string_view version) {
  std::vector<std::uint64_t> numbers;
  for (const std::string_view part : split(version.substr(version.rfind('_') + 1), '.')) {
    numbers.push_back(to_number(part).value_or(0));
  }
  return numbers;
}

// The highest version of the same family, or "" if it has none.
std::string highest_like(const std::string& version, const std::vector<std::string>& provided) {
  std::string highest;
  for (const std::string& candidate : provided) {
    if (family_of(candidate) != family_of(version)) continue;
    if (highest.empty() || numbers_of(highest) < numbers_of(candidate)) highest = candidate;
  }
  return highest;
}

std::string examples(const std::vector<std::string_view>& names) {
  std::vector<std::string> shown;
  for (const std::string_view name : names) {
    shown.push_back(shown.size() < k_examples ? readable(name) : std::string());
  }
  return list_some(shown, k_examples);
}

Finding version_missing(const ElfFacts& file, const MissingVersion& missing) {
  const std::string highest = highest_like(missing.version, missing.given->versions_provided);
  return {.id = "symbol-version-missing",
          .severity = Severity::error,
          .subject = file.path,
          .what = fmt::format(
              "needs {} of {}; the given library has {}", missing.version, missing.library,
              highest.empty() ? fmt::format("no version {}", family_of(missing.version)) : "up to " + highest),
          .why = fmt::format("The loader rejects the file on that machine: version `{}' not found.", missing.version),
          .fix = fmt::format("Build on an older system or in a manylinux image, or install a newer {} there.",
                             missing.library)};
}

void append_undefined(const ElfFacts& file, const std::vector<std::string_view>& names,
                      std::vector<Finding>& findings) {
  const auto add = [&](std::string what) {
    findings.push_back(
        {.id = "symbol-undefined",
         .severity = Severity::error,
         .subject = file.path,
         .what = std::move(what),
         .why = "Loading fails with \"undefined symbol\" at import, or at the first call with lazy binding.",
         .fix = "Link the library or compile the source file that defines it; if another package provides it, pass "
                "that package with --against."});
  };
  for (std::size_t i = 0; i < std::min(names.size(), k_most_undefined); ++i) {
    add(fmt::format("references {}, which no library defines", readable(names[i])));
  }
  if (names.size() > k_most_undefined) {
    add(fmt::format("references {} more that no library defines", counted(names.size() - k_most_undefined, "symbol")));
  }
}

Finding needs_torch(const ElfFacts& file, const std::vector<std::string_view>& names) {
  return {.id = "symbol-needs-torch",
          .severity = Severity::warning,
          .subject = file.path,
          .what = fmt::format("references {} of torch, but NEEDED lists no library of torch: {}",
                              counted(names.size(), "symbol"), examples(names)),
          .why = "It loads only after `import torch`, and only with a torch that has these symbols.",
          .fix = "Import torch first in the package; pass the matching torch with --against to check the symbols."};
}

Finding unverified(const ElfFacts& file, const FileSymbols& symbols) {
  return {.id = "symbol-unverified",
          .severity = Severity::note,
          .subject = file.path,
          .what = fmt::format("{} can only come from libraries that were not given ({}): {}",
                              counted(symbols.unverified.size(), "symbol"), list_some(symbols.not_given, 6),
                              examples(symbols.unverified)),
          .why = "Whether these libraries define them was not checked.",
          .fix = fmt::format("Pass the wheel, folder or library that contains {}: --against PATH",
                             symbols.not_given.empty() ? "them" : symbols.not_given.front())};
}

Finding loose(const ElfFacts& file, Libraries::Id id, const std::vector<std::string_view>& names,
              const Libraries& libraries) {
  const ElfFacts& provider = libraries.file(id);
  const std::string from =
      libraries.is_own(id) ? provider.path : fmt::format("{} of {}", provider.path, libraries.provider_name(id));
  return {.id = "symbol-loose",
          .severity = libraries.is_own(id) ? Severity::note : Severity::warning,
          .subject = file.path,
          .what = fmt::format("{} {} from {}, which is not in its NEEDED: {}", counted(names.size(), "symbol"),
                              names.size() == 1 ? "comes" : "come", from, examples(names)),
          .why = fmt::format("It works only if {} is already loaded with global visibility (RTLD_GLOBAL).",
                             library_name(provider)),
          .fix = fmt::format("Link with {}, or load that library first in the package.", library_name(provider))};
}

Finding loose_system(const ElfFacts& file, std::string_view library, const std::vector<std::string_view>& names) {
  return {
      .id = "symbol-loose",
      .severity = Severity::note,
      .subject = file.path,
      .what = fmt::format("{} {} from the system's {}, which is not in its NEEDED: {}", counted(names.size(), "symbol"),
                          names.size() == 1 ? "comes" : "come", library, examples(names)),
      .why =
          "It works because the interpreter loads that library; without a symbol version, the required release is "
          "unknown.",
      .fix = fmt::format("Link with {}.", library)};
}

}  // namespace

void append_findings(const ElfFacts& file, const FileSymbols& symbols, const Libraries& libraries,
                     std::vector<Finding>& findings) {
  for (const MissingVersion& missing : symbols.missing_versions) findings.push_back(version_missing(file, missing));
  append_undefined(file, symbols.undefined, findings);
  if (!symbols.needs_torch.empty()) findings.push_back(needs_torch(file, symbols.needs_torch));
  for (const auto& [id, names] : symbols.loose) findings.push_back(loose(file, id, names, libraries));
  for (const auto& [library, names] : symbols.loose_system) findings.push_back(loose_system(file, library, names));
  if (!symbols.unverified.empty()) findings.push_back(unverified(file, symbols));
}

}  // namespace wheelsmith::wheel
