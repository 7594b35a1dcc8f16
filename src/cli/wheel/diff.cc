// `diff`: what differs between two wheels, binaries or environments.

#include "wheel/compare/diff.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/wheel/site_packages.h"
#include "gpu/code/device_code.h"
#include "report/wheel/diff.h"
#include "sys/file.h"
#include "sys/page_trimmer.h"
#include "wheel/read/wheel_tree.h"

namespace wheelsmith::cli {

namespace {

struct DiffCommand {
  OutputOptions output;
  std::string left, right;
  std::vector<std::string> ignore;
  unsigned threads = 0;
};

// A single binary as a file tree.
class LoneFile final : public FileTree {
 public:
  LoneFile(std::string name, Bytes bytes) : m_name(std::move(name)), m_bytes(bytes) {}
  [[nodiscard]] std::vector<File> files() const override { return {{m_name, m_bytes.size()}}; }
  [[nodiscard]] std::optional<Blob> open(const std::string& name) const override {
    if (name != m_name) return std::nullopt;
    return Blob{nullptr, m_bytes};
  }

 private:
  std::string m_name;
  Bytes m_bytes;
};

// One side, with the objects that own its data.
struct OpenSide {
  Blob file;
  std::unique_ptr<sys::PageTrimmer> trimmer;
  std::unique_ptr<zip::Archive> archive;
  std::unique_ptr<FileTree> tree;
  wheel::DiffSide side;
};

OpenSide open_side(const std::string& path) {
  OpenSide open;
  try {
    if (sys::is_folder(path)) {
      open.tree = std::make_unique<sys::FolderTree>(site_packages_of(path));
      open.side.tree = open.tree.get();
      return open;
    }
    open.file = sys::map_file(path);
    open.trimmer = std::make_unique<sys::PageTrimmer>(open.file.bytes);
    open.side.bytes = open.file.bytes;
    if (gpu::file_kind(open.file.bytes.clamp(0, 64)) == gpu::FileKind::other) {
      open.archive = std::make_unique<zip::Archive>(zip::Archive::open(open.file.bytes));
      open.side.archive = open.archive.get();
      open.side.file_name = base_name(path);
      open.tree = std::make_unique<wheel::WheelTree>(*open.archive);
    } else {
      open.tree = std::make_unique<LoneFile>(std::string(base_name(path)), open.file.bytes);
    }
  } catch (const Error& error) {
    throw error.in(printable(path));
  }
  open.side.tree = open.tree.get();
  return open;
}

int diff_paths(const DiffCommand& command) {
  const OpenSide left = open_side(command.left), right = open_side(command.right);
  const wheel::Diff diff =
      wheel::diff(left.side, right.side, {.threads = thread_count(command.threads), .ignore = command.ignore});
  print(command.output.json ? report::diff_json(command.left, command.right, diff)
                            : report::diff_text(diff, command.output.style()));
  return diff.equal() ? k_fine : k_not_fine;
}

}  // namespace

void add_diff(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<DiffCommand>();
  CLI::App* sub = app.add_subcommand("diff", "Show what differs between two wheels, binaries or environments");
  sub->footer(
      "Compares metadata, tags, files, symbols and GPU code. If these are equal, shows why the bytes differ. Exit "
      "status: 0 if there are no differences, 1 otherwise. See docs/diff.md.\n\n"
      "Examples:\n"
      "  wheelsmith diff old/demo-1.0-py3-none-any.whl new/demo-1.0-py3-none-any.whl\n"
      "  wheelsmith diff demo-1.0-….whl demo-1.1-….whl --ignore bytes --ignore '*/RECORD'\n"
      "  wheelsmith diff .venv-old .venv-new --json");
  sub->add_option("LEFT", command->left, "Wheel, binary or environment")->required();
  sub->add_option("RIGHT", command->right, "Wheel, binary or environment to compare with")->required();
  sub->add_option("--ignore", command->ignore,
                  "Kind (metadata, file, symbol, arch, tag, bytes), or shell pattern on the subject or its file")
      ->type_name("KIND|GLOB")
      ->allow_extra_args(false);
  sub->add_option("--threads", command->threads, "Number of threads; 0: one per core")
      ->type_name("N")
      ->capture_default_str();
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return diff_paths(*command); }; });
}

}  // namespace wheelsmith::cli
