#include "choose/rocm_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/request_error.h"
#include "base/text.h"
#include "gpu/arch_words.h"
#include "recipe/recipe.h"

namespace wheelsmith::choose {

namespace {

const gpu::NamedTargets* find_family(const std::string& name) {
  for (const gpu::NamedTargets& family : gpu::amd_families()) {
    if (to_lower(family.name) == to_lower(name)) return &family;
  }
  return nullptr;
}

// Spelled as in the table, because wheels are named that way.
std::string spelled_family(const std::string& name) {
  const gpu::NamedTargets* family = find_family(name);
  return family != nullptr ? family->name : name;
}

std::vector<std::string> family_members(const std::string& name) {
  if (const gpu::NamedTargets* family = find_family(name)) return family->members;
  std::vector<std::string> known;
  for (const gpu::NamedTargets& family : gpu::amd_families()) {
    known.push_back(family.name);
    known.insert(known.end(), family.members.begin(), family.members.end());
  }
  if (std::find(known.begin(), known.end(), name) != known.end()) return {name};
  const auto near = nearest(name, known);
  throw RequestError(fmt::format(
      "--family {}: unknown GPU family{}", printable(name),
      near ? "; did you mean " + *near + "?" : "; use a family such as gfx1151, gfx94X-dcgpu or gfx110X-all"));
}

void check_extra(const std::string& extra) {
  static const std::vector<std::string> known = {"libraries", "devel", "profiler"};
  if (std::find(known.begin(), known.end(), extra) != known.end()) return;
  const auto near = nearest(extra, known);
  throw RequestError(fmt::format("--extras {}: must be libraries, devel or profiler{}", printable(extra),
                                 near ? "; did you mean " + *near + "?" : ""));
}

}  // namespace

std::string rocm_index_url(const std::string& index, const std::string& channel, const std::string& family) {
  if (!channel.empty() && index.find("{channel}") == index.npos)
    throw Error(
        fmt::format("channel {}: no index of ROCm channels is set; put rocm-index = "
                    "\"https://…/{{channel}}/{{family}}\" into "
                    "wheelsmith.toml, or set WHEELSMITH_ROCM_INDEX",
                    printable(channel)));
  if (channel.empty() && index.find("{channel}") != index.npos)
    throw Error("rocm-index contains {channel}, but no channel is given; use nightly or dev");
  return recipe::expand(index, {{"channel", channel}, {"family", family}});
}

std::string choose_rocm_index(const RocmIndexQuestion& question) {
  const std::string family = question.families.size() == 1 ? spelled_family(question.families.front()) : "";
  if (!question.index_url.empty()) return rocm_index_url(question.index_url, "", family);
  if (question.index.empty() && question.channel.empty())
    throw RequestError(
        "no index of ROCm wheels is set; give --index-url URL, or put rocm-index = \"https://…\" into wheelsmith.toml");
  if (question.index.find("{family}") != std::string::npos && family.empty())
    throw RequestError("the index has one folder per family; install for one --family at a time");
  try {
    return rocm_index_url(question.index, question.channel, family);
  } catch (const Error& error) {
    throw RequestError(error.what());
  }
}

env::RocmWanted wanted_rocm(const std::vector<std::string>& families, const std::vector<std::string>& extras) {
  env::RocmWanted result;
  for (const std::string& extra : extras) check_extra(extra);
  result.extras = extras;
  for (const std::string& family : families) {
    for (const std::string& target : family_members(family)) {
      if (std::find(result.targets.begin(), result.targets.end(), target) == result.targets.end())
        result.targets.push_back(target);
    }
  }
  if (families.size() == 1) result.families.push_back(spelled_family(families.front()));
  return result;
}

}  // namespace wheelsmith::choose
