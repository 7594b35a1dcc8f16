#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "choose/source.h"
#include "source/worktree/work_tree.h"

// What a checkout is made of: the ref and the repository (source.h), submodules, patches and hipify.

namespace wheelsmith::choose {

struct CheckoutOptions {
  enum class Submodules : std::uint8_t { needed, all, none };

  std::string ref{}, origin{};
  std::string torch{};      // --torch: the recipe may pair a ref with it
  std::string torch_dir{};  // checkout of torch whose pins decide; "": one in the folder of its recipe's name
  bool require_related_commit = false;
  std::string patchset{};
  std::filesystem::path patch_folder{};
  bool patch_folder_named = false;  // by the user: then it must exist
  // Before a patch set is applied that nobody named; throws where the user does not trust its folder.
  std::function<void(const std::string& package, const std::string& patchset)> on_found_patchset =
      [](const std::string&, const std::string&) {};
  bool no_patches = false;
  std::string target{};
  Submodules submodules = Submodules::needed;
  bool hipify = false, no_hipify = false;  // whatever the variant
  bool commit_hipify = true;
  std::filesystem::path python{};  // that runs hipify; empty where there is none
  unsigned depth = 1;              // 0: all of the history
  bool offline = false;
};

// The recipes named, each once; those whose checkouts decide for others come first.
std::vector<const recipe::Recipe*> checkout_order(const std::vector<std::string>& names,
                                                  const recipe::Library& library);

// The one variant that is named, else the only one that the recipe has; nothing: any. Throws RequestError.
std::optional<recipe::Variant> checkout_variant(const recipe::Recipe& recipe, const std::vector<std::string>& names);

// The repository and the ref, with the record of a checkout of torch. Throws RequestError where nothing names them.
SourceChoice choose_checkout_source(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                                    const CheckoutOptions& options);

struct Checkout {
  source::CheckoutRequest request;
  std::string why;                 // what decided the ref
  std::vector<std::string> notes;  // what was left out
};
// The recipe must outlive the request.
Checkout choose_checkout(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                         const std::filesystem::path& folder, const CheckoutOptions& options);

}  // namespace wheelsmith::choose

template <>
struct wheelsmith::EnumNames<wheelsmith::choose::CheckoutOptions::Submodules> {
  static constexpr std::array list = {"needed", "all", "none"};
};
