#include "pep/choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "pep/requirement.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

constexpr std::size_t k_most_named = 8;

struct Candidate {
  const ProjectFile* file = nullptr;
  Version version;
  std::string text;
  std::string why_not;  // "" while nothing stands against it
};

bool is_pin(const Specifier& specifier) {
  return specifier.op == "===" || (specifier.op == "==" && !specifier.version.ends_with(".*"));
}

bool names_prerelease(const Specifier& specifier) {
  const auto version = Version::try_parse(specifier.version);
  return version && version->is_prerelease() && specifier.op != "!=";
}

// An invalid Requires-Python excludes nothing, as in pip.
bool runs_on(const std::string& requires_python, const Version& python) {
  const auto specifiers = try_parse_specifiers(requires_python);
  return !specifiers || contains(*specifiers, python);
}

std::string objection(const ProjectFile& file, const Version& version, const std::vector<Specifier>& specifiers,
                      const Version& python, bool pinned) {
  if (!contains(specifiers, version)) return "does not match the request";
  if (!runs_on(file.requires_python, python)) {
    return fmt::format("requires Python {}, this is {}", printable(file.requires_python.substr(0, 80)),
                       python.to_string());
  }
  if (file.yanked && !pinned) {
    return file.yanked->empty() ? "is yanked" : fmt::format("is yanked ({})", printable(file.yanked->substr(0, 200)));
  }
  return "";
}

std::vector<Candidate> candidates(const ProjectPage& page) {
  std::vector<Candidate> result;
  for (const ProjectFile& file : page.files) {
    const auto text = sdist_version(file.name, page.name);
    const auto version = text ? Version::try_parse(*text) : std::nullopt;
    if (version) result.push_back({&file, *version, *text, ""});
  }
  // Of one version the .tar.gz is preferred: it is the format that build backends write today.
  const auto is_tar = [](const Candidate& c) { return c.file->name.ends_with(".tar.gz"); };
  std::stable_sort(result.begin(), result.end(), [&](const Candidate& a, const Candidate& b) {
    const auto order = a.version <=> b.version;
    return order != 0 ? order > 0 : is_tar(a) && !is_tar(b);
  });
  return result;
}

}  // namespace

std::optional<Choice> choose_sdist(const ProjectPage& page, std::string_view specifier_text,
                                   const Version& python_version, bool allow_prereleases,
                                   std::vector<PassedOver>* passed_over) {
  const std::vector<Specifier> specifiers = parse_specifiers(specifier_text);
  const bool pinned = std::any_of(specifiers.begin(), specifiers.end(), is_pin);
  allow_prereleases = allow_prereleases || std::any_of(specifiers.begin(), specifiers.end(), names_prerelease);
  const Candidate *chosen = nullptr, *prerelease = nullptr;
  std::vector<Candidate> all = candidates(page);
  for (Candidate& candidate : all) {
    candidate.why_not = objection(*candidate.file, candidate.version, specifiers, python_version, pinned);
    if (!candidate.why_not.empty()) continue;
    if (candidate.version.is_prerelease() && !allow_prereleases) {
      candidate.why_not = "is a pre-release";
      if (prerelease == nullptr) prerelease = &candidate;
    } else if (chosen == nullptr) {
      chosen = &candidate;
    }
  }
  if (chosen == nullptr) chosen = prerelease;
  if (passed_over != nullptr) {
    passed_over->clear();
    for (const Candidate& candidate : all) {
      if (&candidate == chosen || candidate.why_not.empty()) continue;
      passed_over->push_back({candidate.text, candidate.why_not});
    }
  }
  if (chosen == nullptr) return std::nullopt;
  return Choice{*chosen->file, chosen->text};
}

std::string why_no_sdist(const ProjectPage& page, std::string_view specifiers,
                         const std::vector<PassedOver>& passed_over) {
  const std::string wanted = page.name + std::string(trim(specifiers));
  if (passed_over.empty()) {
    const auto wheels = std::count_if(page.files.begin(), page.files.end(), [](const auto& f) { return f.is_wheel(); });
    return fmt::format(
        "{} has no sdist in the index ({}); use another source", page.name,
        wheels == 0 ? std::string("no files at all") : counted(static_cast<std::uint64_t>(wheels), "wheel"));
  }
  std::vector<std::string> versions, objections;
  for (const PassedOver& other : passed_over) {
    if (std::find(versions.begin(), versions.end(), other.version) == versions.end()) versions.push_back(other.version);
    if (other.why != "does not match the request" && objections.size() < 3) {
      objections.push_back(fmt::format("{} {}", other.version, other.why));
    }
  }
  std::string text = fmt::format("no sdist matches {}", quoted_text(wanted));
  if (!objections.empty()) text += ": " + join(objections, "; ");
  const std::size_t last = specifiers.find_last_of("=<>~ ");
  const auto near = nearest(trim(specifiers.substr(last == std::string_view::npos ? 0 : last + 1)), versions);
  const std::size_t named = std::min(versions.size(), k_most_named);
  text +=
      fmt::format(". There {} {}", versions.size() == 1 ? "is" : "are", join(std::span(versions).first(named), ", "));
  if (versions.size() > named) text += fmt::format(" and {} older", versions.size() - named);
  if (near && objections.empty()) text += fmt::format("; the closest is {}", *near);
  return text;
}

}  // namespace wheelsmith::pep
