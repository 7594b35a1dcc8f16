#include "cli/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/source_words.h"
#include "pep/requirement.h"
#include "sys/file.h"
#include "sys/files.h"
#include "toolchain/description.h"
#include "wheel/check/claimed_platform.h"

namespace wheelsmith::cli {

namespace {

using settings::Kind;

// Exit status 2 for what a setting says wrong, whoever said it.
template <class Read>
auto as_usage(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw UsageError(printable(error.what()));
  }
}

// Where the folders of shipped recipes may be: above the working folder (a checkout), and beside the program (build/ of
// a checkout, share/wheelsmith of an installation).
std::vector<std::filesystem::path> example_folders() {
  std::vector<std::filesystem::path> folders;
  std::error_code ignored;
  for (std::filesystem::path folder = std::filesystem::current_path(ignored); !folder.empty();
       folder = folder.parent_path()) {
    folders.push_back(folder);
    if (folder == folder.parent_path()) break;
  }
  const std::filesystem::path program = sys::own_executable();
  folders.push_back(program.parent_path().parent_path());
  folders.push_back(program.parent_path().parent_path().parent_path());
  folders.push_back(program.parent_path().parent_path() / "share" / "wheelsmith");
  return folders;
}

std::vector<gpu::ArchList> read_archs(const settings::Settings& settings) {
  std::vector<gpu::ArchList> lists;
  for (const std::string& text : settings.list("arch")) lists.push_back(gpu::ArchList::parse(text));
  gpu::ArchList devices;
  for (const std::string& name : settings.list("gpu")) {
    const gpu::ArchRequest request{.arch = gpu::find_device(name).arch, .binary = true, .ptx = false};
    if (std::find(devices.requests.begin(), devices.requests.end(), request) == devices.requests.end())
      devices.requests.push_back(request);
  }
  if (devices.requests.empty()) return lists;
  if (lists.size() > 1) throw Error("--gpu adds to one --arch list, but there are several");
  if (lists.empty()) return {devices};
  for (const gpu::ArchRequest& request : devices.requests) {
    if (std::find(lists[0].requests.begin(), lists[0].requests.end(), request) == lists[0].requests.end())
      lists[0].requests.push_back(request);
  }
  return lists;
}

// A tag that nobody defines is a slip of the pen, and is said before anything is fetched. Whether a wheel built here
// can have a tag that exists is the doctor's to say.
void check_platform_word(const std::string& platform) {
  // What recipes know of other systems is shown by `plan`; the builder refuses them.
  if (platform.starts_with("win") || platform.starts_with("macosx")) return;
  if (platform.empty() || wheel::policy_named(platform, {})) return;
  std::vector<std::string> names;
  for (const pep::Policy& policy : pep::builtin_policies(pep::LibC::glibc)) {
    names.push_back(policy.name);
    names.insert(names.end(), policy.aliases.begin(), policy.aliases.end());
  }
  const auto near = nearest(platform, names);
  throw UsageError(fmt::format("--platform {}: there is no such platform tag; {}", printable(platform),
                               near ? "did you mean " + *near + "?" : "it is one like manylinux_2_28, or linux"));
}

// "NAME=REF", or a ref alone for the only package.
std::pair<std::string, std::string> read_ref(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  const std::string ref = equals == std::string::npos ? text : text.substr(equals + 1);
  if (ref.empty() || ref.starts_with('-') || (!name.empty() && !pep::is_valid_name(name)))
    throw Error(fmt::format("--ref {}: it is [NAME=]REF, like pytorch=release/2.9", printable(text)));
  return {name, ref};
}

// A compiler with a root that is not there finds no headers, and would be blamed for it.
std::filesystem::path read_sysroot(const settings::Settings& settings) {
  const std::string folder = settings.text("sysroot");
  if (!folder.empty() && !sys::is_folder(folder))
    throw UsageError(fmt::format("--sysroot {}: there is no such folder", printable(folder)));
  return folder;
}

std::shared_ptr<const toolchain::Description> read_machine(const std::string& file) {
  return as_usage([&] {
    return std::make_shared<const toolchain::Description>(
        toolchain::read_description(sys::read_file(file, document::k_max_toml_size), file));
  });
}

std::string variable(const sys::Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

}  // namespace

void SettingWords::add_to(CLI::App& command, const std::vector<std::string>& names) {
  for (const settings::Option& option : settings::all_options()) {
    const bool wanted =
        names.empty() ? option.name != "packages" : std::find(names.begin(), names.end(), option.name) != names.end();
    if (!wanted) continue;
    if (option.kind == Kind::flag) {
      command.add_flag("--" + option.name, m_flags[option.name], option.help);
      continue;
    }
    std::string help = option.help;
    if (!option.choices.empty()) help += ": " + join(option.choices, ", ");
    if (!option.fallback.empty()) help += " [" + option.fallback + "]";
    const bool several = option.kind == Kind::list || option.kind == Kind::texts || option.kind == Kind::table;
    CLI::Option* added =
        command.add_option("--" + option.name, m_values[option.name], help + (several ? "; repeatable" : ""));
    added->allow_extra_args(false)->type_name(option.kind == Kind::folder  ? "PATH"
                                              : option.kind == Kind::table ? "NAME=VALUE"
                                                                           : "TEXT");
    if (!several) added->expected(1)->take_last();
  }
}

settings::Settings SettingWords::read(const std::vector<std::string>& packages) const {
  return as_usage([&] {
    settings::Settings result;
    const sys::Environment environment = sys::current_environment();
    std::error_code ignored;
    result.read_files(std::filesystem::current_path(ignored), environment);
    result.read_environment(environment);
    for (const auto& [name, values] : m_values) {
      if (values.empty()) continue;
      if (settings::is_table(name)) {  // a value may hold commas
        result.set_from_command_line(name, document::Array(values.begin(), values.end()));
        continue;
      }
      // What may stand several times is joined the way the environment would have it.
      const bool one_to_a_line = name == "arch" || name == "source" || name == "ref";
      result.set_from_command_line(name, join(values, one_to_a_line ? "\n" : ","));
    }
    for (const auto& [name, value] : m_flags) {
      if (value) result.set_from_command_line(name, true);
    }
    if (!packages.empty()) result.set_from_command_line("packages", document::Array(packages.begin(), packages.end()));
    return result;
  });
}

std::vector<recipe::Library::File> user_recipes(const settings::Settings& settings) {
  std::vector<recipe::Library::File> files;
  const std::filesystem::path folder = settings.text("recipes");
  if (folder.empty()) return files;
  if (!sys::is_folder(folder))
    throw UsageError(fmt::format("--recipes {}: there is no such folder", printable(folder.string())));
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) files.push_back({path.string(), sys::read_file(path, 4 << 20)});
  return files;
}

std::string version_specifiers(const std::string& name, const std::string& text) {
  if (text.empty()) return "";
  if (pep::Version::try_parse(text)) return "==" + text;
  try {
    (void)pep::parse_specifiers(text);
  } catch (const Error&) {
    throw UsageError(fmt::format("--{} {}: neither a version nor specifiers like >=7,<8", name, printable(text)));
  }
  return text;
}

unsigned number_setting(const settings::Settings& settings, const std::string& name, unsigned fallback) {
  const std::string text = settings.text(name);
  if (text.empty()) return fallback;
  const auto number = to_number(text);
  if (!number || *number > 1'000'000)
    throw UsageError(fmt::format("{} {} is no number that makes sense here", name, printable(text)));
  return static_cast<unsigned>(*number);
}

Session::Session(const settings::Settings& settings, bool upgrade) : m_settings(settings), m_upgrade(upgrade) {
  m_recipes = std::make_unique<recipe::Library>(user_recipes(m_settings));
  const std::string root = m_settings.text("store");
  m_store =
      std::make_unique<store::Store>(root.empty() ? store::Store::default_root() : std::filesystem::absolute(root));
  m_host.environment = sys::current_environment();
  m_host.cc = m_settings.text("cc");
  m_host.cxx = m_settings.text("cxx");
  m_host.cuda = m_settings.text("cuda");
  m_host.rocm = m_settings.text("rocm");
  m_host.sysroot = read_sysroot(m_settings);
  m_host.use_conda = m_settings.flag("conda");
  if (const std::string file = m_settings.text("machine"); !file.empty()) {
    m_host.described = read_machine(file);
    m_host.environment = m_host.described->environment;
  }
  store::Store& kept = *m_store;
  m_host.memo.find = [&kept](std::string_view kind, std::string_view subject, std::string_view fingerprint) {
    return kept.remembered(kind, subject, fingerprint);
  };
  m_host.memo.keep = [&kept](std::string_view kind, std::string_view subject, std::string_view fingerprint,
                             std::string_view facts) { kept.remember(kind, subject, fingerprint, facts); };
  m_fetcher = std::make_unique<fetch::Fetcher>(*m_store, fetch_options());
}

fetch::FetchOptions Session::fetch_options() const {
  fetch::FetchOptions options;
  // It is this machine that fetches, whichever is planned for.
  const sys::Environment environment = sys::current_environment();
  const std::filesystem::path python = sys::find_program("python3", variable(environment, "PATH"));
  options.index = fetch::read_pip_settings(environment, variable(environment, "VIRTUAL_ENV"));
  options.offline = m_settings.flag("offline");
  options.python = python;
  options.mirrors = m_settings.table("mirrors");
  options.stop = [] { return sys::interrupted(); };
  return options;
}

choose::Request Session::request() const {
  return as_usage([&] {
    choose::Request request;
    request.packages = m_settings.list("packages");
    for (const std::string& name : request.packages) {
      if (!pep::is_valid_name(name))
        throw Error(fmt::format("\"{}\" is no name of a package (a folder to build from is given by --source)", name));
    }
    for (const std::string& name : m_settings.list("variant")) {
      const auto variant = recipe::variant_named(name);
      if (!variant) throw Error(fmt::format("--variant {}: it is cpu, cuda or rocm", printable(name)));
      request.variants.push_back(*variant);
    }
    request.target = m_settings.text("target");
    request.archs = read_archs(m_settings);
    request.pythons = m_settings.list("python");
    request.torch = m_settings.text("torch");
    request.torch_index = m_settings.text("torch-index");
    request.rocm_index = m_settings.text("rocm-index");
    request.rocm_channel = m_settings.text("rocm-channel");
    request.rocm_requirement = version_specifiers("rocm-version", m_settings.text("rocm-version"));
    for (const std::string& text : m_settings.list("source")) request.sources.push_back(source::parse_override(text));
    for (const std::string& text : m_settings.list("ref")) request.refs.push_back(read_ref(text));
    request.platform = m_settings.text("platform");
    request.build_type = m_settings.text("build-type");
    request.set = m_settings.table("set");
    if (const std::string file = m_settings.text("env-file"); !file.empty())
      request.environment = settings::parse_env_file(sys::read_file(file, 1 << 20), file);
    for (const auto& [name, value] : m_settings.table("env")) request.environment[name] = value;
    request.network = m_settings.text("network");
    request.verbose = m_settings.flag("verbose");
    request.upgrade = m_upgrade;
    request.offline = m_settings.flag("offline");
    return request;
  });
}

choose::Request Session::build_request() const {
  choose::Request result = request();
  if (result.packages.empty())
    throw UsageError("nothing to build: name a package, or list packages in wheelsmith.toml");
  check_platform_word(result.platform);
  return result;
}

plan::PlanInputs Session::inputs() {
  plan::PlanInputs inputs{.store = *m_store,
                          .fetcher = *m_fetcher,
                          .recipes = *m_recipes,
                          .host = m_host,
                          .recipe_folder = m_settings.text("recipes"),
                          .patch_folder = patch_folder("", m_settings),
                          .example_folders = example_folders()};
  return inputs;
}

}  // namespace wheelsmith::cli
