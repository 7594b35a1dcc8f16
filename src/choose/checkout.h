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

// The contents of a checkout: repository and ref (source.h), submodules, patches and hipify.

namespace wheelsmith::choose {

struct CheckoutOptions {
  enum class Submodules : std::uint8_t { needed, all, none };

  std::string ref{}, origin{};
  std::string torch{};      // --torch; the recipe may pair it with a ref
  std::string torch_dir{};  // checkout of torch whose pins select the ref; "": the folder named like its recipe
  bool require_related_commit = false;
  std::string patchset{};
  std::filesystem::path patch_folder{};
  bool patch_folder_named = false;  // given by the user, so it must exist
  // Called before applying a patch set that the user did not select; throws if the user does not trust its folder.
  std::function<void(const std::string& package, const std::string& patchset)> on_found_patchset =
      [](const std::string&, const std::string&) {};
  bool no_patches = false;
  std::string target{};
  Submodules submodules = Submodules::needed;
  bool hipify = false, no_hipify = false;  // regardless of the variant
  bool commit_hipify = true;
  std::filesystem::path python{};  // runs hipify; empty if there is none
  unsigned depth = 1;              // 0: full history
  bool offline = false;
};

// The given recipes without duplicates; recipes that pin others come first.
std::vector<const recipe::Recipe*> checkout_order(const std::vector<std::string>& names,
                                                  const recipe::Library& library);

// The given variant, else the recipe's only one; nothing: any. Throws RequestError.
std::optional<recipe::Variant> checkout_variant(const recipe::Recipe& recipe, const std::vector<std::string>& names);

// The repository and the ref, using the pins of a checkout of torch. Throws RequestError if nothing names them.
SourceChoice choose_checkout_source(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                                    const CheckoutOptions& options);

struct Checkout {
  source::CheckoutRequest request;
  std::string why;                 // what determined the ref
  std::vector<std::string> notes;  // what was skipped
};
// The recipe must outlive the request.
Checkout choose_checkout(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                         const std::filesystem::path& folder, const CheckoutOptions& options);

}  // namespace wheelsmith::choose

template <>
struct wheelsmith::EnumNames<wheelsmith::choose::CheckoutOptions::Submodules> {
  static constexpr std::array list = {"needed", "all", "none"};
};
