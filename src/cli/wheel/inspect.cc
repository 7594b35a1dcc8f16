#include "wheel/read/inspect.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "report/wheel/json.h"
#include "report/wheel/text.h"
#include "report/wheel/treemap.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/page_trimmer.h"
#include "wheel/read/size_tree.h"

namespace wheelsmith::cli {

namespace {

struct InspectCommand {
  OutputOptions output;
  std::vector<std::string> paths;
  unsigned threads = 0;
  std::string html;
};

wheel::Inspection inspect_path(const std::string& path, const wheel::InspectOptions& options) {
  try {
    if (sys::is_folder(path)) return inspect_folder(path, sys::FolderTree(path), options);
    const Blob file = sys::map_file(path);
    const sys::PageTrimmer trimmer(file.bytes);
    return inspect_file(path, file.bytes, options);
  } catch (const Error& error) {
    wheel::Inspection item;
    item.path = path;
    item.error = error.what();
    return item;
  }
}

void write_page(const InspectCommand& command) {
  const std::string& path = command.paths.front();
  const unsigned threads = thread_count(command.threads);
  std::string page;
  if (sys::is_folder(path)) {
    const std::filesystem::path folder(path);
    const std::filesystem::path name = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
    page = report::treemap_html(wheel::size_tree(name.string(), sys::FolderTree(path), threads), 0);
  } else {
    const Blob file = sys::map_file(path);
    const sys::PageTrimmer trimmer(file.bytes);
    page = report::treemap_html(wheel::size_tree(path, file.bytes, threads), file.bytes.size());
  }
  sys::write_file(command.html, page);
}

int inspect(const InspectCommand& command) {
  if (!command.html.empty() && command.paths.size() != 1) throw UsageError("--html shows one wheel; name one path");
  const wheel::InspectOptions options{.threads = thread_count(command.threads), .platform = {}};
  bool fine = true;
  std::vector<wheel::Inspection> items;
  for (const std::string& path : command.paths) {
    items.push_back(inspect_path(path, options));
    fine = fine && items.back().error.empty();
    if (command.output.json) continue;
    print((items.size() > 1 ? "\n" : "") + report::to_text(items.back(), command.output.style()));
    items.back() = {};
  }
  if (!command.html.empty() && fine) {
    write_page(command);
    if (!command.output.json) print_status(fmt::format("wrote {}\n", printable(command.html)));
  }
  if (command.output.json) print(report::to_json(items));
  return fine ? k_fine : k_not_fine;
}

}  // namespace

void add_inspect(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App* sub =
      app.add_subcommand("inspect", "Show the contents of a wheel, library, fat binary or installed folder");
  sub->footer(
      "PATH is a wheel, an ELF file, a fat binary (NVIDIA, HIP bundle, .kpack) or a folder (an unpacked wheel or a "
      "site-packages). Nothing is unpacked to disk. Exit status: 1 if a path cannot be read.\n\n"
      "Examples:\n"
      "  wheelsmith inspect torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl\n"
      "  wheelsmith inspect --json *.whl | jq '.items[] | {path, platform_tag}'\n"
      "  wheelsmith inspect torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl --html sizes.html");
  sub->add_option("PATH", command->paths, "Wheels, libraries, fat binaries or folders")->required();
  sub->add_option("--threads", command->threads, "Number of threads; 0: one per core")
      ->type_name("N")
      ->capture_default_str();
  sub->add_option("--html", command->html,
                  "Write a page with a treemap of the sizes: folder, file, section, architecture")
      ->type_name("FILE");
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return inspect(*command); }; });
}

}  // namespace wheelsmith::cli
