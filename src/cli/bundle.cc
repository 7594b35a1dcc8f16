// `bundle`: a wheel that needs no SDK beside it.

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "base/zip_epoch.h"
#include "bundle/bundler.h"
#include "cli/command.h"
#include "document/value.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process.h"
#include "wheel/check/check.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;
using document::Array;
using document::Table;

struct BundleCommand {
  bool json = false;
  std::string wheel, out = ".", local;
  std::vector<std::string> from;
  unsigned threads = 0;
};

// A folder, or the members of a wheel, with what keeps them alive.
struct OpenSource {
  Blob file;
  std::unique_ptr<zip::Archive> archive;
  std::unique_ptr<FileTree> tree;
};

OpenSource open_source(const std::string& path) {
  OpenSource source;
  if (sys::is_folder(path)) {
    source.tree = std::make_unique<sys::FolderTree>(path);
    return source;
  }
  source.file = sys::map_file(path);
  try {
    source.archive = std::make_unique<zip::Archive>(zip::Archive::open(source.file.bytes));
  } catch (const Error& error) {
    throw error.in(printable(path) + " is neither a folder nor a wheel");
  }
  source.tree = std::make_unique<wheel::WheelTree>(*source.archive);
  return source;
}

std::int64_t time_of_members() {
  const sys::Environment environment = sys::current_environment();
  const auto epoch = environment.find("SOURCE_DATE_EPOCH");
  if (epoch == environment.end() || epoch->second.empty()) return k_zip_epoch;
  const auto number = to_number(epoch->second);
  if (!number || *number > 0xffffffffffU)
    throw UsageError(fmt::format("SOURCE_DATE_EPOCH is {}, no number of seconds since 1970", printable(epoch->second)));
  return static_cast<std::int64_t>(*number);
}

std::string text_of(const fs::path& path, std::uint64_t size, const bundle::Summary& summary) {
  std::string text = fmt::format("{} ({})\n", printable(path.string()), human_bytes(size));
  for (const auto& library : summary.libraries)
    text += fmt::format("  brings {} ({}) from {}\n", printable(library.path), human_bytes(library.size),
                        printable(library.from));
  if (summary.data_files > 0)
    text += fmt::format("  brings {} data {} ({})\n", summary.data_files, summary.data_files == 1 ? "file" : "files",
                        human_bytes(summary.data_size));
  for (const std::string& member : summary.edited) text += fmt::format("  new run path: {}\n", printable(member));
  for (const std::string& requirement : summary.dropped)
    text += fmt::format("  no longer requires {}\n", printable(requirement));
  for (const std::string& name : summary.from_elsewhere)
    text += fmt::format("  needs {} of the system or of another package\n", printable(name));
  for (const std::string& note : summary.notes) text += fmt::format("  note: {}\n", printable(note));
  return text;
}

Table document_of(const fs::path& path, std::uint64_t size, const bundle::Summary& summary) {
  Table document;
  document["schema"] = 1;
  document["path"] = path.string();
  document["size"] = static_cast<std::int64_t>(size);
  Array libraries;
  for (const auto& library : summary.libraries) {
    Table item;
    item["path"] = library.path;
    item["from"] = library.from;
    item["size"] = static_cast<std::int64_t>(library.size);
    libraries.emplace_back(std::move(item));
  }
  document["libraries"] = std::move(libraries);
  document["data_files"] = static_cast<std::int64_t>(summary.data_files);
  document["data_size"] = static_cast<std::int64_t>(summary.data_size);
  const auto list = [&](const char* key, const std::vector<std::string>& values) {
    document[key] = Array(values.begin(), values.end());
  };
  list("edited", summary.edited);
  list("dropped_requirements", summary.dropped);
  list("from_elsewhere", summary.from_elsewhere);
  list("notes", summary.notes);
  return document;
}

int make_bundle(const BundleCommand& command) {
  bundle::Wish wish;
  wish.file_name = fs::path(command.wheel).filename().string();
  wish.local_label = command.local;
  wish.time = time_of_members();
  wish.threads = thread_count(command.threads);
  const Blob file = sys::map_file(command.wheel);
  wish.wheel = file.bytes;
  std::vector<OpenSource> sources;
  for (const std::string& path : command.from) {
    sources.push_back(open_source(path));
    wish.sdks.push_back({path, sources.back().tree.get()});
  }
  fs::path path;
  std::uint64_t size = 0;
  std::unique_ptr<bundle::Bundler> bundler;
  try {
    bundler = std::make_unique<bundle::Bundler>(wish);
    sys::make_folders(command.out);
    path = fs::path(command.out) / bundler->summary().file_name;
    if (fs::exists(path) && fs::equivalent(path, command.wheel))
      throw UsageError("the bundled wheel has the same name: give another folder (--out DIR) or a --local label");
    sys::AtomicFile target(path);
    size = bundler->write(target);
    target.commit();
  } catch (const Error& error) {
    throw error.in(printable(wish.file_name));
  }
  // What is handed out was checked as anybody would check it.
  const Blob made = sys::map_file(path);
  wheel::CheckOptions options;
  options.threads = wish.threads;
  const wheel::Verdict verdict = wheel::check_wheel(path.filename().string(), made.bytes, options);
  Array errors;
  std::string text = text_of(path, size, bundler->summary());
  for (const Finding& finding : verdict.findings) {
    if (finding.severity != Severity::error) continue;
    errors.emplace_back(finding.subject + ": " + finding.what);
    text += fmt::format("  check: {}: {}\n", printable(finding.subject), printable(finding.what));
  }
  if (command.json) {
    Table document = document_of(path, size, bundler->summary());
    document["errors"] = std::move(errors);
    text = document::to_json(document) + "\n";
  }
  print(text);
  return verdict.is_good() ? k_fine : k_not_fine;
}

}  // namespace

void add_bundle(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<BundleCommand>();
  CLI::App* sub = app.add_subcommand("bundle", "Put the SDK libraries that a wheel needs into it");
  sub->footer(
      "Makes a standalone wheel: libraries found in the SDK, what they need, and their data come along; run paths lead "
      "to\n"
      "them, and requirements on the SDK's packages are dropped. docs/bundle.md says more.\n\n"
      "Examples:\n"
      "  wheelsmith bundle torch-2.10.0-cp312-cp312-linux_x86_64.whl --from /opt/rocm --out standalone\n"
      "  wheelsmith bundle demo-1.0-py3-none-linux_x86_64.whl --from rocm_sdk_core-7.10.0-py3-none-linux_x86_64.whl\n"
      "    --from rocm_sdk_libraries-7.10.0-py3-none-linux_x86_64.whl --local fat");
  sub->add_option("WHEEL", command->wheel, "The framework's wheel")->required();
  sub->add_option("--from", command->from,
                  "SDK: an installed tree, a site-packages, or a wheel of it; the first counts")
      ->required();
  sub->add_option("--out", command->out, "Folder for the new wheel")->capture_default_str();
  sub->add_option("--local", command->local, "Local label for the version: 1.0 becomes 1.0+LABEL");
  sub->add_option("--threads", command->threads, "Threads; 0 for as many as there are cores")->capture_default_str();
  sub->add_flag("--json", command->json, "Print one JSON document (docs/bundle.md) instead of text");
  sub->callback([command, &outcome] { outcome = [command] { return make_bundle(*command); }; });
}

}  // namespace wheelsmith::cli
