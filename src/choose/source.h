#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "choose/request.h"
#include "source/patches/patch_set.h"
#include "source/torch_pins.h"

// Chooses the source that a package is built or checked out from. A recipe names a repository and a ref, but other
// inputs matter, too: the user may request another ref or fork; the ref must match a torch, whose files record the
// commits of other packages that it was tested with; a fork may have its own branches and patches. `build`, `plan`,
// `doctor`, `checkout` and `manifest` all use these functions.
//
//   ref:  --ref; else the pin in the torch that is checked out or built with it; else the ref that the recipe
//         pairs with the torch (one without a pair is an Error); else the recipe's own
//   url:  --origin; else the record's; else the family's of the ref; else the recipe's own

namespace wheelsmith::choose {

// The value of --source for a package: given by its name, by the name of its project, or, for the only package, without
// a name.
std::optional<source::Override> source_override(const Request& request, const std::string& package,
                                                const std::string& project);

// The value of --ref for a package.
std::optional<std::string> user_ref(const Request& request, const std::string& package);
// The value of --patchset for a package; "none" for no patch set.
std::optional<std::string> user_patchset(const Request& request, const std::string& package);
// That one, or the recipe's own.
std::string ref_of(const recipe::Recipe& recipe, const Request& request);

struct SourceQuestion {
  const recipe::Recipe& recipe;
  std::optional<recipe::Variant> variant;  // nullopt: any
  std::string ref, origin;                 // given by the user, or ""
  bool torch_named = false;                // given by the user; takes precedence over the pins of a checkout
  // Called only when needed, because it may have to be downloaded.
  std::function<std::optional<source::PinnedRef>()> record = [] { return std::optional<source::PinnedRef>(); };
  std::function<std::string()> torch_series = [] { return std::string(); };  // "2.13"; "" if unknown
};

struct SourceChoice {
  enum class By : std::uint8_t { user, record, torch, recipe } by = By::recipe;
  std::string url, ref;
  std::string record;           // origin of the pin: "related_commits:3"
  std::string series;           // of the torch that determined the ref
  std::string family_patchset;  // of the ref's family; the set may not exist
  std::string family_why;
};
// Throws RequestError that lists the nearest pairs if the recipe pairs the torch with no ref.
SourceChoice choose_source(const SourceQuestion& question);
// Short form of the reason: "--ref", "related_commits:3", "recipe, for torch 2.13", "recipe".
std::string reason_of(const SourceChoice& choice);
// The notes of a plan.
std::vector<std::string> notes_of(const SourceChoice& choice, const recipe::Recipe& recipe,
                                  const std::string& recorded_by);

// The requested patch set, else that of the family, else the one named like the ref, if it exists; "" if there is none.
std::string choose_patchset(const SourceChoice& choice, const std::string& asked_for,
                            const std::vector<std::string>& available);

// The parts of the source that a variant needs, and whether it is hipified. Without a variant or target: everything
// that any of them needs.
recipe::Checkout choose_parts(const recipe::Recipe& recipe, const recipe::Rules& rules);
recipe::Checkout choose_parts(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                              const std::string& target, const std::string& ref);

// The version of the source: from the recipe's version file, else from the tag; "" if unknown.
std::string source_version(const recipe::Recipe& recipe, const std::string& ref,
                           const std::optional<std::string>& version_file);

}  // namespace wheelsmith::choose
