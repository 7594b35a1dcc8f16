// `serve`: a folder of wheels as a package index over HTTP.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/session.h"
#include "index/responder.h"
#include "index/server.h"
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
  // One line, one write: lines of several threads do not mix.
  return [json = command.json](const index::Access& access) {
    print_status(json ? report::access_json(access) : report::access_text(access));
  };
}

// What goes wrong on this side is told also where requests are not logged.
std::function<void(const std::string&)> problem_log(bool json) {
  return [json](const std::string& problem) {
    print_status(json ? report::problem_json(problem) : fmt::format("wheelsmith: {}\n", printable(problem)));
  };
}

void serve_with(ServeCommand& command, const index::Answerer& answerer, report::ServedFolder served) {
  // Hashing a new wheel keeps a thread busy; others must answer meanwhile.
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
  if (command.folder.empty()) throw UsageError("name the folder of wheels to serve, or --store");
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
      "A folder that `wheelsmith index` has indexed is served as it is. Of any other folder the pages are made in\n"
      "memory, and again when wheels come and go; nothing is written to it. HTML or JSON as the client asks, parts of\n"
      "files, nothing outside of the folder. There is no encryption and no password: put a proxy in front of it "
      "before\n"
      "you open it to a network.\n\n"
      "Examples:\n"
      "  wheelsmith serve wheelhouse\n"
      "  wheelsmith serve wheelhouse --listen 0.0.0.0:8080 --quiet\n"
      "  wheelsmith serve wheelhouse --listen 127.0.0.1:0 --json\n"
      "  wheelsmith serve --store /srv/store --token-file ~/.config/wheelsmith/token");
  sub->add_option("DIR", command->folder,
                  "The folder of wheels and source distributions; with --store a store, default: your own");
  sub->add_flag("--store", command->store, "Serve the finished steps of a store, for `--store URL` on other machines");
  sub->add_option("--token-file", command->token_file,
                  "With --store: file with the token that allows writing; default: $WHEELSMITH_STORE_TOKEN, else the "
                  "store is read-only")
      ->type_name("FILE");
  sub->add_option("--max-upload", command->largest, "With --store: size of the largest wheel that is taken")
      ->type_name("SIZE")
      ->capture_default_str();
  sub->add_option("--listen", command->listen, "Numeric address and port; port 0 takes a free one and prints it")
      ->type_name("ADDRESS")
      ->capture_default_str();
  sub->add_flag("--live", command->options.live, "Make the pages in memory, even where the folder has been indexed");
  sub->add_option("--title", command->options.pages.title, "Heading of the first page of a live index")
      ->capture_default_str();
  sub->add_option("--sub-indexes", command->sub_indexes,
                  "Also a live index for each GPU family (by-family/gfx942) or variant (by-variant/cu130)")
      ->delimiter(',')
      ->check(CLI::IsMember({"family", "variant", "none"}));
  sub->add_option("--max-connections", command->limits.connections,
                  "Connections that stay open; beyond that the longest idle one is closed")
      ->check(CLI::Range(1U, 100'000U))
      ->capture_default_str();
  sub->add_option("--threads", command->threads, "Threads; 0 is as many as there are cores, at least 4")
      ->capture_default_str();
  sub->add_flag("-q,--quiet", command->quiet, "Do not log requests on standard error");
  sub->add_flag("--json", command->json, "Print the address as one JSON document, and log as one JSON object a line");
  sub->callback([command, &outcome] { outcome = [command] { return serve(*command); }; });
}

}  // namespace wheelsmith::cli
