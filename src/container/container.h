#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sys/process/process.h"

// Builds inside an image: the whole command runs there again, in a container of podman, docker or apptainer.
//
// Interpreters, compilers and toolkits are the image's; our program, the store and what the command names are mounted.
// Everything of ours is seen inside under the path that it has outside, so that relative paths, the store's
// environments and the messages mean the same on both sides. The image's id goes into each step's key: a wheel of one
// image is never taken for a wheel of another.

namespace wheelsmith::container {

enum class Engine { podman, docker, apptainer };
std::string_view to_string(Engine engine);

struct Image {
  Engine engine = Engine::podman;
  std::filesystem::path program;  // the engine's
  std::string name;               // as the user wrote it
  std::string reference;          // what is run: an id that no later pull can move, or a file
  std::string id;                 // "sha256:…" of its content
  bool rootless = true;           // our user is root inside, so what is written belongs to us
};

struct Mount {
  std::filesystem::path path;  // outside and inside
  bool writable = false;
};

// What a container is given.
struct Container {
  std::vector<Mount> mounts;
  std::vector<std::filesystem::path> empty_folders;  // there, writable and gone at the end
  std::filesystem::path folder;                      // working directory
  sys::Environment variables;                        // in addition to the image's own
  std::vector<std::string> options;                  // the user's, for the engine
  bool terminal = false;
  bool nvidia = false, amd = false;  // GPUs of this machine
  bool rootless = true;              // as in Image
  unsigned user = 0, group = 0;      // ours
};

// Which engine and image: `engine` is podman, docker, apptainer, or auto. An image that is not here is pulled unless
// `offline`; `store` is where apptainer's images are kept. Throws Error in the engine's own words.
Image find_image(const std::string& name, const std::string& engine, const std::filesystem::path& store, bool offline);

// How the engine is called.
struct EngineCall {
  std::vector<std::string> argv;
  sys::Environment variables;  // for the engine's process: values that no list of processes should show
};
EngineCall engine_call(const Image& image, const Container& container, const std::vector<std::string>& argv);

// Runs it with our streams and hands on its exit status. Throws Error where the engine cannot start a container, with
// what is known about the reason. SIGINT and SIGTERM reach what runs inside.
int run_inside(const Image& image, const Container& container, const std::vector<std::string>& argv);

// Sentences about what on this machine keeps containers without root from starting; `root` is "/" but in tests.
std::vector<std::string> obstacles(const std::filesystem::path& root, unsigned user, const std::string& user_name);

// The image that we run in ourselves, as run_inside() has said in our environment.
struct Inside {
  std::string engine, image, id;
};
inline constexpr const char* k_inside_variable = "_WHEELSMITH_INSIDE";
std::optional<Inside> inside(const sys::Environment& environment);

}  // namespace wheelsmith::container
