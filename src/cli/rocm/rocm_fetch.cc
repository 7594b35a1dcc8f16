// `rocm fetch`: downloads the artifacts of a CI run.

#include <fmt/format.h>

#include "base/text.h"
#include "cli/rocm/rocm_commands.h"
#include "cli/session.h"
#include "report/rocm.h"
#include "rocm/fetch/choose_run.h"
#include "source/source.h"

namespace wheelsmith::cli {

namespace {

struct FetchCommand {
  OutputOptions output;
  SettingOptions settings;
  std::string run_id, base, repository, platform = "linux", stage, topology, output_dir = "artifacts";
  std::vector<std::string> include, exclude, exclude_components, exclude_artifacts, groups, families, targets;
  bool extract = false, generic_only = false, expand_families = false, dry_run = false, no_extract = false,
       flatten = false, keep = false;
  unsigned concurrency = 8;
};

// CMake lists and TheRock's options use semicolons; CLI11 has already split at commas.
std::vector<std::string> split_lists(const std::vector<std::string>& values) {
  std::vector<std::string> names;
  for (const std::string& value : values) {
    for (const std::string_view name : split(value, ';')) {
      if (!trim(name).empty()) names.emplace_back(trim(name));
    }
  }
  return names;
}

rocm::RunRequest run_request(const FetchCommand& command) {
  rocm::RunRequest request;
  request.base = command.base;
  request.run_id = command.run_id;
  request.repository = command.repository;
  request.stage = command.stage;
  request.topology = command.topology;
  request.groups = split_lists(command.groups);
  request.families = split_lists(command.families);
  request.targets = split_lists(command.targets);
  request.expand_families = command.expand_families;
  rocm::FetchSelection& selection = request.selection;
  selection.platform = command.platform;
  selection.include = command.include;
  selection.exclude = command.exclude;
  selection.exclude_components = command.exclude_components;
  selection.exclude_artifacts = command.exclude_artifacts;
  selection.generic_only = command.generic_only;
  return request;
}

fetch::FetchOptions run_fetch_options(const settings::Settings& settings) {
  fetch::FetchOptions options;
  options.index.retries = 5;
  options.mirrors = settings.table("mirrors");
  options.offline = settings.flag("offline");
  options.stop = [] { return sys::interrupted(); };
  return options;
}

rocm::FetchJob fetch_job(const FetchCommand& command, const rocm::ChosenRun& run, const fetch::FetchOptions& options) {
  rocm::FetchJob job;
  job.base = command.base;
  job.key = run.key;
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
  if (!command.output.json) {
    job.on_done = [number = std::size_t{0}, total = run.files.size()](const std::string& file,
                                                                      const std::string& what) mutable {
      print_status(fmt::format("[{}/{}] {}: {}\n", ++number, total, printable(file), printable(what)));
    };
  }
  return job;
}

int fetch_run(const FetchCommand& command) {
  sys::install_interrupt_flag();
  const fetch::FetchOptions options = run_fetch_options(command.settings.read());
  const rocm::ChosenRun run = rocm::choose_run(run_request(command), options);
  if (command.dry_run) {
    print(command.output.json ? report::chosen_run_json(run) : report::chosen_run_text(run));
    return k_fine;
  }
  const rocm::FetchJob job = fetch_job(command, run, options);
  const report::FetchedRun fetched{run.key, job.folder, rocm::fetch_files(run.files, job)};
  print(command.output.json ? report::fetched_run_json(fetched) : report::fetched_run_text(fetched));
  if (sys::interrupted()) return k_interrupted;
  return fetched.failed() == 0 ? k_fine : k_not_fine;
}

}  // namespace

void add_rocm_fetch(CLI::App& group, Outcome& outcome) {
  auto command = std::make_shared<FetchCommand>();
  CLI::App* sub = group.add_subcommand("fetch", "Download and verify the artifacts of a CI run");
  sub->footer(
      "The files of a run are BASE/[EXTERNAL_REPO/]RUN_ID-PLATFORM/NAME_COMPONENT_TARGET.tar.zst, each with its "
      ".sha256sum. If interrupted, run the same command again to resume; complete files are not downloaded again.\n\n"
      "Examples:\n"
      "  wheelsmith rocm fetch --base-url URL --run-id 123456 --targets gfx1151 --output-dir artifacts\n"
      "  wheelsmith rocm fetch --base-url FOLDER --run-id 7 --stage math-libs --topology BUILD_TOPOLOGY.toml "
      "--dry-run\n"
      "  wheelsmith rocm fetch --base-url URL --run-id 123456 --generic-only '_(lib|run)_' --flatten");
  sub->add_option("REGEX", command->include, "Fetch only files whose names match one of these; default: all");
  sub->add_option("--base-url", command->base, "URL of the bucket or web server, or a folder")->required();
  sub->add_option("--run-id", command->run_id, "Number of the CI run")->required();
  sub->add_option("--platform", command->platform, "Platform of the run; default: linux")
      ->check(CLI::IsMember({"linux", "windows"}));
  sub->add_option("--external-repo", command->repository, "Prefix OWNER-NAME/ for runs of other repositories");
  sub->add_option("--stage", command->stage, "Fetch what this build stage needs from earlier stages");
  sub->add_option("--topology", command->topology, "BUILD_TOPOLOGY.toml to use; default: the run's own");
  sub->add_option("--group", command->groups, "GPU groups, as in the names of the archives: gfx94X-dcgpu")
      ->delimiter(',');
  sub->add_option("--families", command->families, "GPU families; separated by commas or semicolons")->delimiter(',');
  sub->add_flag("--expand-families", command->expand_families,
                "Use the targets of the families instead of the family names");
  sub->add_option("--targets", command->targets, "GPU targets such as gfx1151; separated by commas or semicolons")
      ->delimiter(',');
  sub->add_flag("--generic-only", command->generic_only, "Fetch only artifacts that are independent of the GPU");
  sub->add_option("--exclude", command->exclude, "Skip files whose names match this regular expression")
      ->allow_extra_args(false);
  sub->add_option("--exclude-components", command->exclude_components,
                  "Components to skip: dbg, dev, doc, lib, run, test")
      ->delimiter(',');
  sub->add_option("--exclude-artifacts", command->exclude_artifacts, "Names of artifacts to skip")->delimiter(',');
  sub->add_option("--output-dir", command->output_dir, "Folder to write to [artifacts]");
  CLI::Option* none = sub->add_flag("--no-extract", command->no_extract, "Do not unpack the archives");
  sub->add_flag("--flatten", command->flatten, "Unpack all artifacts into one tree, like an installation")
      ->excludes(none);
  sub->add_flag("--extract", command->extract, "Unpack each artifact into its own folder (the default)")
      ->excludes(none);
  sub->add_flag("--keep-archives", command->keep, "Keep archives after unpacking");
  sub->add_option("--concurrency", command->concurrency, "Number of parallel downloads [8]")->check(CLI::Range(1, 64));
  sub->add_flag("--dry-run", command->dry_run, "Show what would be fetched, and fetch nothing");
  command->settings.add_to(*sub, {"mirrors", "offline"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return fetch_run(*command); }; });
}

}  // namespace wheelsmith::cli
