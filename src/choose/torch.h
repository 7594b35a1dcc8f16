#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "choose/request.h"
#include "env/env.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::choose {

// Where the torch of a step comes from.
struct TorchChoice {
  enum class Kind : std::uint8_t { none, requirement, environment } kind = Kind::none;
  std::string requirement;                         // "torch==2.13.0"
  std::vector<std::string> index_urls;             // of a channel
  std::vector<std::filesystem::path> wheelhouses;  // of a wheel on disk
  bool prereleases = false;
  std::filesystem::path python;  // environment: its interpreter
};

// A build of torch, as far as it is known before it is installed.
struct TorchBuild {
  std::string version;  // "2.13.0+cu130"
  std::string cuda;     // "13.0"; "" for a build without
  std::string hip;      // "7.1"
};

// What --torch says; else the torch that the interpreter has; else the one that the source itself names
// (`source_series`, "2.9"); else the one that belongs to the ref that is built, if the recipe knows it (the newest is
// often one that the ref has never seen); else the newest that the recipe takes. Throws RequestError for a text that
// means nothing.
Chosen<TorchChoice> choose_torch(const Request& request, const recipe::Recipe& recipe, const recipe::Rules& rules,
                                 recipe::Variant variant, const toolchain::Python& python, const toolchain::Host& host,
                                 const std::string& source_series = "");

// Throws RequestError for a --torch that is none of its forms.
void check_torch_form(const std::string& text);

// "2.13" of "2.13.0+cu130"; "" for what is not a version of two parts.
std::string torch_series(const std::string& version);
// The series that the choice names without being resolved ("torch==2.13.*"); "" when only an index can tell.
std::string torch_series(const TorchChoice& torch);

// The torch among the wheels of a lock. The index's own builds have no label; their CUDA shows in what they require.
TorchBuild locked_torch(const env::Lock& lock);
// The same of a version with a label: "2.13.0+cu130".
TorchBuild torch_of_version(const std::string& version);

}  // namespace wheelsmith::choose

template <>
struct wheelsmith::EnumNames<wheelsmith::choose::TorchChoice::Kind> {
  static constexpr std::array list = {"none", "requirement", "environment"};
};
