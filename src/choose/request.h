#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gpu/arch.h"
#include "recipe/recipe.h"
#include "source/source.h"

namespace wheelsmith::choose {

// The image of the container that this process runs in; both empty outside containers.
struct ContainerImage {
  std::string name, id;
};

// The user's request. Empty members are chosen by this module (variants.h, python.h, torch.h, source.h, toolkit.h).
struct Request {
  std::vector<std::string> packages;
  std::vector<recipe::Variant> variants;
  std::string target;
  std::vector<gpu::ArchList> archs;  // one wheel per list
  // --gpu: the recipe determines the architecture for each device; they are added to the first list.
  std::vector<gpu::Device> devices;
  std::vector<std::string> pythons;
  std::string torch;        // version, CHANNEL/VARIANT, path of a wheel, folder or interpreter
  std::string torch_index;  // index of channels, with {channel} and {variant}
  // Index of ROCm's wheels, with {channel} and {family}; "": no index is used. The version as specifiers.
  std::string rocm_index, rocm_channel, rocm_requirement;
  std::vector<source::Override> sources;
  std::vector<std::pair<std::string, std::string>> refs;       // --ref: recipe ("" for the only package), ref
  std::vector<std::pair<std::string, std::string>> patchsets;  // --patchset: the same; "none" is no set
  std::vector<std::string> without;                            // --without: recipes of optional dependencies
  std::string platform;  // "manylinux_2_28"; "": the most compatible tag the wheel qualifies for
  std::string build_type = "release";
  std::map<std::string, std::string> set;          // recipe settings
  std::map<std::string, std::string> environment;  // --env, --env-file
  std::vector<std::filesystem::path> wheelhouses;  // find-links folders for dependencies and torch
  std::string network = "recipe";
  ContainerImage container;
  bool isolated = true;  // --no-build-isolation: false
  // --editable: named packages whose source is a folder are built there, and installed into `into`.
  bool editable = false;
  std::filesystem::path into;  // --into: an environment's folder or an interpreter
  bool allow_unsupported_compiler = false;
  bool verbose = false, upgrade = false, offline = false;
  bool exact = false;  // --exact: no early cut-off
};

// A choice and the notes that explain it to the user.
template <class T>
struct Chosen {
  T what{};
  std::vector<std::string> notes{};
};

// Whether an option without a package name applies to this package: it is the only one.
bool is_only_package(const Request& request, const std::string& package);

}  // namespace wheelsmith::choose
