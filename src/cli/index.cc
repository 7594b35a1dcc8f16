// `index`: turns a folder of wheels into a package index.

#include "report/index.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "index/arrange.h"
#include "sys/file.h"
#include "sys/process/process.h"

namespace wheelsmith::cli {

namespace {

struct IndexCommand {
  OutputOptions output;
  index::PublishOptions options;
  std::string folder, out;
  std::vector<std::string> sub_indexes;
  std::string upload_time = "none";
  std::string layout;
  index::ArrangeOptions arrange;
  bool no_html = false, no_json = false, no_sidecars = false;
  unsigned threads = 0;
};

index::PublishOptions publish_options(const IndexCommand& command) {
  if (!sys::is_folder(command.folder)) throw Error(printable(command.folder) + " is not a folder");
  if (command.no_html && command.no_json) throw UsageError("--no-html and --no-json leave no pages to write");
  index::PublishOptions options = command.options;
  options.folder = command.folder;
  options.out = command.out;
  options.look.threads = thread_count(command.threads);
  options.look.times_of_files = command.upload_time == "mtime";
  options.pages.html = !command.no_html;
  options.pages.json = !command.no_json;
  options.sidecars = !command.no_sidecars;
  std::string& url = options.pages.base_url;
  if (!url.empty()) {
    if (url.find_first_of(" \t\r\n\"<>") != std::string::npos || url.find('#') != std::string::npos)
      throw UsageError("--base-url is not a valid URL");
    if (!url.ends_with('/')) url += '/';
  }
  for (const std::string& name : command.sub_indexes) {
    if (name == "family") options.indexes.by_family = true;
    if (name == "variant") options.indexes.by_variant = true;
  }
  try {
    (void)index::Filter(options.look.filter);
  } catch (const Error& error) {
    throw UsageError(std::string("--filter: ") + error.what());
  }
  return options;
}

index::ArrangeOptions arrange_options(const IndexCommand& command) {
  index::ArrangeOptions options = command.arrange;
  if (command.out.empty()) throw UsageError("--layout requires --out DIR, the folder to put the files into");
  if (command.layout == "flat") options.layout = index::Layout::flat;
  if (command.layout == "upload") options.layout = index::Layout::upload;
  const bool upload = options.layout == index::Layout::upload;
  if (upload == options.product.empty())
    throw UsageError(upload ? "--layout upload requires --product NAME" : "--product requires --layout upload");
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; };
  if (!std::all_of(options.product.begin(), options.product.end(), plain))
    throw UsageError("--product may contain only lower-case letters, digits, - and _");
  return options;
}

int make_index(const IndexCommand& command) {
  if (command.layout.empty() && !command.arrange.product.empty())
    throw UsageError("--product requires --layout upload");
  const index::PublishOptions options = publish_options(command);
  sys::install_interrupt_flag();
  const index::Published done =
      command.layout.empty() ? index::publish(options) : index::arrange(options, arrange_options(command));
  print(command.output.json ? report::published_json(done) : report::published_text(done, command.output.style()));
  return done.is_good() ? k_fine : k_not_fine;
}

}  // namespace

void add_index(CLI::App& app, Outcome& outcome) {
  const auto command = std::make_shared<IndexCommand>();
  CLI::App* sub = app.add_subcommand("index", "Turn a folder of wheels into a package index for pip and uv");
  sub->footer(
      "Writes HTML pages (index.html), JSON pages (index.v1_json) and the metadata of each wheel (FILE.whl.metadata). "
      "Reads and writes only what changed since the last run. Wheels may be in one flat folder, in one folder per "
      "project, or as CI uploads them ({run}-{platform}/python/{group}). index.toml in the folder lists yanked files. "
      "Exit status: 1 if a file is broken and was left out.\n\n"
      "Examples:\n"
      "  wheelsmith index wheelhouse\n"
      "  wheelsmith index wheelhouse --sub-indexes variant --filter '!*-cp39-*' --title 'Nightly wheels'\n"
      "  wheelsmith index wheelhouse --out pages --base-url https://files.example.org/wheels/\n"
      "  wheelsmith index wheelhouse --out bucket --layout upload --product pytorch --index-name whl-next");
  index::PublishOptions& options = command->options;
  sub->add_option("DIR", command->folder, "Folder of wheels and source distributions")->required();
  sub->add_option("-o,--out", command->out, "Write the pages to this folder instead of DIR")->type_name("DIR");
  sub->add_option("--layout", command->layout,
                  "Also put the files themselves into --out; flat: FILE, project: NAME/FILE, upload: "
                  "v5/rocm/PRODUCT/INDEX/NAME/FILE")
      ->check(CLI::IsMember({"flat", "project", "upload"}));
  sub->add_option("--product", command->arrange.product, "Product for --layout upload, such as pytorch or core")
      ->type_name("NAME");
  sub->add_option("--index-name", command->arrange.index_name, "Index name for --layout upload")
      ->check(CLI::IsMember({"whl", "whl-next"}))
      ->capture_default_str();
  sub->add_option("--base-url", options.pages.base_url, "URL at which DIR is published; default: links are relative")
      ->type_name("URL");
  sub->add_option("--filter", options.look.filter,
                  "Include only these files: a pattern of file or project names, !PATTERN to exclude, or a requirement "
                  "(torch>=2.9)")
      ->type_name("EXPR")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  sub->add_option("--title", options.pages.title, "Heading of the first page")->capture_default_str();
  sub->add_flag("--find-links", options.pages.find_links, "Also write find-links.html, one page with all files");
  sub->add_option("--sub-indexes", command->sub_indexes,
                  "Also write an index per GPU family (by-family/gfx942) or variant (by-variant/cu130): family, "
                  "variant, none; separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"family", "variant", "none"}));
  sub->add_option("--upload-time", command->upload_time,
                  "Upload time of files for which index.toml gives none; mtime: the modification time of the file")
      ->check(CLI::IsMember({"mtime", "none"}))
      ->capture_default_str();
  sub->add_flag("--no-html", command->no_html, "Write no HTML pages");
  sub->add_flag("--no-json", command->no_json, "Write no JSON pages");
  sub->add_flag("--no-sidecars", command->no_sidecars, "Write no FILE.whl.metadata");
  sub->add_flag("--rehash", options.look.rehash,
                "Read every file again, and report files that changed without a new size or time");
  sub->add_flag("--force", options.force, "Replace pages that wheelsmith did not write");
  sub->add_option("--threads", command->threads, "Number of threads; 0: one per core")
      ->type_name("N")
      ->capture_default_str();
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return make_index(*command); }; });
}

}  // namespace wheelsmith::cli
