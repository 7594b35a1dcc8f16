#include "choose/torch.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "choose/source.h"
#include "pep/requirement.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "sys/file.h"

namespace wheelsmith::choose {

namespace {

namespace fs = std::filesystem;
using recipe::Variant;

bool is_channel(std::string_view word) { return word == "release" || word == "test" || word == "nightly"; }

TorchChoice in_environment(const fs::path& python) {
  TorchChoice choice;
  choice.kind = TorchChoice::Kind::environment;
  choice.python = python;
  return choice;
}

TorchChoice of_wheel(const fs::path& wheel) {
  const pep::WheelName name = pep::WheelName::parse(wheel.filename().string());
  TorchChoice choice;
  choice.kind = TorchChoice::Kind::requirement;
  choice.requirement = "torch==" + name.version;
  choice.wheelhouses = {wheel.parent_path().empty() ? "." : wheel.parent_path()};
  choice.prereleases = true;
  return choice;
}

std::optional<fs::path> torch_wheel_in(const fs::path& folder) {
  std::optional<fs::path> newest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("torch-") && name.ends_with(".whl") && (!newest || newest->filename() < name))
      newest = entry.path();
  }
  return newest;
}

TorchChoice of_path(const fs::path& path) {
  if (path.extension() == ".whl") return of_wheel(fs::absolute(path));
  if (!sys::is_folder(path)) return in_environment(fs::absolute(path));
  std::error_code ignored;
  for (const char* name : {"bin/python", "bin/python3", "Scripts/python.exe"}) {
    if (fs::exists(path / name, ignored)) return in_environment(fs::absolute(path / name));
  }
  if (const auto wheel = torch_wheel_in(path)) return of_wheel(fs::absolute(*wheel));
  throw RequestError(
      fmt::format("--torch {}: the folder is not an environment (bin/python) and contains no torch wheel",
                  printable(path.string())));
}

TorchChoice of_channel(const std::string& text, const Request& request, Variant variant) {
  const std::size_t slash = text.find('/');
  const std::string channel = text.substr(0, slash);
  std::string flavour = slash == text.npos ? "" : text.substr(slash + 1);
  if (flavour.empty() && variant == Variant::cpu) flavour = "cpu";
  if (flavour.empty())
    throw RequestError(fmt::format("--torch {}: add the CUDA or ROCm version, as in {}/{}", channel, channel,
                                   variant == Variant::cuda ? "cu130" : "rocm7.1"));
  if (request.torch_index.empty()) {
    throw RequestError(fmt::format(
        "--torch {}: no index of torch channels is set; put torch-index = \"https://…/{{channel}}/{{variant}}\" "
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
  const auto version = pep::Version::try_parse(text);
  choice.requirement = version ? "torch==" + text : "torch" + text;
  // Letters after "torch" would be the name of another package.
  const bool form = version || text.find_first_of("<>=!~") == 0;
  if (!form || !pep::Requirement::try_parse(choice.requirement)) {
    throw RequestError(
        fmt::format("--torch {}: must be a version, a channel (release, test or nightly, as in nightly/cu130), or the "
                    "path of a wheel or an environment",
                    printable(text)));
  }
  choice.prereleases = version && version->is_prerelease();
  return choice;
}

TorchChoice requested_torch(const Request& request, Variant variant, const toolchain::Host& host) {
  const std::string& text = request.torch;
  std::error_code ignored;
  // A folder of that name in the current folder is ignored, because another user may control it; ./2.9.0 selects it.
  if (pep::Version::try_parse(text) || text.find_first_of("<>=!~") == 0) return of_version(text);
  if (is_channel(text.substr(0, text.find('/')))) return of_channel(text, request, variant);
  if (host.described) {
    if (const auto there = toolchain::read_python(text, host)) return in_environment(there->executable);
  } else if (fs::exists(text, ignored)) {
    return of_path(text);
  }
  return of_version(text);
}

// "13.0" of "cu130", "12.8" of "cu128".
std::string cuda_of_label(std::string_view label) {
  if (!label.starts_with("cu")) return "";
  const std::string_view digits = label.substr(2);
  if (digits.size() < 2 || !to_number(digits)) return "";
  return std::string(digits.substr(0, digits.size() - 1)) + "." + std::string(digits.substr(digits.size() - 1));
}

}  // namespace

void check_torch_form(const std::string& text) {
  std::error_code ignored;
  if (text.empty() || is_channel(text.substr(0, text.find('/'))) || fs::exists(text, ignored)) return;
  (void)of_version(text);
}

Chosen<TorchChoice> choose_torch(const Request& request, const recipe::Recipe& recipe, const recipe::Rules& rules,
                                 Variant variant, const toolchain::Python& python, const toolchain::Host& host,
                                 const std::string& source_series) {
  if (!rules.requires_versions.uses_torch) return {};
  if (!request.isolated) {
    if (!request.torch.empty())
      throw RequestError(
          "--torch and --no-build-isolation contradict each other: the interpreter's own torch is used (choose another "
          "interpreter with --python)");
    return {in_environment(python.executable), {}};
  }
  if (!request.torch.empty()) return {requested_torch(request, variant, host), {}};
  if (const auto torch = toolchain::find_torch(python.executable, false, host)) {
    return {in_environment(python.executable),
            {fmt::format("torch {}: installed in {}", torch->version, python.executable.string())}};
  }
  TorchChoice choice;
  choice.kind = TorchChoice::Kind::requirement;
  // An index of channels has separate CPU builds.
  if (variant == Variant::cpu && !request.torch_index.empty())
    choice.index_urls = of_channel("release/cpu", request, variant).index_urls;
  const std::string ref = source_override(request, recipe.name, recipe.project) ? "" : ref_of(recipe, request);
  if (!source_series.empty()) {
    choice.requirement = fmt::format("torch=={}.*", source_series);
    return {choice,
            {fmt::format("{}: {}, which its source is made for; choose another with --torch", recipe.name,
                         choice.requirement)}};
  }
  if (const std::string series = recipe::torch_for_ref(recipe, variant, ref); !series.empty()) {
    choice.requirement = fmt::format("torch=={}.*", series);
    return {
        choice,
        {fmt::format("{}: {}, which matches {}; choose another with --torch", recipe.name, choice.requirement, ref)}};
  }
  choice.requirement = "torch" + rules.requires_versions.torch;
  return {choice, {"torch: the newest in the package index; choose another with --torch"}};
}

std::string torch_series(const std::string& version) {
  const auto parts = split(version, '.');
  if (parts.size() < 2 || !to_number(parts[0]) || !to_number(parts[1])) return "";
  return fmt::format("{}.{}", parts[0], parts[1]);
}

std::string torch_series(const TorchChoice& torch) {
  if (torch.kind != TorchChoice::Kind::requirement) return "";
  for (const pep::Specifier& one : pep::Requirement::parse(torch.requirement).specifiers) {
    if (one.op == "==" || one.op == "===") return torch_series(one.version);
  }
  return "";
}

TorchBuild torch_of_version(const std::string& version) {
  TorchBuild torch{version, "", ""};
  const std::size_t plus = version.find('+');
  const std::string label = plus == std::string::npos ? "" : version.substr(plus + 1);
  torch.cuda = cuda_of_label(label);
  if (label.starts_with("rocm")) torch.hip = label.substr(4);
  return torch;
}

TorchBuild locked_torch(const env::Lock& lock) {
  const env::PinnedWheel* wheel = lock.find("torch");
  if (wheel == nullptr) return {};
  TorchBuild torch = torch_of_version(wheel->version);
  if (wheel->version.find('+') != std::string::npos) return torch;
  for (const env::PinnedWheel& other : lock.wheels) {
    const std::string name = pep::normalized_name(other.name);
    if (name != "nvidia-cuda-runtime" && !name.starts_with("nvidia-cuda-runtime-cu")) continue;
    const auto parts = split(other.version, '.');
    if (parts.size() >= 2) torch.cuda = std::string(parts[0]) + "." + std::string(parts[1]);
  }
  return torch;
}

}  // namespace wheelsmith::choose
