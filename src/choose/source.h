#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "choose/request.h"
#include "source/patches/patch_set.h"
#include "source/torch_pins.h"

// Which source a package is built from, or checked out from. A recipe names a repository and a ref, but rarely is that
// the whole answer: the user may want another ref or fork; the ref belongs to a torch, whose own files record which
// commits of the other packages it was tested with; a fork keeps some families of refs, with patches of its own.
// `build`, `plan`, `doctor`, `checkout` and `manifest` all ask here.
//
//   ref:  --ref; else the record of the torch that is checked out or built beside it; else the ref that the recipe
//         pairs with the torch (one without a pair is an Error); else the recipe's own
//   url:  --origin; else the record's; else the family's of the ref; else the recipe's own

namespace wheelsmith::choose {

// What --source says of a package: by its name, by the project it names, or, where only one package is asked for,
// without a name.
std::optional<source::Override> source_override(const Request& request, const std::string& package,
                                                const std::string& project);

// The ref that --ref names for a package.
std::optional<std::string> user_ref(const Request& request, const std::string& package);
// What --patchset says for the package; "none" for no set at all.
std::optional<std::string> user_patchset(const Request& request, const std::string& package);
// That one, or the recipe's own.
std::string ref_of(const recipe::Recipe& recipe, const Request& request);

struct SourceQuestion {
  const recipe::Recipe& recipe;
  std::optional<recipe::Variant> variant;  // nothing: any
  std::string ref, origin;                 // of the user; "" for none
  bool torch_named = false;                // by the user: it counts more than what a checkout happens to record
  // Asked only when the answer is needed, since it may have to be fetched.
  std::function<std::optional<source::PinnedRef>()> record = [] { return std::optional<source::PinnedRef>(); };
  std::function<std::string()> torch_series = [] { return std::string(); };  // "2.13"; "" when it is not known
};

struct SourceChoice {
  enum class By : std::uint8_t { user, record, torch, recipe } by = By::recipe;
  std::string url, ref;
  std::string record;           // where it is recorded: "related_commits:3"
  std::string series;           // of the torch that decided
  std::string family_patchset;  // of the ref's family, whether there is such a set or not
  std::string family_why;
};
// Throws RequestError for a torch that the recipe pairs with no ref, with the nearest pairs.
SourceChoice choose_source(const SourceQuestion& question);
// In a few words: "--ref", "related_commits:3", "recipe, for torch 2.13", "recipe".
std::string reason_of(const SourceChoice& choice);
// The sentences of a plan.
std::vector<std::string> notes_of(const SourceChoice& choice, const recipe::Recipe& recipe,
                                  const std::string& recorded_by);

// The set that was asked for by name, else the family's, else the one named like the ref, of those that there are; ""
// for none.
std::string choose_patchset(const SourceChoice& choice, const std::string& asked_for,
                            const std::vector<std::string>& available);

// Which parts of the source a variant needs, and whether it is hipified. Where no variant or target is named: what any
// of them needs.
recipe::Checkout choose_parts(const recipe::Recipe& recipe, const recipe::Rules& rules);
recipe::Checkout choose_parts(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                              const std::string& target, const std::string& ref);

// The version that the source of that ref says: in the recipe's version file, else by its tag; "" where neither tells.
std::string source_version(const recipe::Recipe& recipe, const std::string& ref,
                           const std::optional<std::string>& version_file);

}  // namespace wheelsmith::choose
