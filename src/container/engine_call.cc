#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "container/container.h"

namespace wheelsmith::container {

namespace {

// The engines separate the parts of a mount by these characters, without a common way to quote them.
void check_mountable(const std::filesystem::path& path, Engine engine) {
  const std::string text = path.string();
  const std::string_view separators = engine == Engine::apptainer ? ",:\n" : ",\"\n";
  if (text.find_first_of(separators) != std::string::npos)
    throw Error(
        fmt::format("cannot mount {} into the container: {} does not support paths with a comma, colon or quote",
                    printable(text), to_string(engine)));
}

bool has_value_in_call(std::string_view name) {
  // The engine itself also reads these variables, and its own values must not change.
  return name == "HOME" || name == "XDG_CONFIG_HOME" || name == "PATH";
}

void pass_variables(EngineCall& call, const sys::Environment& variables) {
  for (const auto& [name, value] : variables) {
    call.argv.emplace_back("--env");
    if (has_value_in_call(name)) {
      call.argv.push_back(name + "=" + value);
    } else {
      call.argv.push_back(name);
      call.variables[name] = value;
    }
  }
}

void add_all(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

EngineCall oci_call(const Image& image, const Container& container) {
  EngineCall call;
  std::vector<std::string>& words = call.argv;
  // The host's network, so that mirrors, proxies and caches on loopback work as outside. Compile phases have no
  // network.
  words = {image.program.string(), "run", "--rm", "--network", "host", "--workdir", container.folder.string()};
  if (container.terminal) words.emplace_back("-it");
  if (image.engine == Engine::podman) {
    // Relabelling would change the user's files.
    add_all(words, {"--pull", "never", "--security-opt", "label=disable"});
  }
  // Without it, files written on the host would belong to root.
  if (!container.rootless) add_all(words, {"--user", fmt::format("{}:{}", container.user, container.group)});
  for (const std::filesystem::path& folder : container.empty_folders) {
    check_mountable(folder, image.engine);
    add_all(words, {"--tmpfs", folder.string()});
  }
  for (const Mount& mount : container.mounts) {
    check_mountable(mount.path, image.engine);
    add_all(words, {"--mount", fmt::format("type=bind,source={0},target={0}{1}", mount.path.string(),
                                           mount.writable ? "" : ",readonly")});
  }
  if (container.nvidia) {
    if (image.engine == Engine::podman) add_all(words, {"--device", "nvidia.com/gpu=all"});
    if (image.engine == Engine::docker) add_all(words, {"--gpus", "all"});
  }
  if (container.amd) add_all(words, {"--device", "/dev/kfd", "--device", "/dev/dri"});
  pass_variables(call, container.variables);
  words.insert(words.end(), container.options.begin(), container.options.end());
  return call;
}

EngineCall apptainer_call(const Image& image, const Container& container) {
  EngineCall call;
  std::vector<std::string>& words = call.argv;
  words = {image.program.string(),   "exec", "--cleanenv", "--no-home", "--no-mount", "cwd", "--pid", "--pwd",
           container.folder.string()};
  for (const Mount& mount : container.mounts) {
    check_mountable(mount.path, image.engine);
    add_all(words, {"--bind", fmt::format("{0}:{0}:{1}", mount.path.string(), mount.writable ? "rw" : "ro")});
  }
  for (const std::filesystem::path& folder : container.empty_folders) add_all(words, {"--scratch", folder.string()});
  if (container.nvidia) words.emplace_back("--nv");
  if (container.amd) words.emplace_back("--rocm");
  for (const auto& [name, value] : container.variables) {
    call.variables["APPTAINERENV_" + name] = value;
    call.variables["SINGULARITYENV_" + name] = value;
  }
  words.insert(words.end(), container.options.begin(), container.options.end());
  return call;
}

}  // namespace

EngineCall engine_call(const Image& image, const Container& container, const std::vector<std::string>& argv) {
  if (argv.empty()) throw Error("a container without a command");
  Container given = container;
  given.variables[k_inside_variable] = fmt::format("{} {} {}", to_string(image.engine), image.id, image.name);
  EngineCall call;
  if (image.engine == Engine::apptainer) {
    call = apptainer_call(image, given);
    call.argv.push_back(image.reference);
    call.argv.push_back(argv.front());
  } else {
    // The image's entry point may print a banner or start a shell.
    call = oci_call(image, given);
    add_all(call.argv, {"--entrypoint", argv.front(), image.reference});
  }
  call.argv.insert(call.argv.end(), argv.begin() + 1, argv.end());
  return call;
}

std::string_view to_string(Engine engine) {
  switch (engine) {
    case Engine::podman: return "podman";
    case Engine::docker: return "docker";
    case Engine::apptainer: return "apptainer";
  }
  return "";
}

std::optional<Inside> inside(const sys::Environment& environment) {
  const auto found = environment.find(k_inside_variable);
  if (found == environment.end()) return std::nullopt;
  const std::string& text = found->second;
  const std::size_t first = text.find(' ');
  const std::size_t second = first == std::string::npos ? first : text.find(' ', first + 1);
  if (second == std::string::npos)
    throw Error(fmt::format("{} is set by something other than Wheelsmith", k_inside_variable));
  return Inside{text.substr(0, first), text.substr(second + 1), text.substr(first + 1, second - first - 1)};
}

}  // namespace wheelsmith::container
