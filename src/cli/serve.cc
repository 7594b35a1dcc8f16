// `serve`: serves a folder of wheels as a package index over HTTP, or a store to other machines.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/session.h"
#include "index/serve/responder.h"
#include "index/serve/server.h"
#include "remote/store_responder.h"
#include "report/index.h"
#include "sys/file.h"
#include "sys/process/process.h"

namespace wheelsmith::cli {

namespace {

struct ServeCommand {
  index::ServeOptions options;
  std::string folder;
  std::string listen = "127.0.0.1:8080";
  std::vector<std::string> sub_indexes;
  index::ServerLimits limits;
  unsigned threads = 0;
  bool json = false, quiet = false;
  bool store = false;
  std::string token_file, largest = "16GB";
};

index::AccessLog access_log(const ServeCommand& command) {
  if (command.quiet) return {};
  // One write per line, so that lines of several threads do not mix.
  return [json = command.json](const index::Access& access) {
    print_status(json ? report::access_json(access) : report::access_text(access));
  };
}

// Server problems are logged even with --quiet.
std::function<void(const std::string&)> problem_log(bool json) {
  return [json](const std::string& problem) {
    print_status(json ? report::problem_json(problem) : fmt::format("wheelsmith: {}\n", printable(problem)));
  };
}

void serve_with(ServeCommand& command, const index::Answerer& answerer, report::ServedFolder served) {
  // Hashing a new wheel keeps a thread busy; other threads must answer meanwhile.
  command.limits.threads = std::max(4U, thread_count(command.threads));
  index::Server server(command.listen, answerer, command.limits, access_log(command));
  served.url = server.url();
  print(command.json ? report::served_json(served) : report::served_text(served));
  server.run([] { return sys::interrupted(); });
}

int serve_store(ServeCommand& command) {
  remote::ServeStoreOptions options;
  options.token = remote::read_token(command.token_file);
  options.largest_upload = parse_size("--max-upload", command.largest);
  options.on_problem = problem_log(command.json);
  sys::install_interrupt_flag();
  store::Store store(command.folder.empty() ? store::Store::default_root() : std::filesystem::absolute(command.folder));
  const remote::StoreResponder responder(store, options);
  serve_with(
      command, responder,
      {.folder = store.root().string(), .url = "", .live = false, .store = true, .writable = responder.is_writable()});
  return k_fine;
}

int serve(ServeCommand& command) {
  if (command.store) return serve_store(command);
  if (command.folder.empty()) throw UsageError("no folder given; name a folder of wheels, or use --store");
  if (!sys::is_folder(command.folder)) throw Error(printable(command.folder) + " is not a folder");
  command.options.folder = command.folder;
  command.options.on_problem = problem_log(command.json);
  command.options.look.threads = thread_count(command.threads);
  for (const std::string& name : command.sub_indexes) {
    if (name == "family") command.options.indexes.by_family = true;
    if (name == "variant") command.options.indexes.by_variant = true;
  }
  sys::install_interrupt_flag();
  const index::Responder responder(command.options);
  serve_with(command, responder, {.folder = command.folder, .url = "", .live = responder.is_live()});
  return k_fine;
}

}  // namespace

void add_serve(CLI::App& app, Outcome& outcome) {
  const auto command = std::make_shared<ServeCommand>();
  CLI::App* sub = app.add_subcommand("serve", "Serve a folder of wheels as a package index, or a store, over HTTP");
  sub->footer(
      "Serves a folder that was indexed by `wheelsmith index` as it is. For any other folder, generates the pages in "
      "memory, updates them when wheels are added or removed, and writes nothing. Supports HTML and JSON pages and "
      "range requests; serves nothing outside the folder. There is no encryption and no password: put a proxy in front "
      "of it before you open it to a network.\n\n"
      "Examples:\n"
      "  wheelsmith serve wheelhouse\n"
      "  wheelsmith serve wheelhouse --listen 0.0.0.0:8080 --quiet\n"
      "  wheelsmith serve wheelhouse --listen 127.0.0.1:0 --json\n"
      "  wheelsmith serve --store /srv/store --token-file ~/.config/wheelsmith/token");
  sub->add_option("DIR", command->folder,
                  "Folder of wheels and source distributions; with --store: a store, default: your own");
  sub->add_flag("--store", command->store, "Serve the finished steps of a store, for `--store URL` on other machines");
  sub->add_option("--token-file", command->token_file,
                  "With --store: file with the token that allows writing; default: $WHEELSMITH_STORE_TOKEN, else the "
                  "store is read-only")
      ->type_name("FILE");
  sub->add_option("--max-upload", command->largest, "With --store: maximum size of an uploaded wheel")
      ->type_name("SIZE")
      ->capture_default_str();
  sub->add_option("--listen", command->listen, "IP address and port; port 0 picks a free port and prints it")
      ->type_name("ADDRESS")
      ->capture_default_str();
  sub->add_flag("--live", command->options.live, "Generate the pages in memory even if the folder has been indexed");
  sub->add_option("--title", command->options.pages.title, "Heading of the first page of a live index")
      ->capture_default_str();
  sub->add_option("--sub-indexes", command->sub_indexes,
                  "Also serve a live index per GPU family (by-family/gfx942) or variant (by-variant/cu130)")
      ->delimiter(',')
      ->check(CLI::IsMember({"family", "variant", "none"}));
  sub->add_option("--max-connections", command->limits.connections,
                  "Maximum number of open connections; above it, the one idle longest is closed")
      ->check(CLI::Range(1U, 100'000U))
      ->capture_default_str();
  sub->add_option("--threads", command->threads, "Number of threads; 0: one per core, at least 4")
      ->capture_default_str();
  sub->add_flag("-q,--quiet", command->quiet, "Do not log requests on standard error");
  sub->add_flag("--json", command->json, "Print the address as one JSON document, and log one JSON object per line");
  sub->callback([command, &outcome] { outcome = [command] { return serve(*command); }; });
}

}  // namespace wheelsmith::cli
