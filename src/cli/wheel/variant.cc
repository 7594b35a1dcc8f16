// `variant`: makes a variant wheel whose properties are read from its binaries, or checks one.

#include "surgery/variant.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/wheel/surgery_options.h"
#include "report/wheel/json.h"
#include "report/wheel/text.h"
#include "sys/file.h"
#include "sys/page_trimmer.h"
#include "wheel/check/check.h"

namespace wheelsmith::cli {

namespace {

struct VariantCommand {
  SurgeryOptions common;
  std::string dialect, label;
  std::vector<std::string> properties;
  bool check = false, remove = false;
};

bool is_about_variant(const Finding& finding) {
  return finding.id.starts_with("variant-") || finding.id.starts_with("wheel-name-") || finding.id == "name-invalid";
}

wheel::Verdict check_variant_wheel(const std::string& path, unsigned threads) {
  try {
    const Blob file = sys::map_file(path);
    const sys::PageTrimmer trimmer(file.bytes);
    wheel::CheckOptions options;
    options.threads = threads;
    wheel::Verdict verdict = check_wheel(path, file.bytes, options);
    std::erase_if(verdict.findings, [](const Finding& finding) { return !is_about_variant(finding); });
    const auto name = pep::WheelName::try_parse(base_name(path));
    const bool missing =
        std::ranges::any_of(verdict.findings, [](const Finding& one) { return one.id.starts_with("variant-"); });
    if (name && name->label.empty() && !missing) verdict.error = "is not a variant wheel: its name has no label";
    return verdict;
  } catch (const Error& error) {
    wheel::Verdict verdict;
    verdict.path = path;
    verdict.error = error.what();
    return verdict;
  }
}

int check_variants(const VariantCommand& command) {
  bool good = true;
  std::vector<wheel::Verdict> items;
  for (const std::string& path : command.common.paths) {
    items.push_back(check_variant_wheel(path, thread_count(command.common.threads)));
    good = good && items.back().is_good();
    if (!command.common.json) print(report::to_text(items.back(), OutputOptions().style()));
  }
  if (command.common.json) print(report::to_json(items));
  return good ? k_fine : k_not_fine;
}

int make_variants(const VariantCommand& command) {
  const bool makes = !command.dialect.empty() || !command.label.empty() || !command.properties.empty();
  if (command.check + command.remove + makes > 1)
    throw UsageError("--check, --remove and --dialect (with --label and --property) exclude each other");
  if (command.check) return check_variants(command);
  surgery::VariantRequest request;
  if (!command.remove) {
    if (command.dialect.empty())
      throw UsageError(
          "no dialect given: the standards of variant wheels are drafts, and pip does not install such wheels yet\n"
          "  name the draft that your installer supports: --dialect pep825, --dialect pep850 or --dialect pep817\n"
          "  try: wheelsmith variant --help");
    request.dialect = pep::variant_dialect(command.dialect);
    if (!request.dialect)
      throw UsageError(
          fmt::format("--dialect {}: known dialects are pep825, pep850 and pep817", printable(command.dialect)));
    request.label = command.label;
    for (const std::string& property : command.properties) {
      try {
        pep::add_property(request.properties, property);
      } catch (const Error& error) {
        throw UsageError(fmt::format("--property: {}", error.what()));
      }
    }
  }
  return operate(command.common, [&](surgery::InputWheel& input, const surgery::WriteOptions& options,
                                     surgery::Item& item) { surgery::make_variant(input, request, options, item); });
}

}  // namespace

void add_variant(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<VariantCommand>();
  CLI::App* sub = app.add_subcommand("variant", "Make or check a variant wheel (draft standards)");
  sub->footer(
      "A variant wheel has a label in its file name and properties in .dist-info/variant.json, by which an installer "
      "chooses\n"
      "among several wheels of one version. The properties are read from the binaries. The standards are drafts, so "
      "the "
      "dialect\n"
      "must be named. `wheelsmith index` writes the combined variants.json. See docs/variant.md.\n\n"
      "Examples:\n"
      "  wheelsmith variant ext-1.0-cp312-cp312-manylinux_2_28_x86_64.whl --dialect pep850 --out dist\n"
      "  wheelsmith variant ext.whl --dialect pep825 --label cu13 --property \"nvidia :: cuda_version_lower_bound :: "
      "13.0\"\n"
      "  wheelsmith variant --check dist/*.whl");
  sub->add_option("--dialect", command->dialect, "Draft to follow: pep825, pep850 or pep817")
      ->type_name("NAME")
      ->group("Variant");
  sub->add_option("--label", command->label, "Label in the file name; default: from the properties")
      ->type_name("LABEL")
      ->group("Variant");
  sub->add_option("--property", command->properties,
                  "Property \"namespace :: feature :: value\"; replaces the values that the binaries give for the "
                  "feature")
      ->type_name("PROPERTY")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Variant");
  sub->add_flag("--check", command->check,
                "Compare the properties of variant wheels with their binaries; write nothing")
      ->group("Variant");
  sub->add_flag("--remove", command->remove, "Make wheels without a label and variant.json")->group("Variant");
  command->common.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return make_variants(*command); }; });
}

}  // namespace wheelsmith::cli
