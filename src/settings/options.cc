#include "settings/settings.h"

namespace wheelsmith::settings {

const std::vector<Option>& all_options() {
  static const std::vector<Option> options = {
      {"arch", Kind::text, "GPU architectures in any notation; default: the GPUs that are here, else the recipe's list", "", {}},
      {"build-type", Kind::text, "How the package is compiled", "release", {"release", "debug", "relwithdebinfo", "minsizerel"}},
      {"cc", Kind::text, "C compiler, by name or path", "", {}},
      {"ccache", Kind::text, "Compile cache for builds of --source DIR", "auto", {"auto", "on", "off"}},
      {"color", Kind::text, "Colours", "auto", {"auto", "always", "never"}},
      {"conda", Kind::flag, "Take compilers and sysroot of the active conda environment", "", {}},
      {"cuda", Kind::folder, "CUDA toolkit; default: CUDA_HOME, nvcc in PATH, /usr/local/cuda, else one made from the registry", "", {}},
      {"cxx", Kind::text, "C++ compiler, by name or path", "", {}},
      {"env", Kind::table, "More variables for the build, NAME=VALUE", "", {}},
      {"env-file", Kind::folder, "File with variables for the build", "", {}},
      {"gpu", Kind::list, "GPUs to build for, by name, instead of --arch", "", {}},
      {"jobs", Kind::text, "Most compile jobs at once; default: what cores and memory allow", "", {}},
      {"keep-going", Kind::flag, "Finish what does not depend on a failure", "", {}},
      {"mirrors", Kind::table, "URL prefix to URL prefix or folder", "", {}},
      {"network", Kind::text, "Network while compiling: off unless the recipe asks for it", "recipe", {"recipe", "on", "off"}},
      {"offline", Kind::flag, "Use only what the store and this machine have", "", {}},
      {"out", Kind::folder, "Wheelhouse: where finished wheels go", "wheelhouse", {}},
      {"packages", Kind::list, "What `build` and `plan` take when they are given no name", "", {}},
      {"platform", Kind::text, "Platform tag to give, like manylinux_2_28; default: the best that the wheel deserves", "", {}},
      {"python", Kind::list, "Pythons to build for: versions or paths", "", {}},
      {"recipes", Kind::folder, "Folder of recipes of your own", "", {}},
      {"rocm", Kind::folder, "ROCm folder; default: ROCM_PATH, rocm-sdk, /opt/rocm", "", {}},
      {"set", Kind::table, "Settings of the recipes, NAME=VALUE", "", {}},
      {"source", Kind::list, "[NAME=]PATH, URL or NAME==VERSION to build from", "", {}},
      {"steps", Kind::text, "Most steps at once; default: a quarter of the cores, at least 1", "", {}},
      {"store", Kind::folder, "Where results, environments and downloads are kept", "", {}},
      {"sysroot", Kind::folder, "Root of an older system to compile against", "", {}},
      {"target", Kind::text, "Target of packages that have several", "", {}},
      {"timeout", Kind::text, "Seconds after which a build that prints nothing is stopped; 0: never", "3600", {}},
      {"torch", Kind::text, "Torch to build against: a version, CHANNEL/VARIANT, a wheel, or an environment's folder", "", {}},
      {"torch-index", Kind::text, "Index of torch's channels; {channel} and {variant} are filled in", "", {}},
      {"variant", Kind::list, "cpu, cuda or rocm; default: as the GPUs that are here", "", {}},
      {"verbose", Kind::flag, "Ask each tool to say more, and show the log", "", {}},
  };
  return options;
}

}  // namespace wheelsmith::settings
