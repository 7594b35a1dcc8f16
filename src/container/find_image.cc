#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "container/container.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/terminal.h"

namespace wheelsmith::container {

namespace {

namespace fs = std::filesystem;

struct Found {
  Engine engine;
  fs::path program;
};

std::optional<Found> find_engine(Engine engine) {
  fs::path program = sys::find_program(to_string(engine));
  if (program.empty() && engine == Engine::apptainer) program = sys::find_program("singularity");
  if (program.empty()) return std::nullopt;
  return Found{engine, program};
}

// podman before docker: it needs no service and no root. docker's client without its service can start nothing.
Found choose_engine(const std::string& name, bool is_file) {
  for (const Engine engine : {Engine::podman, Engine::docker, Engine::apptainer}) {
    if (name == "auto" ? is_file && engine != Engine::apptainer : name != to_string(engine)) continue;
    const auto found = find_engine(engine);
    if (found) return *found;
    if (name != "auto" || is_file)
      throw Error(fmt::format("--container: no {} in PATH; install it, or choose another with --container-engine",
                              to_string(engine)));
  }
  throw Error("--container: no podman, docker or apptainer in PATH; install one (apt-get install podman)");
}

std::string last_line(std::string_view text) {
  std::string last;
  for (const std::string_view line : split(text, '\n')) {
    if (!trim(line).empty()) last = trim(line);
  }
  return last;
}

sys::Captured ask(const fs::path& program, std::vector<std::string> words) {
  words.insert(words.begin(), program.string());
  return sys::capture({.argv = words});
}

// nullopt if the image is not on this machine.
std::optional<std::string> id_of(const Found& engine, const std::string& name) {
  const sys::Captured answer = ask(engine.program, {"image", "inspect", "--format", "{{.Id}}", "--", name});
  const std::string id(trim(answer.output));
  if (answer.exit.good()) {
    if (id.empty() || id.find_first_of(" \n") != std::string::npos)
      throw Error(fmt::format("{} does not report the id of {}", to_string(engine.engine), printable(name)));
    return id.starts_with("sha256:") ? id : "sha256:" + id;
  }
  const std::string problem = to_lower(answer.errors);
  if (problem.find("no such image") != std::string::npos || problem.find("image not known") != std::string::npos)
    return std::nullopt;
  throw Error(fmt::format("{}: {}", to_string(engine.engine), printable(last_line(answer.errors))));
}

// Docker's service runs as root for every user, unless it is rootless.
bool maps_our_user(const Found& engine) {
  if (engine.engine != Engine::docker) return true;
  return ask(engine.program, {"info", "--format", "{{.SecurityOptions}}"}).output.find("rootless") != std::string::npos;
}

std::string pulled_id(const Found& engine, const std::string& name) {
  // Shows progress on the terminal: images have gigabytes.
  sys::Process pull({.argv = {engine.program.string(), "pull", "--", name}});
  std::string said;
  const sys::Exit exit = pull.wait([&](std::string_view text) {
    said += text;
    if (said.size() > 65536) said.erase(0, said.size() - 65536);
    sys::write_standard(sys::Stream::errors, text);
  });
  if (!exit.good())
    throw Error(fmt::format("{} cannot pull {}: {}", to_string(engine.engine), printable(name),
                            said.empty() ? sys::to_string(exit) : printable(last_line(said))));
  const auto id = id_of(engine, name);
  if (!id) throw Error(fmt::format("{} pulled {} but does not list it", to_string(engine.engine), printable(name)));
  return *id;
}

bool is_uri(std::string_view name) { return name.find("://") != std::string_view::npos; }

// A file is used in place; an image from a container registry becomes a file in the store.
Image apptainer_image(const Found& engine, const std::string& name, const fs::path& store, bool offline) {
  Image image{engine.engine, engine.program, name, {}, {}, true};
  std::error_code ignored;
  fs::path file = fs::absolute(name);
  if (!fs::is_regular_file(file, ignored)) {
    const std::string uri = is_uri(name) ? name : "docker://" + name;
    file = store / "images" / (to_hex(sha256(Bytes(uri))).substr(0, 32) + ".sif");
    if (!fs::exists(file, ignored)) {
      if (offline) throw Error(fmt::format("--offline: {} has not been pulled before", printable(name)));
      fs::create_directories(file.parent_path());
      const fs::path partial = fmt::format("{}.{}.part", file.string(), ::getpid());
      const sys::Captured pull = ask(engine.program, {"pull", "--force", partial.string(), uri});
      if (!pull.exit.good())
        throw Error(fmt::format("apptainer cannot pull {}: {}", printable(uri), printable(last_line(pull.errors))));
      fs::rename(partial, file);
    }
  }
  image.reference = file.string();
  image.id = "sha256:" + to_hex(sha256(sys::map_file(file).bytes));
  return image;
}

}  // namespace

Image find_image(const std::string& name, const std::string& engine, const fs::path& store, bool offline) {
  if (name.empty() || name.starts_with('-') || name.find_first_of(" \t\r\n") != std::string::npos)
    throw Error(fmt::format("--container {}: not a valid image name", printable(name)));
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(name, ignored);
  const Found found = choose_engine(engine.empty() ? "auto" : engine, is_file);
  if (found.engine == Engine::apptainer) return apptainer_image(found, name, store, offline);
  auto id = id_of(found, name);
  if (!id && offline)
    throw Error(fmt::format("--offline: {} does not have the image {}; `{} pull` or `{} load` adds it",
                            to_string(found.engine), printable(name), to_string(found.engine),
                            to_string(found.engine)));
  if (!id) id = pulled_id(found, name);
  return {found.engine, found.program, name, *id, *id, maps_our_user(found)};
}

}  // namespace wheelsmith::container
