#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sys/process/process.h"

// Builds inside an image: the whole command runs again in a container of podman, docker or apptainer.
// Interpreters, compilers and toolkits come from the image; wheelsmith, the store and the paths given on the command
// line are mounted. Mounted paths are the same inside and outside, so that relative paths, the store's environments and
// messages are valid on both sides. The image's id is part of each step's key, so that wheels of different images are
// never mixed up.

namespace wheelsmith::container {

enum class Engine { podman, docker, apptainer };
std::string_view to_string(Engine engine);

struct Image {
  Engine engine = Engine::podman;
  std::filesystem::path program;  // the engine's
  std::string name;               // as the user wrote it
  std::string reference;          // passed to the engine: an id that a later pull cannot change, or a file
  std::string id;                 // "sha256:…" of its content
  bool rootless = true;           // the user is root inside, so written files belong to the user
};

struct Mount {
  std::filesystem::path path;  // outside and inside
  bool writable = false;
};

// The inputs of a container.
struct Container {
  std::vector<Mount> mounts;
  std::vector<std::filesystem::path> empty_folders;  // exist, are writable, and are discarded at the end
  std::filesystem::path folder;                      // working directory
  sys::Environment variables;                        // in addition to those of the image
  std::vector<std::string> options;                  // the user's options for the engine
  bool terminal = false;
  bool nvidia = false, amd = false;  // GPUs of this machine
  bool rootless = true;              // as in Image
  unsigned user = 0, group = 0;      // of this process
};

// Finds the engine and the image. `engine` is podman, docker, apptainer, or auto. A missing image is pulled unless
// `offline`; apptainer's images are kept in `store`. Throws Error with the engine's message.
Image find_image(const std::string& name, const std::string& engine, const std::filesystem::path& store, bool offline);

// The command line of the engine.
struct EngineCall {
  std::vector<std::string> argv;
  sys::Environment variables;  // for the engine's process: values that must not be visible in process lists
};
EngineCall engine_call(const Image& image, const Container& container, const std::vector<std::string>& argv);

// Runs it with the streams of this process and returns its exit status. Throws Error with the likely reason if the
// engine cannot start a container. Forwards SIGINT and SIGTERM.
int run_inside(const Image& image, const Container& container, const std::vector<std::string>& argv);

// The settings of this machine that prevent rootless containers, one sentence each; `root` is "/" except in tests.
std::vector<std::string> obstacles(const std::filesystem::path& root, unsigned user, const std::string& user_name);

// The image of the container that this process runs in, from the environment variable set by run_inside().
struct Inside {
  std::string engine, image, id;
};
inline constexpr const char* k_inside_variable = "_WHEELSMITH_INSIDE";
std::optional<Inside> inside(const sys::Environment& environment);

}  // namespace wheelsmith::container
