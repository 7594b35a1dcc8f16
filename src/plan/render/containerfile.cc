// A plan as a Containerfile: an image that has what the script needs, and the script run in it.
//
// An image is not this machine: interpreters, compilers and sources are elsewhere in it. The script takes their places
// from variables, which are set here. Folders come in as named build contexts, so that none has to be copied beside the
// file.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "plan/render/render.h"
#include "sys/process.h"

namespace wheelsmith::plan {

namespace {

constexpr std::string_view k_debian = "debian:12-slim";
constexpr std::string_view k_debian_python = "3.11";

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// Images of the Red Hat kind have dnf; all others that are in use for this have apt.
bool uses_dnf(std::string_view image) {
  for (const std::string_view name : {"manylinux", "almalinux", "rocky", "centos", "fedora", "ubi8", "ubi9", "rhel"}) {
    if (has(image, name)) return true;
  }
  return false;
}

// Where the manylinux images of the Python Packaging Authority are mirrored is the user's to say (--build-arg); we name
// no host.
std::string manylinux(std::string_view policy, const std::string& machine) {
  std::string image = fmt::format("${{MANYLINUX_IMAGES}}/{}", policy);
  return image.ends_with("_" + machine) ? image : image + "_" + machine;
}

std::set<std::string> pythons_of(const Plan& plan) {
  std::set<std::string> versions;
  for (const Step& step : plan.steps) versions.insert(step.spec.python.short_version());
  return versions;
}

// The platform's own image where a tag is asked for; else the smallest that has the interpreters.
std::string choose_base(const Plan& plan) {
  if (plan.steps.empty()) return std::string(k_debian);
  const BuildSpec& first = plan.steps.front().spec;
  if (first.platform.starts_with("manylinux")) return manylinux(first.platform, first.python.machine());
  const std::set<std::string> pythons = pythons_of(plan);
  if (pythons.size() > 1) return manylinux("manylinux_2_28", first.python.machine());
  if (*pythons.begin() == k_debian_python) return std::string(k_debian);
  return fmt::format("python:{}-slim-bookworm", *pythons.begin());
}

// A context's name and a folder in the image: letters that need no quoting.
std::string plain_name(std::string_view name) {
  std::string result = to_lower(name);
  for (char& c : result) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '-';
  }
  return "source-" + result;
}

// A value for ENV: in double quotes, where $ and \ mean something.
std::string env_quoted(std::string_view value) {
  std::string result = "\"";
  for (const char c : value) {
    if (c == '\n' || c == '\r') throw Error(fmt::format("{} cannot stand in a Containerfile", printable(value)));
    if (c == '"' || c == '\\' || c == '$') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string interpreter(const toolchain::Python& python, std::string_view image) {
  if (has(image, "manylinux")) return fmt::format("/opt/python/{}-{}/bin/python", python.tag, python.abi);
  if (image.starts_with("python:")) return "/usr/local/bin/python3";
  return "/usr/bin/python" + python.short_version();
}

std::string packages(const Plan& plan, std::string_view image) {
  std::set<std::string> names = {"gcc", "make", "git", "curl", "patch", "tar", "xz"};
  const bool dnf = uses_dnf(image);
  names.insert(dnf ? "gcc-c++" : "g++");
  if (!dnf) {
    names.erase("xz");
    names.insert({"xz-utils", "ca-certificates"});
  }
  if (!has(image, "manylinux") && !image.starts_with("python:")) {
    for (const std::string& version : pythons_of(plan)) {
      names.insert("python" + version + (dnf ? "-devel" : "-dev"));
      if (!dnf) names.insert("python" + version + "-venv");
    }
  }
  for (const Step& step : plan.steps) {
    for (const auto& [name, path] : step.spec.tools.programs) {
      if (name == "cmake" || name == "patchelf") names.insert(name);
      if (name == "ninja") names.insert("ninja-build");
    }
  }
  return join(std::vector<std::string>(names.begin(), names.end()), " ");
}

std::string install_line(const Plan& plan, std::string_view image) {
  // Images for manylinux bring newer compilers than their system's; those stay.
  if (has(image, "manylinux")) return "RUN dnf install -y curl git patch xz && dnf clean all\n";
  if (uses_dnf(image)) return fmt::format("RUN dnf install -y {} && dnf clean all\n", packages(plan, image));
  return fmt::format(
      "RUN apt-get update && \\\n    apt-get install -y --no-install-recommends {} && \\\n    rm -rf "
      "/var/lib/apt/lists/*\n",
      packages(plan, image));
}

std::string cuda_note(const Plan& plan, std::string_view image) {
  for (const Step& step : plan.steps) {
    const CudaSpec& cuda = step.spec.tools.cuda;
    if (step.spec.variant != recipe::Variant::cuda || cuda.root.empty() || has(image, "cuda")) continue;
    return fmt::format(
        "# The plan takes the CUDA {} toolkit of this machine. The image must have it at /usr/local/cuda: name one of "
        "the\n"
        "# \"devel\" kind, as --base-image nvidia/cuda:{}.0-devel-ubuntu22.04; those called \"base\" and \"runtime\" "
        "have no nvcc.\n",
        printable(cuda.version), printable(cuda.version));
  }
  return "";
}

}  // namespace

std::string to_containerfile(const Plan& plan, const std::string& base_image) {
  const std::string image = base_image.empty() ? choose_base(plan) : base_image;
  if (image.find_first_of(" \t\r\n") != image.npos || image.starts_with('-'))
    throw Error(fmt::format("{} is no name of an image", printable(image)));
  std::map<std::string, std::string> contexts, variables;
  bool cuda = false;
  for (const Step& step : plan.steps) {
    const BuildSpec& spec = step.spec;
    variables[script_variable("PYTHON", spec.python.abi)] = interpreter(spec.python, image);
    cuda = cuda || !spec.tools.cuda.root.empty();
    if (spec.source.kind != source::Pin::Kind::folder) continue;
    contexts[plain_name(spec.package)] = spec.source.folder.string();
    variables[script_variable("SOURCE", spec.package)] = "/" + plain_name(spec.package);
  }
  // Compilers of manylinux images come first in their own PATH, at a place that differs from image to image.
  variables["BUILD_CC"] = has(image, "manylinux") ? "/opt/compilers/gcc" : "/usr/bin/gcc";
  variables["BUILD_CXX"] = has(image, "manylinux") ? "/opt/compilers/g++" : "/usr/bin/g++";
  if (cuda) variables["BUILD_CUDA"] = "/usr/local/cuda";

  std::string text =
      "# Printed by `wheelsmith plan --containerfile`. Beside it the script of the same plan:\n"
      "#   wheelsmith plan … --script > build.sh\n"
      "#   podman build --target wheels --output dist";
  for (const auto& [name, folder] : contexts)
    text += fmt::format(" --build-context {}={}", name, printable(sys::shell_quoted(folder)));
  text += " .\n# Another package index: --build-arg PIP_INDEX_URL=…\n";
  text += cuda_note(plan, image);
  if (image.starts_with("${")) text += "ARG MANYLINUX_IMAGES\n";
  text += fmt::format("FROM {} AS build\nARG PIP_INDEX_URL\n", image);
  text += install_line(plan, image);
  if (has(image, "manylinux"))
    text += "RUN mkdir -p /opt/compilers && ln -s \"$(command -v gcc)\" \"$(command -v g++)\" /opt/compilers/\n";
  for (const auto& [name, value] : variables) text += fmt::format("ENV {}={}\n", name, env_quoted(value));
  for (const auto& [name, folder] : contexts) text += fmt::format("COPY --from={0} . /{0}\n", name);
  text += "COPY build.sh /build/build.sh\nWORKDIR /build\nRUN bash build.sh\n\n";
  return text + "FROM scratch AS wheels\nCOPY --from=build /build/dist/ /\n";
}

}  // namespace wheelsmith::plan
