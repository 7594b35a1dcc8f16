// `repair`: copies the libraries that a wheel needs into it, and sets the platform tag that it then qualifies for.

#include "surgery/repair/repair.h"

#include <filesystem>

#include "base/text.h"
#include "cli/command.h"
#include "cli/wheel/surgery_options.h"
#include "sys/loader.h"

namespace wheelsmith::cli {

namespace {

struct RepairCommand {
  SurgeryOptions common;
  surgery::RepairRequest request;
  std::vector<std::string> library_folders;
  std::string sysroot;
};

surgery::LibrarySource library_source(const RepairCommand& command) {
  surgery::LibrarySource source = surgery::machine_libraries();
  std::vector<std::string> given;
  for (const std::string& list : command.library_folders) {
    for (const std::string_view part : split(list, ':')) {
      if (!part.empty()) given.push_back(std::filesystem::absolute(part).lexically_normal().string());
    }
  }
  if (!given.empty()) {
    source.glibc.default_folders = source.musl.default_folders = given;
  } else if (!command.sysroot.empty()) {
    source.glibc.default_folders = source.musl.default_folders =
        sys::loader_folders_below(std::filesystem::absolute(command.sysroot).lexically_normal().string());
  } else {
    source.glibc.library_path = source.musl.library_path = sys::library_path();
  }
  if (!command.sysroot.empty()) source.root = std::filesystem::absolute(command.sysroot).lexically_normal();
  return source;
}

int repair_wheels(const RepairCommand& command) {
  if (!command.sysroot.empty() && !sys::is_folder(command.sysroot))
    throw UsageError("--sysroot " + printable(command.sysroot) + " is not a folder");
  const surgery::LibrarySource source = library_source(command);
  return operate(command.common,
                 [&](surgery::InputWheel& input, const surgery::WriteOptions& options, surgery::Item& item) {
                   surgery::repair(input, command.request, source, options, item);
                 });
}

}  // namespace

void add_repair(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<RepairCommand>();
  CLI::App* sub =
      app.add_subcommand("repair", "Copy the libraries that a wheel needs into it and fix its platform tag");
  sub->footer(
      "Libraries of the platform, of the GPU driver and of packages that the wheel requires stay outside. Options of\n"
      "auditwheel repair mean the same here. See docs/repair.md.\n\n"
      "Examples:\n"
      "  wheelsmith repair dist/demo-1.0-cp311-cp311-linux_x86_64.whl --out wheelhouse\n"
      "  wheelsmith repair demo.whl --plat manylinux_2_34 --exclude 'libfoo.so.*' --strip\n"
      "  wheelsmith repair demo.whl --graft libplugin.so.2");
  surgery::RepairRequest& request = command->request;
  sub->add_option("--plat", request.platform, "Platform tag or policy to reach; auto: the most compatible one")
      ->type_name("PLATFORM")
      ->capture_default_str();
  sub->add_flag("--only-plat", request.only_platform, "Do not add tags of more compatible policies");
  sub->add_option("--exclude", request.excluded, "Library that stays outside: shell pattern on its SONAME or path")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  sub->add_option("--graft", request.graft, "Library that is loaded at run time, by SONAME or path: copy it, too")
      ->type_name("LIB")
      ->allow_extra_args(false);
  sub->add_option("-L,--lib-sdir", request.library_suffix, "Suffix of the folder for copied libraries")
      ->type_name("SUFFIX")
      ->capture_default_str();
  sub->add_flag("--strip", request.strip, "Strip symbols and debug information");
  sub->add_option("--ldpaths", command->library_folders, "Folders to search instead of the system's, separated by ':'")
      ->type_name("DIRS")
      ->allow_extra_args(false);
  sub->add_option("--sysroot", command->sysroot, "Root folder of the system whose libraries and licences are used")
      ->type_name("DIR");
  command->common.out = "wheelhouse";
  command->common.add_to(*sub, "-o,--out,-w,--wheel-dir");
  sub->callback([command, &outcome] { outcome = [command] { return repair_wheels(*command); }; });
}

}  // namespace wheelsmith::cli
