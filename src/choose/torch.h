#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "choose/request.h"
#include "env/env.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::choose {

// The origin of the torch of a step.
struct TorchChoice {
  enum class Kind : std::uint8_t { none, requirement, environment } kind = Kind::none;
  std::string requirement;                         // "torch==2.13.0"
  std::vector<std::string> index_urls;             // for a channel
  std::vector<std::filesystem::path> wheelhouses;  // for a wheel on disk
  bool prereleases = false;
  std::filesystem::path python;  // environment: its interpreter
};

// The properties of a torch build that are known before it is installed.
struct TorchBuild {
  std::string version;  // "2.13.0+cu130"
  std::string cuda;     // "13.0"; "" for a build without CUDA
  std::string hip;      // "7.1"
};

// The torch of --torch; else the one installed for the interpreter; else the one that the source requires
// (`source_series`, "2.9"); else the one that the recipe pairs with the ref (the newest torch often does not work with
// it); else the newest that the recipe accepts. Throws RequestError for an invalid value.
Chosen<TorchChoice> choose_torch(const Request& request, const recipe::Recipe& recipe, const recipe::Rules& rules,
                                 recipe::Variant variant, const toolchain::Python& python, const toolchain::Host& host,
                                 const std::string& source_series = "");

// Throws RequestError for a --torch that has none of the accepted forms.
void check_torch_form(const std::string& text);

// "2.13" of "2.13.0+cu130"; "" if there are not two numbers.
std::string torch_series(const std::string& version);
// The series of an unresolved choice ("torch==2.13.*"); "" if only an index can tell.
std::string torch_series(const TorchChoice& torch);

// The torch among the wheels of a lock. Builds on PyPI have no local label; their CUDA version follows from their
// requirements.
TorchBuild locked_torch(const env::Lock& lock);
// The same for a version with a label: "2.13.0+cu130".
TorchBuild torch_of_version(const std::string& version);

}  // namespace wheelsmith::choose

template <>
struct wheelsmith::EnumNames<wheelsmith::choose::TorchChoice::Kind> {
  static constexpr std::array list = {"none", "requirement", "environment"};
};
