// ROCm for people: `rocm install` puts the SDK's wheels into an environment.
//
// `pip install "rocm[libraries,devel]"` does nearly the same, with three traps that are kept closed here. `rocm` is a
// source whose setup.py chooses the GPU's libraries by what it sees when it is asked for metadata, pip keeps the wheel
// with that choice, and the next environment gets it for another GPU. An index of ROCm's wheels has no setuptools to
// build that source with. And versions of the parts are only held together by it. So the wheels are chosen by name, all
// of one version, and the source, which holds rocm-sdk itself, is built with the family told and nothing kept.

#include "plan/rocm.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/rocm_commands.h"
#include "cli/session.h"
#include "env/env.h"
#include "env/rocm_wheels.h"
#include "gpu/arch_words.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;
using document::Array;
using document::Table;

struct InstallCommand {
  OutputOptions output;
  SettingWords settings;
  std::string index_url, channel, into, version;
  std::vector<std::string> families, extras{"libraries", "devel"};
  bool prereleases = true, dry_run = false;
};

void print_status(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::vector<std::string> members_of(const std::string& family) {
  std::vector<std::string> words;
  for (const gpu::NamedTargets& known : gpu::amd_families()) {
    if (to_lower(known.name) == to_lower(family)) return known.members;
    words.push_back(known.name);
    words.insert(words.end(), known.members.begin(), known.members.end());
  }
  if (std::find(words.begin(), words.end(), family) != words.end()) return {family};
  const auto near = nearest(family, words);
  throw UsageError(fmt::format("--family {}: there is no such family of GPUs{}", printable(family),
                               near ? "; did you mean " + *near + "?" : ", like gfx1151, gfx94X-dcgpu or gfx110X-all"));
}

// As the table has it: wheels are named so.
std::string spelled(const std::string& family) {
  for (const gpu::NamedTargets& known : gpu::amd_families()) {
    if (to_lower(known.name) == to_lower(family)) return known.name;
  }
  return family;
}

env::RocmWanted wanted(const InstallCommand& command) {
  env::RocmWanted result;
  result.specifiers = version_specifiers("version", command.version);
  result.prereleases = command.prereleases;
  result.extras = command.extras;
  for (const std::string& extra : result.extras) {
    static const std::vector<std::string> known = {"libraries", "devel", "profiler"};
    if (std::find(known.begin(), known.end(), extra) != known.end()) continue;
    const auto near = nearest(extra, known);
    throw UsageError(fmt::format("--extras {}: it is libraries, devel or profiler{}", printable(extra),
                                 near ? "; did you mean " + *near + "?" : ""));
  }
  for (const std::string& family : command.families) {
    for (const std::string& target : members_of(family)) {
      if (std::find(result.targets.begin(), result.targets.end(), target) == result.targets.end())
        result.targets.push_back(target);
    }
  }
  if (command.families.size() == 1) result.families.push_back(spelled(command.families.front()));
  return result;
}

std::string index_of(const InstallCommand& command, const settings::Settings& settings) {
  const std::string channel = command.channel.empty() ? settings.text("rocm-channel") : command.channel;
  const std::string family = command.families.size() == 1 ? spelled(command.families.front()) : "";
  if (!command.index_url.empty()) return plan::rocm_index_url(command.index_url, "", family);
  const std::string index = settings.text("rocm-index");
  if (index.empty() && channel.empty())
    throw UsageError(
        "where are ROCm's wheels? Give --index-url URL, or put rocm-index = \"https://…\" into wheelsmith.toml");
  try {
    if (index.find("{family}") != index.npos && family.empty())
      throw Error("the index has a folder for each family: install for one --family at a time");
    return plan::rocm_index_url(index, channel, family);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

// An environment's own interpreter; a system's packages are its package manager's.
toolchain::Python target_python(const InstallCommand& command, const Session& session) {
  const sys::Environment& environment = session.host().environment;
  const auto active = environment.find("VIRTUAL_ENV");
  std::string place = command.into;
  if (place.empty() && active != environment.end()) place = active->second;
  if (place.empty())
    throw UsageError("into which environment? Activate one, or give its folder: --into DIR (python3 -m venv DIR)");
  std::error_code ignored;
  if (fs::is_directory(place, ignored)) place = (fs::absolute(place) / "bin" / "python").string();
  toolchain::Python python = toolchain::find_python(place, session.host());
  if (python.prefix == python.base_prefix)
    throw Error(fmt::format("{} is no environment's interpreter but the system's own; make one first: {} -m venv DIR",
                            python.executable.string(), python.executable.string()));
  return python;
}

// The wheel of the source `rocm`, in `folder`: built by pip in an environment of the store whose setuptools comes from
// the user's own index, since that of ROCm has none. A wheel of it that an index has is taken as it is.
fs::path selector_wheel(const std::string& version, const std::string& family, fetch::Fetcher& index, Session& session,
                        const toolchain::Python& python, const fs::path& folder) {
  const auto same = [&](std::string_view text) {
    const auto other = pep::Version::try_parse(text);
    return other && *other == pep::Version::parse(version);
  };
  const pep::ProjectFile* source = nullptr;
  for (const pep::ProjectFile& file : index.project("rocm").files) {
    const auto hash = file.hashes.find("sha256");
    const std::string sha256 = hash == file.hashes.end() ? "" : hash->second;
    if (file.is_wheel() && same(pep::WheelName::parse(file.name).version))
      return index.download(file.url, file.name, sha256);
    const auto of_source = pep::sdist_version(file.name, "rocm");
    if (file.is_sdist() && of_source && same(*of_source)) source = &file;
  }
  if (source == nullptr) throw Error(fmt::format("the index has no rocm {}, which holds rocm-sdk", version));
  const auto hash = source->hashes.find("sha256");
  const fs::path archive = index.download(source->url, source->name, hash == source->hashes.end() ? "" : hash->second);
  env::ResolveOptions options;
  options.offline = session.settings().flag("offline");
  const env::Lock lock =
      env::resolve({"pip", "setuptools>=70.2", "wheel"}, python, session.fetcher(), session.store(), options);
  const env::Environment builder = env::make_environment(python, lock, {}, session.fetcher(), session.store());
  sys::Command command;
  command.argv = {builder.python.string(),
                  "-m",
                  "pip",
                  "wheel",
                  "--quiet",
                  "--no-deps",
                  "--no-index",
                  "--no-build-isolation",
                  "--no-cache-dir",
                  "--disable-pip-version-check",
                  "--wheel-dir",
                  folder.string(),
                  archive.string()};
  sys::Environment environment = sys::current_environment();
  for (const char* name : {"PYTHONPATH", "PYTHONHOME"}) environment.erase(name);
  if (!family.empty()) environment["ROCM_SDK_TARGET_FAMILY"] = family;
  command.environment = environment;
  command.folder = folder;
  command.timeout = std::chrono::minutes(10);
  const sys::Captured done = sys::capture(command, 1 << 20);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".whl") return entry.path();
  }
  throw Error(fmt::format("the source of rocm {} gave no wheel: {}\n{}", version, sys::to_string(done.exit),
                          to_valid_utf8(done.output + done.errors)));
}

std::vector<std::pair<std::string, std::string>> variables_of(const toolchain::Rocm& rocm) {
  std::vector<std::pair<std::string, std::string>> variables = {
      {"ROCM_PATH", rocm.root.string()}, {"ROCM_HOME", rocm.root.string()}, {"HIP_PATH", rocm.root.string()}};
  if (!rocm.device_libraries.empty()) variables.emplace_back("HIP_DEVICE_LIB_PATH", rocm.device_libraries.string());
  if (!rocm.clang.empty()) variables.emplace_back("HIP_CLANG_PATH", rocm.clang.string());
  if (!rocm.cmake.empty()) variables.emplace_back("CMAKE_PREFIX_PATH", rocm.cmake.string());
  return variables;
}

struct Installed {
  std::string version, family, index;
  env::Lock lock;
  toolchain::Python python;
  std::optional<toolchain::Rocm> rocm;
};

void report(const InstallCommand& command, const Installed& done) {
  if (command.output.json) {
    Table document;
    document["schema"] = 1;
    document["version"] = done.version;
    document["index"] = done.index;
    document["family"] = done.family;
    document["environment"] = done.python.prefix.string();
    document["dry_run"] = command.dry_run;
    Array wheels;
    for (const env::PinnedWheel& wheel : done.lock.wheels) {
      Table item;
      item["name"] = wheel.name;
      item["version"] = wheel.version;
      item["file"] = wheel.file_name;
      item["sha256"] = wheel.sha256;
      wheels.emplace_back(std::move(item));
    }
    document["wheels"] = std::move(wheels);
    Table variables;
    if (done.rocm) {
      document["root"] = done.rocm->root.string();
      document["targets"] = Array(done.rocm->targets.begin(), done.rocm->targets.end());
      for (const auto& [name, value] : variables_of(*done.rocm)) variables[name] = value;
    }
    document["variables"] = std::move(variables);
    print(document::to_json(document) + "\n");
    return;
  }
  std::string text;
  for (const env::PinnedWheel& wheel : done.lock.wheels)
    text += fmt::format("{} {} {}\n", command.dry_run ? "would install" : "installed", wheel.name, wheel.version);
  if (done.rocm) {
    text += fmt::format("ROCm {} in {}\n", done.version, done.rocm->root.string());
    for (const auto& [name, value] : variables_of(*done.rocm))
      text += fmt::format("export {}={}\n", name, sys::shell_quoted(value));
  }
  print(text);
}

int install(const InstallCommand& command) {
  const settings::Settings settings = command.settings.read();
  const env::RocmWanted choice = wanted(command);
  Installed done;
  const std::string url = index_of(command, settings);
  done.index = fetch::without_credentials(url);
  Session session(settings);
  done.python = target_python(command, session);
  fetch::FetchOptions options = session.fetch_options();
  options.index = {};
  options.index.index_url = url;
  fetch::Fetcher index(session.store(), options);
  const env::RocmWheels wheels = env::choose_rocm_wheels(choice, index);
  done.version = wheels.version;
  done.family = wheels.family;
  env::ResolveOptions resolve;
  resolve.index_urls = {url};
  resolve.prereleases = true;
  resolve.offline = settings.flag("offline");
  done.lock = env::resolve(wheels.requirements, done.python, session.fetcher(), session.store(), resolve);
  if (!command.dry_run) {
    // All that can fail for want of a network or a setuptools comes before the first file of the environment changes.
    std::vector<fs::path> files;
    for (const env::PinnedWheel& wheel : done.lock.wheels) {
      if (!command.output.json) print_status(fmt::format("fetching {}\n", wheel.file_name));
      files.push_back(index.download(wheel.url, wheel.file_name, wheel.sha256));
    }
    const sys::TempDir folder;
    const std::string family = !wheels.family.empty() ? wheels.family : choice.targets.front();
    files.push_back(selector_wheel(wheels.version, family, index, session, done.python, folder.path()));
    const env::InstallTarget target = env::install_target(done.python);
    for (const fs::path& file : files) env::install_wheel(file, target, true, usable_threads());
    const bool devel = std::find(choice.extras.begin(), choice.extras.end(), "devel") != choice.extras.end();
    std::string problem;
    done.rocm = toolchain::read_rocm_sdk(done.python, session.host(), &problem);
    if (devel && !done.rocm)
      throw Error(fmt::format("installed, but rocm-sdk does not answer: {}",
                              problem.empty() ? "the module rocm_sdk is not there" : problem));
  }
  report(command, done);
  return k_fine;
}

}  // namespace

void add_rocm(CLI::App& app, Outcome& outcome) {
  CLI::App* group = app.add_subcommand("rocm", "Put ROCm's SDK into an environment");
  group->require_subcommand(1);
  auto command = std::make_shared<InstallCommand>();
  CLI::App* sub = group->add_subcommand("install", "Install the SDK's wheels of an index, for one family of GPUs");
  sub->footer(
      "Installs rocm-sdk, the core, libraries with the family's device code, headers and CMake files, all of one\n"
      "version, checks that rocm-sdk answers, and prints the variables that builds want.\n\n"
      "Examples:\n"
      "  wheelsmith rocm install --index-url URL --family gfx1151 --into venv\n"
      "  wheelsmith rocm install --channel nightly --family gfx94X-dcgpu --version 7.10.0 --dry-run");
  CLI::Option* url = sub->add_option("--index-url", command->index_url, "Index of the wheels [rocm-index]");
  sub->add_option("--channel", command->channel, "Channel that {channel} of the setting rocm-index stands for")
      ->check(CLI::IsMember({"nightly", "dev"}))
      ->excludes(url);
  sub->add_option("--family", command->families, "GPUs: gfx1151, gfx94X-dcgpu, gfx110X-all, …; a list with commas")
      ->required()
      ->delimiter(',');
  sub->add_option("--into", command->into, "Environment's folder or interpreter; default: the active one");
  sub->add_option("--version", command->version, "7.10.0, or specifiers like >=7,<8; default: the newest");
  sub->add_option("--extras", command->extras, "libraries, devel, profiler; a list with commas [libraries,devel]")
      ->delimiter(',');
  sub->add_flag("--pre,!--no-pre", command->prereleases, "Whether pre-releases count [yes]");
  sub->add_flag("--dry-run", command->dry_run, "Only say what would be installed");
  command->settings.add_to(*sub, {"mirrors", "offline", "store"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return install(*command); }; });
  add_rocm_fetch(*group, outcome);
  add_rocm_package(*group, outcome);
}

}  // namespace wheelsmith::cli
