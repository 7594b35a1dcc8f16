#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "governor/governor.h"
#include "governor/server/connection.h"
#include "governor/server/run_file.h"
#include "governor/server/sampler.h"
#include "governor/server/wire.h"
#include "governor/shim/node_compile.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/memory_file.h"
#include "sys/io/wait.h"
#include "sys/shared_folder.h"

namespace wheelsmith::governor {

namespace {

constexpr std::uint64_t k_largest_file = 256ull << 20;
constexpr int k_sample_ms = 100;
constexpr int k_node_oom_score = 500;  // as a shim's compiler: the kernel ends it before this process

std::string joined_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(word).push_back('\0');
  return text;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::optional<Message> only_line(std::string_view text, Word word) {
  if (!text.ends_with('\n')) return std::nullopt;
  auto message = parse_message(text.substr(0, text.size() - 1));
  if (!message || message->word != word) return std::nullopt;
  return message;
}

// The first node may have written sources and headers a moment ago.
void refresh_inputs(const NodeRequest& request) {
  sys::refresh(request.folder);
  std::size_t count = 0;
  for (std::size_t i = 1; i < request.argv.size() && count < 64; ++i) {
    const std::string& word = request.argv[i];
    if (word.starts_with("-I") && word.size() > 2)
      sys::refresh(std::filesystem::path(request.folder) / word.substr(2));
    else if (!word.starts_with('-') && word.find('/') != word.npos)
      sys::refresh((std::filesystem::path(request.folder) / word).parent_path());
    else
      continue;
    ++count;
  }
}

NodeResult run_request(const NodeRequest& request) {
  NodeResult result;
  refresh_inputs(request);
  if (program_digest(request.program) != request.digest) {
    result.unfit = fmt::format("{} is not the same file as on the build's first node", printable(request.program));
    return result;
  }
  if (::chdir(request.folder.c_str()) != 0) {
    result.unfit = sys::sys_error_text(errno, "enter", request.folder);
    return result;
  }
  ::umask(request.umask & 0777);
  // Compilers that this one starts through a shim belong to it.
  std::vector<std::string> environment = request.environment;
  std::erase_if(environment, [](const std::string& entry) { return entry.starts_with(k_grant_variable); });
  environment.push_back(fmt::format("{}={}", k_grant_variable, ::getpid()));
  const sys::MemoryFile errors = sys::MemoryFile::make("errors");
  const sys::MemoryFile output = request.one_stream ? sys::MemoryFile() : sys::MemoryFile::make("output");
  sys::ForegroundCommand command{request.program, request.argv, environment};
  command.output = request.one_stream ? &errors.fd() : &output.fd();
  command.errors = &errors.fd();
  command.input_file = "/dev/null";
  command.default_signals = {SIGPIPE, SIGTERM, SIGINT};
  command.death_signal = SIGKILL;
  command.oom_score = k_node_oom_score;
  const double began = now();
  sys::ForegroundProcess process(command);
  std::uint64_t peak = 0;
  for (;;) {
    if (const auto exit = process.poll()) {
      result.exit = *exit;
      break;
    }
    std::array<sys::Waiting, 1> waiting{{{&process.end()}}};
    sys::wait_readable(waiting, process.end().is_open() ? k_sample_ms : k_sample_ms / 10);
    peak = std::max(peak, tree_use(::getpid()).bytes);
  }
  result.seconds = now() - began;
  result.exit.largest_process = std::max(result.exit.largest_process, peak);
  result.errors = errors.content();
  if (!request.one_stream) result.output = output.content();
  if (process.start_error() != 0)
    result.errors += fmt::format("wheelsmith: {}: {}\n", printable(request.program),
                                 std::strerror(process.start_error()));  // NOLINT(concurrency-mt-unsafe): one thread
  return result;
}

}  // namespace

std::filesystem::path result_of(const std::filesystem::path& request) { return request.string() + ".result"; }

std::string program_digest(const std::string& program) {
  const auto blob = sys::map_file_if_possible(program);
  return blob ? to_hex(sha256(blob->bytes)) : "";
}

void NodeRequest::write(const std::filesystem::path& path) const {
  sys::write_file(path, to_line({Word::compile,
                                 {{"program", program},
                                  {"folder", folder},
                                  {"digest", digest},
                                  {"argv", joined_words(argv)},
                                  {"environment", joined_words(environment)},
                                  {"one", one_stream ? "1" : "0"},
                                  {"umask", std::to_string(umask)}}}));
}

std::optional<NodeRequest> NodeRequest::read(const std::filesystem::path& path) {
  const auto text = sys::read_file_if_possible(path, k_largest_file);
  return text ? parse(*text) : std::nullopt;
}

std::optional<NodeRequest> NodeRequest::parse(std::string_view text) {
  const auto message = only_line(text, Word::compile);
  if (!message) return std::nullopt;
  NodeRequest request;
  request.program = message->text("program");
  request.folder = message->text("folder");
  request.digest = message->text("digest");
  request.argv = split_words(message->text("argv"));
  request.environment = split_words(message->text("environment"));
  request.one_stream = message->flag("one");
  request.umask = static_cast<unsigned>(message->number("umask", 022) & 0777);
  if (!request.program.starts_with('/') || !request.folder.starts_with('/') || request.argv.empty())
    return std::nullopt;
  return request;
}

void NodeResult::write(const std::filesystem::path& path) const {
  sys::write_file(path, to_line({Word::compiled,
                                 {{"exit", std::to_string(exit.code)},
                                  {"signal", std::to_string(exit.signal)},
                                  {"peak", std::to_string(exit.largest_process)},
                                  {"cpu", std::to_string(static_cast<std::uint64_t>(exit.cpu_seconds * 1000))},
                                  {"milliseconds", std::to_string(static_cast<std::uint64_t>(seconds * 1000))},
                                  {"output", output},
                                  {"errors", errors},
                                  {"unfit", unfit}}}));
}

std::optional<NodeResult> NodeResult::read(const std::filesystem::path& path) {
  const auto text = sys::read_file_if_possible(path, k_largest_file);
  return text ? parse(*text) : std::nullopt;
}

std::optional<NodeResult> NodeResult::parse(std::string_view text) {
  const auto message = only_line(text, Word::compiled);
  if (!message) return std::nullopt;
  NodeResult result;
  result.exit.code = static_cast<int>(std::min<std::uint64_t>(message->number("exit", 1), 255));
  result.exit.signal = static_cast<int>(std::min<std::uint64_t>(message->number("signal"), 64));
  result.exit.largest_process = message->number("peak");
  result.exit.cpu_seconds = static_cast<double>(std::min<std::uint64_t>(message->number("cpu"), 1ull << 40)) / 1000;
  result.seconds = static_cast<double>(std::min<std::uint64_t>(message->number("milliseconds"), 1ull << 40)) / 1000;
  result.output = message->text("output");
  result.errors = message->text("errors");
  result.unfit = message->text("unfit");
  return result;
}

int run_node_compile(const std::filesystem::path& request_file) {
  const auto request = NodeRequest::read(request_file);
  if (!request) throw Error(fmt::format("{} is not a compile request", printable(request_file.string())));
  run_request(*request).write(result_of(request_file));
  return 0;
}

}  // namespace wheelsmith::governor
