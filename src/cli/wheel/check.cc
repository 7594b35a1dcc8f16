#include "wheel/check/check.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/wheel/site_packages.h"
#include "report/wheel/json.h"
#include "report/wheel/text.h"
#include "sys/file.h"
#include "sys/loader.h"
#include "sys/page_trimmer.h"
#include "wheel/check/claimed_platform.h"
#include "wheel/check/explain.h"
#include "wheel/read/scan.h"

namespace wheelsmith::cli {

namespace {

struct CheckCommand {
  OutputOptions output;
  std::vector<std::string> paths;
  unsigned threads = 0;
  bool strict = false;
  std::string policy;
  std::string policy_file;
  std::vector<std::string> excluded;
  std::vector<std::string> against;
  std::vector<std::string> required_symbols;
  std::string archs;
  std::vector<std::string> gpus;
  std::string max_size;
  std::string explain;
};

// Parses the value of one option; an Error becomes a UsageError that names the option.
template <class Read>
auto for_option(const std::string& option, Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw UsageError(printable(option + ": " + error.what()));
  }
}

void check_policy_name(const wheel::CheckOptions& options) {
  if (options.policy.empty() || wheel::policy_named(options.policy, options.platform.policies)) return;
  std::vector<std::string> names;
  for (const std::vector<pep::Policy>* policies : {&options.platform.policies, &pep::builtin_policies(pep::LibC::glibc),
                                                   &pep::builtin_policies(pep::LibC::musl)}) {
    for (const pep::Policy& policy : *policies) names.push_back(policy.name);
  }
  const auto near = nearest(options.policy, names);
  throw UsageError(fmt::format("--policy {}: must be a platform policy such as manylinux_2_28{}",
                               printable(options.policy), near ? "; did you mean " + *near + "?" : ""));
}

wheel::CheckOptions read_options(const CheckCommand& command) {
  wheel::CheckOptions options;
  options.threads = thread_count(command.threads);
  options.policy = command.policy;
  options.platform.excluded = command.excluded;
  options.required_symbols = command.required_symbols;
  if (!command.policy_file.empty()) {
    options.platform.policies = for_option("--policy-file", [&] {
      return pep::parse_policies(sys::map_file(command.policy_file).bytes.text(), command.policy_file);
    });
  }
  check_policy_name(options);
  if (!command.archs.empty()) options.archs = for_option("--arch", [&] { return gpu::ArchList::parse(command.archs); });
  for (const std::string& name : command.gpus) {
    options.devices.push_back(for_option("--gpu", [&] { return gpu::find_device(name); }));
  }
  if (!command.max_size.empty()) options.max_size = parse_size("--max-size", command.max_size);
  for (const std::string& path : command.against) {
    options.against.push_back(for_option("--against " + path, [&] {
      if (sys::is_folder(path)) return wheel::read_provider(path, sys::FolderTree(path), options.threads);
      const Blob file = sys::map_file(path);
      const sys::PageTrimmer trimmer(file.bytes);
      return wheel::read_provider(path, file.bytes, options.threads);
    }));
  }
  return options;
}

// The Python that imports from PREFIX/lib/python3.11/site-packages; "" for any other folder.
std::string interpreter_of(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::string python = folder.parent_path().filename().string();
  const std::filesystem::path prefix = folder.parent_path().parent_path().parent_path();
  if (!python.starts_with("python")) return "";
  for (const std::string& name : {python, std::string("python3")}) {
    const std::filesystem::path program = prefix / "bin" / name;
    if (std::filesystem::is_regular_file(program, ignored)) return program.string();
  }
  return "";
}

wheel::LoaderMachine this_machine(const std::filesystem::path& folder) {
  wheel::LoaderMachine machine;
  machine.interpreter = interpreter_of(folder);
  machine.library_path = sys::library_path();
  machine.default_folders = sys::loader_folders();
  machine.library_at = [](const std::string& path) -> std::optional<wheel::ElfFacts> {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
    try {
      const Blob file = sys::map_file(path);
      if (!elf::ElfFile::has_magic(file.bytes)) return std::nullopt;  // a linker script
      return wheel::elf_facts(path, file.bytes, {.exported = true});
    } catch (const Error&) {
      return std::nullopt;  // the dynamic loader could not read it either
    }
  };
  return machine;
}

wheel::Verdict check_path(const std::string& path, const wheel::CheckOptions& options) {
  try {
    if (sys::is_folder(path)) {
      std::error_code error;
      const std::filesystem::path absolute = std::filesystem::absolute(path, error);
      if (error) sys::throw_sys_error(error.value(), "find", path);
      const std::filesystem::path folder = site_packages_of(absolute.lexically_normal());
      wheel::Verdict verdict =
          check_folder(folder.string(), sys::FolderTree(folder.string()), this_machine(folder), options);
      verdict.path = path;
      return verdict;
    }
    const Blob file = sys::map_file(path);
    const sys::PageTrimmer trimmer(file.bytes);
    return check_wheel(path, file.bytes, options);
  } catch (const Error& error) {
    wheel::Verdict verdict;
    verdict.path = path;
    verdict.error = error.what();
    return verdict;
  }
}

int explain(const std::string& id, const OutputOptions& output) {
  if (const std::optional<std::string> text = wheel::explain(id)) {
    print(output.json ? report::explanation_json(id, *text) : output.style().bold(id) + "\n" + *text + "\n");
    return k_fine;
  }
  const auto near = nearest(id, wheel::explained_ids());
  throw UsageError(fmt::format(
      "--explain: unknown finding {}{}", printable(id),
      near ? "; did you mean " + *near + "?" : "; known findings:\n  " + join(wheel::explained_ids(), "\n  ")));
}

int check(const CheckCommand& command) {
  if (!command.explain.empty()) return explain(command.explain, command.output);
  if (command.paths.empty())
    throw UsageError(
        "no wheel given; name wheels or installed folders, or --explain ID\n  try: wheelsmith check --help");
  const wheel::CheckOptions options = read_options(command);
  bool good = true;
  std::vector<wheel::Verdict> items;
  for (const std::string& path : command.paths) {
    wheel::Verdict verdict = check_path(path, options);
    if (command.strict) {
      for (Finding& finding : verdict.findings) {
        if (finding.severity == Severity::warning) finding.severity = Severity::error;
      }
    }
    good = good && verdict.is_good();
    if (command.output.json)
      items.push_back(std::move(verdict));
    else
      print(report::to_text(verdict, command.output.style()));
  }
  if (command.output.json) print(report::to_json(items));
  return good ? k_fine : k_not_fine;
}

}  // namespace

void add_check(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<CheckCommand>();
  CLI::App* sub = app.add_subcommand("check", "Check a wheel or an installed folder for defects");
  sub->footer(
      "Exit status: 0 if no wheel has a finding of severity error, 1 otherwise.\n\n"
      "Examples:\n"
      "  wheelsmith check dist/*.whl --policy manylinux_2_28\n"
      "  wheelsmith check ext.whl --against torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl --arch "
      "\"8.0;9.0a+PTX\"\n"
      "  wheelsmith check ext.whl --gpu \"RTX 4090\" --gpu MI300X\n"
      "  wheelsmith check --explain record-hash-mismatch");
  sub->add_option("WHEEL", command->paths, "Wheels, or installed folders");
  sub->add_option("--policy", command->policy,
                  "Platform policy to check against; default: the one in the wheel's platform tag")
      ->type_name("POLICY");
  sub->add_option("--policy-file", command->policy_file, "TOML file with your own policies")->type_name("FILE");
  sub->add_option("--exclude", command->excluded, "Library that is provided outside the wheel (shell pattern)")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  sub->add_option("--against", command->against, "Wheel, library, installed folder or sysroot that provides symbols")
      ->type_name("PATH")
      ->allow_extra_args(false);
  sub->add_option("--require-symbol", command->required_symbols,
                  "Symbol (mangled, or part of its C++ name) that must be exported")
      ->type_name("SYMBOL")
      ->allow_extra_args(false);
  sub->add_option("--arch", command->archs,
                  "GPU architectures that the wheel must contain, in any notation: 8.0;9.0a+PTX, gfx942")
      ->type_name("ARCHS");
  sub->add_option("--gpu", command->gpus, "GPU that the wheel must run on, by name: RTX 4090, MI300X")
      ->type_name("NAME")
      ->allow_extra_args(false);
  sub->add_option("--max-size", command->max_size, "Maximum size, such as 100MB; default: 100MB, reported as a note")
      ->type_name("SIZE");
  sub->add_flag("--strict", command->strict, "Treat warnings as errors");
  sub->add_option("--explain", command->explain, "Explain a finding by its id")->type_name("ID");
  sub->add_option("--threads", command->threads, "Number of threads; 0: one per core")
      ->type_name("N")
      ->capture_default_str();
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return check(*command); }; });
}

}  // namespace wheelsmith::cli
