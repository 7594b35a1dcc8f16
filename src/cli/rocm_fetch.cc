// `rocm fetch`: the artifacts of a CI run.

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/rocm_commands.h"
#include "cli/session.h"
#include "gpu/arch_words.h"
#include "rocm/fetch.h"
#include "source/source.h"
#include "sys/files.h"

namespace wheelsmith::cli {

namespace {

using document::Array;
using document::Table;

struct FetchCommand {
  OutputOptions output;
  SettingWords settings;
  std::string run_id, base, repository, platform = "linux", stage, topology, output_dir = "artifacts";
  std::vector<std::string> include, exclude, exclude_components, exclude_artifacts, groups, families, targets;
  bool extract = false, generic_only = false, expand_families = false, dry_run = false, no_extract = false,
       flatten = false, keep = false;
  unsigned concurrency = 8;
};

void print_progress(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void check_word(const std::string& option, const std::string& text, bool slash) {
  for (const char c : text) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '_' || c == '.' || (slash && c == '/');
    if (!good)
      throw UsageError(fmt::format("--{} {}: it has a character that cannot be in it", option, printable(text)));
  }
  if (text.find("..") != text.npos || text.starts_with('/'))
    throw UsageError(fmt::format("--{} {}: it leads somewhere else", option, printable(text)));
}

std::vector<std::string> targets_of(const FetchCommand& command) {
  std::vector<std::string> targets = command.groups;
  targets.insert(targets.end(), command.targets.begin(), command.targets.end());
  for (const std::string& family : command.families) {
    if (!command.expand_families) targets.push_back(family);
    for (const gpu::NamedTargets& known : gpu::amd_families()) {
      if (command.expand_families && to_lower(known.name) == to_lower(family))
        targets.insert(targets.end(), known.members.begin(), known.members.end());
    }
  }
  if (command.expand_families && !command.families.empty() &&
      targets.size() == command.groups.size() + command.targets.size())
    throw UsageError("--expand-families: none of the families is known");
  return targets;
}

std::optional<rocm::Topology> topology_of(const FetchCommand& command, const std::string& key,
                                          const std::vector<rocm::ListedFile>& files,
                                          const fetch::FetchOptions& options) {
  constexpr const char* k_name = "BUILD_TOPOLOGY.toml";
  if (!command.topology.empty())
    return rocm::parse_topology(sys::read_file(command.topology, 16 << 20), command.topology);
  for (const rocm::ListedFile& file : files) {
    if (file.name != k_name) continue;
    const std::string place = rocm::place_of(command.base, key, k_name);
    const fetch::Response response = fetch::get(place, options);
    if (response.status == 200) return rocm::parse_topology(response.body, k_name);
  }
  return std::nullopt;
}

document::Value as_value(const rocm::FetchedFile& file) {
  Table table;
  table["file"] = file.file;
  table["path"] = file.path.string();
  table["sha256"] = file.sha256;
  table["size"] = file.size;
  table["downloaded"] = file.downloaded;
  if (!file.error.empty()) table["error"] = file.error;
  return table;
}

int show_choice(const FetchCommand& command, const std::vector<rocm::ChosenFile>& chosen, const std::string& key) {
  std::uint64_t bytes = 0;
  Array items;
  std::string text;
  for (const rocm::ChosenFile& file : chosen) {
    bytes += file.size.value_or(0);
    Table item;
    item["file"] = file.file;
    item["size"] = file.size ? document::Value(*file.size) : document::Value();
    items.emplace_back(std::move(item));
    text += fmt::format("{}{}\n", printable(file.file), file.size ? "  " + human_bytes(*file.size) : "");
  }
  if (command.output.json) {
    Table document;
    document["schema"] = 1;
    document["run"] = key;
    document["dry_run"] = true;
    document["files"] = std::move(items);
    document["bytes"] = bytes;
    print(document::to_json(document) + "\n");
  } else {
    print(text + fmt::format("{} archive{}{}\n", chosen.size(), chosen.size() == 1 ? "" : "s",
                             bytes == 0 ? "" : ", " + human_bytes(bytes)));
  }
  return k_fine;
}

int fetch_run(const FetchCommand& command) {
  check_word("run-id", command.run_id, false);
  check_word("external-repo", command.repository, true);
  if (command.generic_only && !(command.groups.empty() && command.families.empty() && command.targets.empty()))
    throw UsageError("--generic-only and GPUs exclude one another");
  sys::install_interrupt_flag();
  const settings::Settings settings = command.settings.read();
  fetch::FetchOptions options;
  options.index.retries = 5;
  options.mirrors = settings.table("mirrors");
  options.offline = settings.flag("offline");
  options.stop = [] { return sys::interrupted(); };
  std::string repository = command.repository;
  if (!repository.empty() && !repository.ends_with('/')) repository += '/';
  const std::string key = fmt::format("{}{}-{}", repository, command.run_id, command.platform);
  const std::vector<rocm::ListedFile> files = rocm::list_run(command.base, key, options);

  rocm::FetchSelection selection;
  selection.platform = command.platform;
  selection.include = command.include;
  selection.exclude = command.exclude;
  selection.exclude_components = command.exclude_components;
  selection.exclude_artifacts = command.exclude_artifacts;
  selection.generic_only = command.generic_only;
  selection.targets = targets_of(command);
  std::optional<rocm::Topology> topology;
  if (!command.stage.empty() && command.stage != "all") {
    topology = topology_of(command, key, files, options);
    if (!topology)
      throw UsageError("--stage needs a topology: the run has no BUILD_TOPOLOGY.toml; name one with --topology");
    selection.artifacts = topology->inbound(command.stage, command.platform);
  }
  const std::vector<rocm::ChosenFile> chosen = rocm::choose_files(files, selection, topology ? &*topology : nullptr);
  if (command.dry_run) return show_choice(command, chosen, key);

  rocm::FetchJob job;
  job.base = command.base;
  job.key = key;
  job.folder = std::filesystem::absolute(command.output_dir);
  job.unpacking = command.no_extract ? rocm::Unpacking::none
                  : command.flatten  ? rocm::Unpacking::flat
                                     : rocm::Unpacking::folders;
  job.keep_archives = command.keep;
  job.threads = command.concurrency;
  job.options = options;
  job.unpack = [](const std::filesystem::path& archive, const std::filesystem::path& folder) {
    source::unpack(archive, folder, false);
  };
  std::size_t number = 0;
  if (!command.output.json) {
    job.on_done = [&](const std::string& file, const std::string& what) {
      print_progress(fmt::format("[{}/{}] {}: {}\n", ++number, chosen.size(), printable(file), printable(what)));
    };
  }
  const std::vector<rocm::FetchedFile> fetched = rocm::fetch_files(chosen, job);
  std::size_t failed = 0, downloaded = 0;
  std::uint64_t bytes = 0;
  Array items;
  for (const rocm::FetchedFile& file : fetched) {
    failed += file.error.empty() ? 0 : 1;
    downloaded += file.downloaded ? 1 : 0;
    bytes += file.downloaded ? file.size : 0;
    items.push_back(as_value(file));
  }
  if (command.output.json) {
    Table document;
    document["schema"] = 1;
    document["run"] = key;
    document["folder"] = job.folder.string();
    document["files"] = std::move(items);
    document["downloaded"] = downloaded;
    document["bytes"] = bytes;
    document["failed"] = failed;
    print(document::to_json(document) + "\n");
  } else {
    print(fmt::format("{} artifact{}: {} fetched ({}), {} there already{}\n", fetched.size(),
                      fetched.size() == 1 ? "" : "s", downloaded, human_bytes(bytes),
                      fetched.size() - downloaded - failed, failed == 0 ? "" : fmt::format(", {} failed", failed)));
  }
  if (sys::interrupted()) return k_interrupted;
  return failed == 0 ? k_fine : k_not_fine;
}

}  // namespace

void add_rocm_fetch(CLI::App& group, Outcome& outcome) {
  auto command = std::make_shared<FetchCommand>();
  CLI::App* sub = group.add_subcommand("fetch", "Bring the artifacts of a CI run, verified");
  sub->footer(
      "A run's files are BASE/[EXTERNAL_REPO/]RUN_ID-PLATFORM/NAME_COMPONENT_TARGET.tar.zst, each with its "
      ".sha256sum.\n"
      "Interrupted, the same command goes on; what is there and right is not fetched again.\n\n"
      "Examples:\n"
      "  wheelsmith rocm fetch --base-url URL --run-id 123456 --targets gfx1151 --output-dir artifacts\n"
      "  wheelsmith rocm fetch --base-url FOLDER --run-id 7 --stage math-libs --topology BUILD_TOPOLOGY.toml "
      "--dry-run\n"
      "  wheelsmith rocm fetch --base-url URL --run-id 123456 --generic-only '_(lib|run)_' --flatten");
  sub->add_option("REGEX", command->include, "Only files whose names match one of these; default: all");
  sub->add_option("--base-url", command->base, "URL of the bucket or web server, or a folder")->required();
  sub->add_option("--run-id", command->run_id, "Number of the run")->required();
  sub->add_option("--platform", command->platform, "linux or windows [linux]")
      ->check(CLI::IsMember({"linux", "windows"}));
  sub->add_option("--external-repo", command->repository, "OWNER-NAME/ that runs of other repositories lie below");
  sub->add_option("--stage", command->stage, "Stage of the build: what it needs of the stages before it");
  sub->add_option("--topology", command->topology, "BUILD_TOPOLOGY.toml; default: the run's own");
  sub->add_option("--group", command->groups, "GPU groups, as archives are named: gfx94X-dcgpu")->delimiter(',');
  sub->add_option("--families", command->families, "GPU families; a list with commas")->delimiter(',');
  sub->add_flag("--expand-families", command->expand_families, "Take the targets of families instead of their names");
  sub->add_option("--targets", command->targets, "GPU targets like gfx1151; a list with commas")->delimiter(',');
  sub->add_flag("--generic-only", command->generic_only, "Only what is for no GPU in particular");
  sub->add_option("--exclude", command->exclude, "Not files whose names match; repeatable")->allow_extra_args(false);
  sub->add_option("--exclude-components", command->exclude_components, "dbg, dev, doc, lib, run, test")->delimiter(',');
  sub->add_option("--exclude-artifacts", command->exclude_artifacts, "Not artifacts of these names")->delimiter(',');
  sub->add_option("--output-dir", command->output_dir, "Where it goes [artifacts]");
  CLI::Option* none = sub->add_flag("--no-extract", command->no_extract, "Leave archives as they are");
  sub->add_flag("--flatten", command->flatten, "All artifacts laid over one another, as an installation")
      ->excludes(none);
  sub->add_flag("--extract", command->extract, "Each artifact into a folder of its own (this is what happens anyway)")
      ->excludes(none);
  sub->add_flag("--keep-archives", command->keep, "Keep archives that were unpacked");
  sub->add_option("--concurrency", command->concurrency, "Downloads at once [8]")->check(CLI::Range(1, 64));
  sub->add_flag("--dry-run", command->dry_run, "Only say what would be fetched");
  command->settings.add_to(*sub, {"mirrors", "offline"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return fetch_run(*command); }; });
}

}  // namespace wheelsmith::cli
