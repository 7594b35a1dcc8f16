#include "plan/choose.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "sys/file.h"

namespace wheelsmith::plan {

namespace {

using recipe::Variant;

gpu::Vendor vendor_of(Variant variant) { return variant == Variant::rocm ? gpu::Vendor::amd : gpu::Vendor::nvidia; }

bool has(const std::vector<Variant>& variants, Variant variant) {
  return std::find(variants.begin(), variants.end(), variant) != variants.end();
}

// Each architecture once, in the order of the devices.
gpu::ArchList archs_of(const std::vector<toolchain::Gpu>& gpus, gpu::Vendor vendor) {
  gpu::ArchList list;
  for (const toolchain::Gpu& gpu : gpus) {
    const bool there = std::any_of(list.requests.begin(), list.requests.end(),
                                   [&](const gpu::ArchRequest& request) { return request.arch == gpu.arch; });
    if (gpu.arch.vendor == vendor && !there) list.requests.push_back({.arch = gpu.arch, .binary = true, .ptx = false});
  }
  return list;
}

bool is_channel(std::string_view word) { return word == "release" || word == "test" || word == "nightly"; }

TorchChoice of_wheel(const std::filesystem::path& wheel) {
  const pep::WheelName name = pep::WheelName::parse(wheel.filename().string());
  TorchChoice choice;
  choice.kind = TorchChoice::Kind::requirement;
  choice.requirement = "torch==" + name.version;
  choice.wheelhouses = {wheel.parent_path().empty() ? "." : wheel.parent_path()};
  choice.prereleases = true;
  return choice;
}

std::optional<std::filesystem::path> torch_wheel_in(const std::filesystem::path& folder) {
  std::optional<std::filesystem::path> newest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("torch-") && name.ends_with(".whl") && (!newest || newest->filename() < name))
      newest = entry.path();
  }
  return newest;
}

TorchChoice of_path(const std::filesystem::path& path) {
  TorchChoice choice;
  if (path.extension() == ".whl") return of_wheel(std::filesystem::absolute(path));
  if (!sys::is_folder(path)) {
    choice.kind = TorchChoice::Kind::environment;
    choice.python = std::filesystem::absolute(path);
    return choice;
  }
  std::error_code ignored;
  for (const char* name : {"bin/python", "bin/python3", "Scripts/python.exe"}) {
    if (!std::filesystem::exists(path / name, ignored)) continue;
    choice.kind = TorchChoice::Kind::environment;
    choice.python = std::filesystem::absolute(path / name);
    return choice;
  }
  if (const auto wheel = torch_wheel_in(path)) return of_wheel(std::filesystem::absolute(*wheel));
  throw RequestError(
      fmt::format("--torch {}: the folder is neither an environment (bin/python) nor does it hold a torch wheel",
                  printable(path.string())));
}

TorchChoice of_channel(const std::string& text, const Request& request, Variant variant) {
  const std::size_t slash = text.find('/');
  const std::string channel = text.substr(0, slash);
  std::string flavour = slash == text.npos ? "" : text.substr(slash + 1);
  if (flavour.empty() && variant == Variant::cpu) flavour = "cpu";
  if (flavour.empty())
    throw RequestError(fmt::format("--torch {}: say for which CUDA or ROCm, like {}/{}", channel, channel,
                                   variant == Variant::cuda ? "cu130" : "rocm7.1"));
  if (request.torch_index.empty()) {
    throw RequestError(fmt::format(
        "--torch {}: the index of torch's channels is not set; put torch-index = \"https://…/{{channel}}/{{variant}}\" "
        "into wheelsmith.toml, or set WHEELSMITH_TORCH_INDEX",
        text));
  }
  TorchChoice choice;
  choice.kind = TorchChoice::Kind::requirement;
  choice.requirement = "torch";
  choice.index_urls = {
      recipe::expand(request.torch_index, {{"channel", channel == "release" ? "" : channel}, {"variant", flavour}})};
  choice.prereleases = channel != "release";
  return choice;
}

TorchChoice of_version(const std::string& text) {
  TorchChoice choice;
  choice.kind = TorchChoice::Kind::requirement;
  const bool plain = pep::Version::try_parse(text).has_value();
  choice.requirement = plain ? "torch==" + text : "torch" + text;
  try {
    (void)pep::Requirement::parse(choice.requirement);
  } catch (const Error&) {
    throw RequestError(fmt::format(
        "--torch {}: neither a version, a channel (release, test, nightly), a path that exists, nor a wheel",
        printable(text)));
  }
  choice.prereleases = plain && pep::Version::parse(text).is_prerelease();
  return choice;
}

// "13.0" of "cu130", "12.8" of "cu128".
std::string cuda_of_label(std::string_view label) {
  if (!label.starts_with("cu")) return "";
  const std::string_view digits = label.substr(2);
  if (digits.size() < 2 || !to_number(digits)) return "";
  return std::string(digits.substr(0, digits.size() - 1)) + "." + std::string(digits.substr(digits.size() - 1));
}

}  // namespace

std::vector<toolchain::Python> choose_pythons(const Request& request, const PlanInputs& inputs) {
  std::vector<toolchain::Python> pythons;
  for (const std::string& wanted : request.pythons) pythons.push_back(toolchain::find_python(wanted, inputs.host));
  if (!pythons.empty()) return pythons;
  if (inputs.host.described) return {toolchain::find_python("", inputs.host)};
  const auto path = inputs.host.environment.find("PATH");
  for (const char* name : {"python3", "python"}) {
    const std::filesystem::path found =
        path == inputs.host.environment.end() ? "" : sys::find_program(name, path->second);
    if (!found.empty()) return {toolchain::find_python(found.string(), inputs.host)};
  }
  throw Error(
      "there is no python3 in PATH; name one with --python, or install it: apt-get install python3 python3-dev "
      "python3-venv");
}

std::vector<Variant> choose_variants(const Request& request, const recipe::Recipe& recipe,
                                     const std::vector<toolchain::Gpu>& gpus, std::vector<std::string>& notes) {
  if (!request.variants.empty()) return request.variants;
  const std::vector<Variant> known = recipe.variants();
  for (const toolchain::Gpu& gpu : gpus) {
    const Variant variant = gpu.arch.vendor == gpu::Vendor::amd ? Variant::rocm : Variant::cuda;
    if (!has(known, variant)) continue;
    notes.push_back(
        fmt::format("{}: variant {}, since this machine has an {}", recipe.name, recipe::to_string(variant), gpu.name));
    return {variant};
  }
  if (known.empty()) throw Error(fmt::format("the recipe {} has no variant", recipe.name));
  const Variant variant = has(known, Variant::cpu) ? Variant::cpu : known.front();
  notes.push_back(fmt::format("{}: variant {}, since no GPU is here; --variant chooses another", recipe.name,
                              recipe::to_string(variant)));
  return {variant};
}

std::vector<gpu::ArchList> choose_archs(const Request& request, const recipe::Recipe& recipe, Variant variant,
                                        const std::vector<toolchain::Gpu>& gpus, const sys::Environment& environment,
                                        std::vector<std::string>& notes) {
  if (variant == Variant::cpu) return {gpu::ArchList{}};
  const recipe::ArchRules& rules = recipe.rules(variant, request.target).archs;
  std::vector<gpu::ArchList> lists;
  for (const gpu::ArchList& list : request.archs) {
    // A list of both vendors is meant for the variants that each part fits.
    gpu::ArchList part;
    for (const gpu::ArchRequest& item : list.requests) {
      if (item.arch.vendor == vendor_of(variant)) part.requests.push_back(item);
    }
    if (!part.requests.empty()) lists.push_back(part);
  }
  if (!request.archs.empty() && lists.empty())
    throw RequestError(
        fmt::format("none of the architectures asked for is one of variant {}", recipe::to_string(variant)));
  if (lists.empty()) {
    const auto family = environment.find("ROCM_SDK_TARGET_FAMILY");
    if (variant == Variant::rocm && family != environment.end() && !family->second.empty()) {
      lists.push_back(gpu::ArchList::parse(family->second));
      notes.push_back(
          fmt::format("{}: architectures {} of ROCM_SDK_TARGET_FAMILY", recipe.name, lists.back().to_string()));
    } else if (gpu::ArchList here = archs_of(gpus, vendor_of(variant)); !here.requests.empty()) {
      notes.push_back(fmt::format("{}: architectures {} of the GPUs that are here", recipe.name, here.to_string()));
      lists.push_back(std::move(here));
    } else if (!rules.fallback.empty()) {
      lists.push_back(gpu::ArchList::parse(rules.fallback));
      notes.push_back(fmt::format("{}: architectures {} of the recipe, since no GPU is here; --arch chooses others",
                                  recipe.name, lists.back().to_string()));
    } else {
      lists.push_back({});
    }
  }
  for (const gpu::ArchList& list : lists) recipe::check_legal(list, rules, recipe.name);
  return lists;
}

std::optional<source::Override> choose_source(const Request& request, const std::string& package,
                                              const std::string& project) {
  const bool alone =
      request.packages.empty() || (request.packages.size() == 1 && pep::same_name(request.packages.front(), package));
  for (const source::Override& user : request.sources) {
    if (user.name.empty() ? alone || (!user.project.empty() && pep::same_name(user.project, project))
                          : pep::same_name(user.name, package))
      return user;
  }
  return std::nullopt;
}

std::optional<std::string> user_ref(const Request& request, const std::string& package) {
  const bool alone =
      request.packages.empty() || (request.packages.size() == 1 && pep::same_name(request.packages.front(), package));
  for (const auto& [name, ref] : request.refs) {
    if (name.empty() ? alone : pep::same_name(name, package)) return ref;
  }
  return std::nullopt;
}

std::string ref_of(const recipe::Recipe& recipe, const Request& request) {
  if (const auto wanted = user_ref(request, recipe.name)) return *wanted;
  return recipe::expand(recipe.source.ref, {{"version", recipe.source.version}});
}

TorchChoice choose_torch(const Request& request, const recipe::Rules& rules, Variant variant,
                         const toolchain::Python& python, const PlanInputs& inputs, std::vector<std::string>& notes) {
  if (!rules.requires_versions.uses_torch) return {};
  const std::string& text = request.torch;
  std::error_code ignored;
  if (text.empty()) {
    TorchChoice choice;
    if (const auto torch = toolchain::find_torch(python.executable, false, inputs.host)) {
      choice.kind = TorchChoice::Kind::environment;
      choice.python = python.executable;
      notes.push_back(fmt::format("torch {}: the one that {} has", torch->version, python.executable.string()));
      return choice;
    }
    choice.kind = TorchChoice::Kind::requirement;
    choice.requirement = "torch" + rules.requires_versions.torch;
    notes.push_back("torch: the newest that the registry has; --torch chooses another");
    return choice;
  }
  if (inputs.host.described) {
    if (const auto there = toolchain::read_python(text, inputs.host)) {
      TorchChoice choice;
      choice.kind = TorchChoice::Kind::environment;
      choice.python = there->executable;
      return choice;
    }
  } else if (std::filesystem::exists(text, ignored)) {
    return of_path(text);
  }
  if (is_channel(text.substr(0, text.find('/')))) return of_channel(text, request, variant);
  return of_version(text);
}

void prefer_torch_of_ref(TorchChoice& torch, const recipe::Recipe& recipe, const Request& request,
                         std::vector<std::string>& notes) {
  if (torch.kind != TorchChoice::Kind::requirement || !request.torch.empty() || recipe.source.refs.empty()) return;
  const std::string ref = ref_of(recipe, request);
  std::optional<pep::Version> newest;
  for (const auto& [series, of_series] : recipe.source.refs) {
    const auto version = pep::Version::try_parse(series);
    if (of_series == ref && version && (!newest || *newest < *version)) {
      newest = version;
      torch.requirement = fmt::format("torch=={}.*", series);
    }
  }
  if (!newest) return;
  std::erase_if(notes, [](const std::string& note) { return note.starts_with("torch: the newest"); });
  notes.push_back(
      fmt::format("{}: {}, which belongs to {}; --torch chooses another", recipe.name, torch.requirement, ref));
}

LockedTorch locked_torch(const env::Lock& lock) {
  LockedTorch torch;
  const env::PinnedWheel* wheel = lock.find("torch");
  if (wheel == nullptr) return torch;
  torch.version = wheel->version;
  const std::size_t plus = wheel->version.find('+');
  const std::string label = plus == std::string::npos ? "" : wheel->version.substr(plus + 1);
  torch.cuda = cuda_of_label(label);
  if (label.starts_with("rocm")) torch.hip = label.substr(4);
  if (!label.empty()) return torch;
  // The registry's own builds carry no label; which CUDA they are built with shows in what they require.
  for (const env::PinnedWheel& other : lock.wheels) {
    const std::string name = pep::normalized_name(other.name);
    if (name != "nvidia-cuda-runtime" && !name.starts_with("nvidia-cuda-runtime-cu")) continue;
    const auto parts = split(other.version, '.');
    if (parts.size() >= 2) torch.cuda = std::string(parts[0]) + "." + std::string(parts[1]);
  }
  return torch;
}

}  // namespace wheelsmith::plan
