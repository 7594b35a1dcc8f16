#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "governor/shim/shim.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/shared_folder.h"
#include "sys/terminal.h"

// A shim whose compile runs on another node: it writes the request, waits until the governor says that srun has ended,
// and reads the result. What the build sees is the same as of a compile here.

namespace wheelsmith::governor {

namespace {

constexpr unsigned k_most_node_failures = 3;
constexpr double k_visible_seconds = 10;  // for an object that a network file system shows late

// The build's tree is the same on all nodes; descriptors, other processes and, without a private one, /tmp are not.
bool is_same_everywhere(const std::string& word, bool private_tmp) {
  if (word.find("/proc/") != word.npos || word.find("/dev/fd") != word.npos || word.find("/dev/std") != word.npos)
    return false;
  return private_tmp || word.find("/tmp/") == word.npos;
}

unsigned own_umask() {
  const mode_t mask = ::umask(022);
  ::umask(mask);
  return mask;
}

void wait_until_visible(const std::string& output) {
  const std::filesystem::path path(output);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  struct stat status{};
  for (const double until = now() + k_visible_seconds;;) {
    sys::refresh(folder);
    sys::refresh(path);
    if (::stat(path.c_str(), &status) == 0 || now() > until) return;
    ::usleep(100'000);
  }
}

}  // namespace

bool Shim::can_move() const {
  if (m_run.exchange.empty() || !m_command.compile_only || m_command.kind == Kind::link || m_alone) return false;
  if (m_node_failures >= k_most_node_failures) return false;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  const std::filesystem::path tree = m_run.exchange.parent_path();
  if (error || !(sys::is_within(folder, tree) || (m_run.private_tmp && sys::is_within(folder, "/tmp")))) return false;
  return std::all_of(m_argv.begin() + 1, m_argv.end(), [this](const std::string& word) {
    return sys::is_within(word, m_run.exchange.parent_path()) || is_same_everywhere(word, m_run.private_tmp);
  });
}

// Nothing if the node failed, or the governor ended: then the compile is to be requested again.
std::optional<NodeResult> Shim::run_elsewhere(const std::vector<std::string>& argv,
                                              const std::vector<std::string>& environment) {
  std::filesystem::path file;
  std::optional<NodeResult> result;
  std::string why;
  Connection& connection = m_grant.connection();
  try {
    file = m_run.exchange / ("compile-" + sys::random_hex(8));
    NodeRequest request;
    request.program = m_real;
    request.folder = std::filesystem::current_path().string();
    request.digest = program_digest(m_real);
    request.argv = argv;
    request.environment = environment;
    request.one_stream = sys::output_and_errors_are_one();
    request.umask = own_umask();
    request.write(file);
    connection.send({Word::place, {{"request", file.string()}}});
    Message message;
    for (Connection::Got got = Connection::Got::nothing; got != Connection::Got::end && message.word != Word::ran;)
      got = connection.receive(message, 60'000);
    if (message.word == Word::ran) result = NodeResult::read(result_of(file));
    why = message.text("why");
    if (result && !result->unfit.empty()) {
      why = result->unfit;
      result.reset();
    }
  } catch (const std::exception& error) {
    why = error.what();  // the request could not be written: the compile runs here instead
    m_node_failures = k_most_node_failures;
  }
  ::unlink(file.c_str());
  ::unlink(result_of(file).c_str());
  if (!result) {
    ++m_node_failures;
    connection.send({Word::done, {{"exit", "1"}, {"node_failed", "1"}, {"why", why.substr(0, 1000)}}});
    Message verdict;
    while (connection.is_open() && connection.receive(verdict, 5000) == Connection::Got::message &&
           verdict.word != Word::verdict) {}
    return std::nullopt;
  }
  if (result->exit.code == 0 && !m_command.output.empty()) wait_until_visible(m_command.output);
  return result;
}

}  // namespace wheelsmith::governor
