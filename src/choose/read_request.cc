#include "choose/read_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/request_error.h"
#include "base/text.h"
#include "choose/check_values.h"
#include "choose/targets.h"
#include "choose/user_variables.h"
#include "pep/requirement.h"
#include "sys/files.h"

namespace wheelsmith::choose {

namespace {

// Adds the name of the option to an error in its value.
template <class Read>
auto for_option(const char* option, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw Error(fmt::format("--{}: {}", option, error.what()));
  }
}

// Reads --arch, each of which is a list, and --gpu, whose devices form one list or are added to the only one.
std::vector<gpu::ArchList> read_archs(const settings::Settings& settings) {
  std::vector<gpu::ArchList> lists;
  for (const std::string& text : settings.list("arch"))
    lists.push_back(for_option("arch", [&] { return gpu::ArchList::parse(text); }));
  if (lists.size() > 1 && !settings.list("gpu").empty()) throw Error("--gpu can be combined with one --arch list only");
  return lists;
}

std::vector<recipe::Variant> read_variants(const settings::Settings& settings) {
  std::vector<recipe::Variant> variants;
  for (const std::string& name : settings.list("variant")) {
    const auto variant = recipe::variant_named(name);
    if (!variant) throw Error(fmt::format("--variant {}: must be cpu, cuda or rocm", printable(name)));
    variants.push_back(*variant);
  }
  return variants;
}

// "NAME=REF", or only a ref if there is one package; patch sets have the same form.
std::pair<std::string, std::string> read_named(const std::string& option, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  const std::string value = equals == std::string::npos ? text : text.substr(equals + 1);
  if (value.empty() || value.starts_with('-') || (!name.empty() && !pep::is_valid_name(name)))
    throw Error(fmt::format("--{} {}: must be [NAME=]{}, such as pytorch=release/2.9", option, printable(text),
                            option == "ref" ? "REF" : "SET"));
  return {name, value};
}

// Reads --env-file, then --env, which overrides it.
std::map<std::string, std::string> read_variables(const settings::Settings& settings) {
  std::map<std::string, std::string> variables;
  if (const std::string file = settings.text("env-file"); !file.empty())
    variables = settings::parse_env_file(sys::read_file(file, 1 << 20), file);
  for (const auto& [name, value] : settings.table("env")) variables[name] = value;
  return variables;
}

bool is_of_command_line(const settings::Settings& settings, const char* name) {
  const settings::Held* held = settings.find(name);
  return held != nullptr && held->origin.starts_with("--");
}

// `--variant cpu` on the command line does not contradict GPUs in a settings file: the file sets the architectures of
// the variants that use them.
void drop_archs_of_other_variants(Request& request, const settings::Settings& settings) {
  if (!is_of_command_line(settings, "variant")) return;
  const auto fits = [&](const gpu::Arch& arch) {
    const recipe::Variant variant = arch.vendor == gpu::Vendor::amd ? recipe::Variant::rocm : recipe::Variant::cuda;
    return std::ranges::find(request.variants, variant) != request.variants.end();
  };
  if (!is_of_command_line(settings, "arch")) {
    for (gpu::ArchList& list : request.archs)
      std::erase_if(list.requests, [&](const gpu::ArchRequest& one) { return !fits(one.arch); });
    std::erase_if(request.archs, [](const gpu::ArchList& list) { return list.requests.empty(); });
  }
  if (!is_of_command_line(settings, "gpu"))
    std::erase_if(request.devices, [&](const gpu::Device& device) { return !fits(device.arch); });
}

// A settings file selects packages by name; only the user may give folders and URLs directly.
bool user_names_packages(const settings::Settings& settings) {
  const settings::Held* held = settings.find("packages");
  return held != nullptr && (held->origin.starts_with("--") || held->origin.starts_with("WHEELSMITH_"));
}

void read_packages(Request& request, const settings::Settings& settings) {
  const bool places = user_names_packages(settings);
  for (const std::string& text : settings.list("packages")) {
    if (!places && names_a_place(text))
      throw Error(
          fmt::format("{}: packages {}: must be a package name or NAME==VERSION; use source for a folder or URL",
                      settings.find("packages")->origin, printable(text)));
    Target target = read_target(text);
    if (target.source) request.sources.push_back(std::move(*target.source));
    if (std::ranges::find(request.packages, target.package) == request.packages.end())
      request.packages.push_back(std::move(target.package));
  }
}

Request read_all(const settings::Settings& settings) {
  Request request;
  read_packages(request, settings);
  request.variants = read_variants(settings);
  request.target = settings.text("target");
  request.archs = read_archs(settings);
  for (const std::string& name : settings.list("gpu"))
    request.devices.push_back(for_option("gpu", [&] { return gpu::find_device(name); }));
  drop_archs_of_other_variants(request, settings);
  request.pythons = settings.list("python");
  request.torch = settings.text("torch");
  request.torch_index = settings.text("torch-index");
  request.rocm_index = settings.text("rocm-index");
  request.rocm_channel = settings.text("rocm-channel");
  request.rocm_requirement = version_specifiers("rocm-version", settings.text("rocm-version"));
  for (const std::string& text : settings.list("source")) request.sources.push_back(source::parse_override(text));
  for (const std::string& text : settings.list("ref")) request.refs.push_back(read_named("ref", text));
  for (const std::string& text : settings.list("patchset")) request.patchsets.push_back(read_named("patchset", text));
  request.without = settings.list("without");
  request.platform = settings.text("platform");
  request.build_type = settings.text("build-type");
  request.set = settings.table("set");
  request.environment = read_variables(settings);
  refuse_options_in(request.environment);
  request.network = settings.text("network");
  request.isolated = !settings.flag("no-build-isolation");
  request.allow_unsupported_compiler = settings.flag("allow-unsupported-compiler");
  request.verbose = settings.flag("verbose");
  request.offline = settings.flag("offline");
  return request;
}

}  // namespace

Request read_request(const settings::Settings& settings) {
  try {
    Request request = read_all(settings);
    check_values(request, !settings.text("machine").empty());
    return request;
  } catch (const Error& error) {
    throw RequestError(error.what());
  }
}

Request read_build_request(const settings::Settings& settings) {
  Request request = read_request(settings);
  if (request.packages.empty()) throw RequestError("no package given; name one, or list packages in wheelsmith.toml");
  return request;
}

std::string version_specifiers(const std::string& option, const std::string& text) {
  if (text.empty()) return "";
  if (pep::Version::try_parse(text)) return "==" + text;
  try {
    (void)pep::parse_specifiers(text);
  } catch (const Error&) {
    throw RequestError(
        fmt::format("--{} {}: must be a version, or specifiers such as >=7,<8", option, printable(text)));
  }
  return text;
}

}  // namespace wheelsmith::choose
