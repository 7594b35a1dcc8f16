// A plan as a Containerfile: an image with everything that the script needs, and the script run in it.
// Interpreters, compilers and sources have other paths in an image than on this machine. The script reads their paths
// from variables, which are set here. Folders are passed as named build contexts, so that none has to be copied beside
// the file.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "pep/version.h"
#include "plan/render/render.h"
#include "sys/process/process.h"

namespace wheelsmith::plan {

namespace {

constexpr std::string_view k_debian = "debian:12-slim";
constexpr std::string_view k_debian_python = "3.11";

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// Red Hat based images have dnf; all other common images have apt.
bool uses_dnf(std::string_view image) {
  for (const std::string_view name : {"manylinux", "almalinux", "rocky", "centos", "fedora", "ubi8", "ubi9", "rhel"}) {
    if (has(image, name)) return true;
  }
  return false;
}

// The user gives the host of the PyPA manylinux images (--build-arg); no host is built in.
std::string manylinux(std::string_view policy, const std::string& machine) {
  std::string image = fmt::format("${{MANYLINUX_IMAGES}}/{}", policy);
  return image.ends_with("_" + machine) ? image : image + "_" + machine;
}

std::set<std::string> pythons_of(const Plan& plan) {
  std::set<std::string> versions;
  for (const Step& step : plan.steps) versions.insert(step.spec.python.short_version());
  return versions;
}

// NVIDIA tags its images with the update number of a release; unlisted releases use X.Y.0.
std::string cuda_image_version(const std::string& version) {
  static const std::map<std::string, std::string, std::less<>> newest = {
      {"12.1", "12.1.1"}, {"12.2", "12.2.2"}, {"12.3", "12.3.2"}, {"12.4", "12.4.1"}, {"12.5", "12.5.1"},
      {"12.6", "12.6.3"}, {"12.8", "12.8.1"}, {"12.9", "12.9.1"}, {"13.0", "13.0.2"}};
  const auto found = newest.find(version);
  return found != newest.end() ? found->second : version + ".0";
}

std::string release_of(const std::string& version) {
  const std::vector<std::string_view> parts = split(version, '.');
  return parts.size() < 2 ? version : fmt::format("{}.{}", parts[0], parts[1]);
}

// An image with the machine's toolkit and the plan's interpreter: the vendor's image if its distribution has that
// Python, else the image that torch's wheels are built in, which has all Pythons and an old C library.
std::string toolkit_image(const BuildSpec& spec, const std::set<std::string>& pythons) {
  const std::string python = pythons.size() == 1 && spec.platform.empty() ? *pythons.begin() : "";
  if (const CudaSpec& cuda = spec.tools.cuda; !cuda.root.empty()) {
    const std::string release = release_of(cuda.version);
    const std::string image = fmt::format("nvidia/cuda:{}-devel-", cuda_image_version(release));
    const bool has_noble = pep::Version::parse(release) >= pep::Version::parse("12.6");
    if (python == "3.10") return image + "ubuntu22.04";
    if (python == "3.12" && has_noble) return image + "ubuntu24.04";
    if (python == "3.11" || python == "3.12") return image + "rockylinux9";
    return "pytorch/manylinux2_28-builder:cuda" + release;
  }
  if (const RocmSpec& rocm = spec.tools.rocm; !rocm.root.empty()) {
    if (python == "3.10") return fmt::format("rocm/dev-ubuntu-22.04:{}-complete", rocm.version);
    if (python == "3.12") return fmt::format("rocm/dev-ubuntu-24.04:{}-complete", rocm.version);
    return "pytorch/manylinux2_28-builder:rocm" + release_of(rocm.version);
  }
  return "";
}

// If the plan uses the machine's toolkit, an image that has it; if a platform tag is requested, the image for it; else
// the smallest image with the interpreters.
std::string choose_base(const Plan& plan) {
  if (plan.steps.empty()) return std::string(k_debian);
  for (const Step& step : plan.steps) {
    if (std::string image = toolkit_image(step.spec, pythons_of(plan)); !image.empty()) return image;
  }
  const BuildSpec& first = plan.steps.front().spec;
  if (first.platform.starts_with("manylinux")) return manylinux(first.platform, first.python.machine());
  const std::set<std::string> pythons = pythons_of(plan);
  if (pythons.size() > 1) return manylinux("manylinux_2_28", first.python.machine());
  if (*pythons.begin() == k_debian_python) return std::string(k_debian);
  return fmt::format("python:{}-slim-bookworm", *pythons.begin());
}

// The name of a build context and its folder in the image: characters that need no quoting.
std::string plain_name(std::string_view name) {
  std::string result = to_lower(name);
  for (char& c : result) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '-';
  }
  return "source-" + result;
}

// A value for ENV in double quotes, with $ and \ escaped.
std::string env_quoted(std::string_view value) {
  std::string result = "\"";
  for (const char c : value) {
    if (c == '\n' || c == '\r') throw Error(fmt::format("{} cannot be used in a Containerfile", printable(value)));
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

// Development packages of libraries that the plan found on the machine. NVIDIA's packages come from a repository that
// is configured only in NVIDIA's images.
std::set<std::string> library_packages(const Plan& plan, std::string_view image) {
  std::set<std::string> names;
  const std::string manager = uses_dnf(image) || has(image, "manylinux") ? "dnf" : "apt-get";
  for (const Step& step : plan.steps) {
    for (const toolchain::Library& library : step.spec.tools.libraries) {
      const toolchain::LibraryKind* kind = toolchain::find_library_kind(library.name);
      if (kind == nullptr || library.found_by != "the system") continue;
      if (!kind->repository.empty() && !has(image, "cuda")) continue;
      const std::string package = toolchain::library_package(*kind, manager, step.spec.tools.cuda.version);
      if (!package.empty()) names.insert(package);
    }
  }
  return names;
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
  names.merge(library_packages(plan, image));
  return join(std::vector<std::string>(names.begin(), names.end()), " ");
}

std::string install_line(const Plan& plan, std::string_view image) {
  // manylinux images contain newer compilers than their distribution; those are kept.
  if (has(image, "manylinux")) {
    std::string libraries;
    for (const std::string& name : library_packages(plan, image)) libraries += " " + name;
    return fmt::format("RUN dnf install -y --allowerasing curl git patch xz{} && dnf clean all\n", libraries);
  }
  if (uses_dnf(image))
    return fmt::format("RUN dnf install -y --allowerasing {} && dnf clean all\n", packages(plan, image));
  return fmt::format(
      "RUN apt-get update && \\\n    apt-get install -y --no-install-recommends {} && \\\n    rm -rf "
      "/var/lib/apt/lists/*\n",
      packages(plan, image));
}

// A comment with requirements that an image name cannot guarantee.
std::string toolkit_note(const Plan& plan) {
  for (const Step& step : plan.steps) {
    if (!step.spec.tools.cuda.root.empty())
      return fmt::format(
          "# The image must have CUDA {} with nvcc at /usr/local/cuda (\"devel\"; not \"base\", not \"runtime\").\n",
          printable(step.spec.tools.cuda.version));
    if (!step.spec.tools.rocm.root.empty())
      return fmt::format("# The image must have ROCm {} with hipcc and its libraries at /opt/rocm.\n",
                         printable(step.spec.tools.rocm.version));
  }
  return "";
}

}  // namespace

std::string to_containerfile(const Plan& plan, const std::string& base_image) {
  const std::string image = base_image.empty() ? choose_base(plan) : base_image;
  if (image.find_first_of(" \t\r\n") != image.npos || image.starts_with('-'))
    throw Error(fmt::format("{} is not a valid image name", printable(image)));
  std::map<std::string, std::string> contexts, variables;
  bool cuda = false, rocm = false;
  for (const Step& step : plan.steps) {
    const BuildSpec& spec = step.spec;
    variables[script_variable("PYTHON", spec.python.abi)] = interpreter(spec.python, image);
    cuda = cuda || !spec.tools.cuda.root.empty();
    rocm = rocm || !spec.tools.rocm.root.empty();
    if (spec.source.kind != source::Pin::Kind::folder) continue;
    contexts[plain_name(spec.package)] = spec.source.folder.string();
    variables[script_variable("SOURCE", spec.package)] = "/" + plain_name(spec.package);
  }
  // The compilers of manylinux images are first in PATH, in a folder that differs between images.
  variables["BUILD_CC"] = has(image, "manylinux") ? "/opt/compilers/gcc" : "/usr/bin/gcc";
  variables["BUILD_CXX"] = has(image, "manylinux") ? "/opt/compilers/g++" : "/usr/bin/g++";
  if (cuda) variables["BUILD_CUDA"] = "/usr/local/cuda";
  if (rocm) variables["BUILD_ROCM"] = "/opt/rocm";

  std::string text =
      "# Printed by `wheelsmith plan --containerfile`. Put the script of the same plan beside it:\n"
      "#   wheelsmith plan … --script > build.sh\n"
      "#   podman build --target wheels --output dist";
  for (const auto& [name, folder] : contexts)
    text += fmt::format(" --build-context {}={}", name, printable(sys::shell_quoted(folder)));
  text += " .\n# To use another package index: --build-arg PIP_INDEX_URL=…\n";
  text += toolkit_note(plan);
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
