#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "cache/dependencies.h"
#include "governor/parts/line_markers.h"
#include "governor/shim/parts_run.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/new_file.h"
#include "sys/io/wait.h"

// A compile in parts. nvcc runs its commands one after the other and stops at the first that fails; here all parts run
// that can, each in a process that asks the governor for itself. What the build sees is the same: messages appear in
// nvcc's order, up to those of the first failed command in that order, whose exit status counts.
//
//   E compute_80 ── cicc compute_80 ── ptxas sm_80 ──┐
//   E compute_90 ── cicc compute_90 ── ptxas sm_90 ──┼─ fatbinary ── host compiler ── object
//   E host ──────── cudafe++ (also the module ID) ───┘
//
// Everything is written to a temporary folder that vanishes with this process. The object gets its name at the end,
// complete.

namespace wheelsmith::governor {

namespace {

// The result under its own name, at once; on another file system by a copy beside it.
void put_in_place(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return;
  const Blob blob = sys::map_file(from);
  const std::string beside = to + "." + std::to_string(::getpid()) + ".wheelsmith";
  sys::NewFile file = sys::NewFile::replacing(beside, 0666);
  try {
    file.write(blob.bytes);
    file.close();
  } catch (const Error&) {
    ::unlink(beside.c_str());
    throw;
  }
  if (::rename(beside.c_str(), to.c_str()) != 0) {
    const int error = errno;
    ::unlink(beside.c_str());
    sys::throw_sys_error(error, "write", to);
  }
}

}  // namespace

PartsRun::PartsRun(const PartGraph& graph, PartSite site, PartDependencies dependencies)
    : m_graph(graph), m_site(std::move(site)), m_dependencies(std::move(dependencies)), m_steps(graph.parts.size()) {
  std::map<std::string, std::size_t> writers;
  for (std::size_t i = 0; i < graph.parts.size(); ++i) {
    for (const std::string& name : graph.parts[i].reads) {
      if (const auto writer = writers.find(name); writer != writers.end()) m_steps[i].after.push_back(writer->second);
    }
    for (const std::string& name : graph.parts[i].writes) writers[name] = i;
  }
}

std::size_t PartsRun::first_failed() const {
  const auto found =
      std::find_if(m_steps.begin(), m_steps.end(), [](const Step& step) { return step.state == State::failed; });
  return static_cast<std::size_t>(found - m_steps.begin());
}

// Parts behind a failed one do not start: nvcc would not have come so far.
void PartsRun::start_ready() {
  const std::size_t failed = first_failed();
  for (std::size_t i = 0; i < m_steps.size(); ++i) {
    if (m_steps[i].state != State::waiting) continue;
    if (i > failed) {
      m_steps[i].state = State::skipped;
      continue;
    }
    const bool ready = std::all_of(m_steps[i].after.begin(), m_steps[i].after.end(),
                                   [this](std::size_t other) { return m_steps[other].state == State::done; });
    if (ready) start(i);
  }
}

void PartsRun::start(std::size_t index) {
  Step& step = m_steps[index];
  const Part& part = m_graph.parts[index];
  if (part.kind == PartKind::dependencies) {
    write_dependencies(index);
    return;
  }
  step.task = std::make_unique<sys::ForkedTask>([&] { return run_part(part, m_site).to_bytes(); }, SIGTERM);
  step.state = State::running;
}

void PartsRun::write_dependencies(std::size_t index) {
  Step& step = m_steps[index];
  const Part& part = m_graph.parts[index];
  try {
    std::vector<std::string> files;
    for (const std::string& name : part.reads) {
      const Blob text = sys::map_file(m_site.folder + "/" + name);
      add_files(text.bytes.text(), files);
    }
    sys::NewFile file = sys::NewFile::replacing(part.output, 0666);
    file.write(Bytes(nvcc_dependencies(m_dependencies.target, m_graph.source, files, m_dependencies.phony)));
    file.close();
    step.state = State::done;
  } catch (const Error&) {  // nvcc itself reports the problem of its path
    step.result.signal = SIGABRT;
    step.state = State::failed;
  }
}

bool PartsRun::collect() {
  bool any = false;
  for (Step& step : m_steps) {
    if (step.state != State::running || !step.task->poll()) continue;
    any = true;
    const auto bytes = step.task->result();
    if (bytes) {
      try {
        step.result = PartResult::from_bytes(*bytes);
      } catch (const Error&) {  // as if it had been killed
        step.result.signal = SIGKILL;
      }
    } else {
      step.result.signal = SIGKILL;
    }
    step.task.reset();
    step.state = step.result.code == 0 && step.result.signal == 0 ? State::done : State::failed;
  }
  if (any) {
    // What nvcc would not have started.
    for (std::size_t i = first_failed() + 1; i < m_steps.size(); ++i) {
      if (m_steps[i].state != State::running) continue;
      m_steps[i].task.reset();
      m_steps[i].state = State::skipped;
    }
  }
  return any;
}

void PartsRun::wait() {
  std::vector<sys::Waiting> waiting;
  bool blind = false;
  for (const Step& step : m_steps) {
    if (step.state != State::running) continue;
    blind = blind || !step.task->end().is_open();
    waiting.push_back({&step.task->end()});
  }
  sys::wait_readable(waiting, blind ? 10 : -1);
}

// Messages with the names that nvcc would have given its files.
std::string PartsRun::shown(std::string text) const {
  const std::string folder = m_site.folder + "/";
  for (std::size_t at = text.find(folder); at != text.npos; at = text.find(folder, at)) {
    const PartFile* best = nullptr;
    const std::string_view rest = std::string_view(text).substr(at + folder.size());
    for (const PartFile& file : m_graph.files) {
      if (rest.starts_with(file.name) && (best == nullptr || file.name.size() > best->name.size())) best = &file;
    }
    if (best == nullptr) {
      at += folder.size();
      continue;
    }
    text.replace(at, folder.size() + best->name.size(), best->original);
    at += best->original.size();
  }
  return text;
}

PartsOutcome PartsRun::conclude() {
  PartsOutcome outcome;
  outcome.errors = m_graph.messages;
  for (std::size_t i = 0; i < m_steps.size(); ++i) {
    const Step& step = m_steps[i];
    if (step.state != State::done && step.state != State::failed) break;
    outcome.output += shown(step.result.output);
    outcome.errors += shown(step.result.errors);
    outcome.parts += m_graph.parts[i].kind != PartKind::dependencies ? 1 : 0;
    outcome.hits += step.result.cache == CacheUse::hit ? 1 : 0;
    outcome.cpu_ms += step.result.cpu_ms;
    outcome.saved_ms += step.result.saved_ms;
    outcome.ungoverned = outcome.ungoverned || step.result.ungoverned;
    if (step.state == State::done) continue;
    outcome.undecided = step.result.signal != 0 || (step.result.code > 128 && step.result.code != 255);
    outcome.code = step.result.code;
    return outcome;
  }
  for (const Part& part : m_graph.parts) {
    if (part.headers.empty()) continue;
    const auto text = sys::read_file_if_possible(m_site.folder + "/" + part.headers);
    const auto files = text ? cache::read_dependencies(*text) : std::nullopt;
    if (files) outcome.headers.insert(outcome.headers.end(), files->begin(), files->end());
  }
  try {
    put_in_place(m_site.folder + "/result", m_graph.parts.back().output);
  } catch (const Error&) {  // nvcc itself reports the problem of its path
    outcome.undecided = true;
    outcome.code = 1;
  }
  return outcome;
}

PartsOutcome PartsRun::run() {
  for (;;) {
    start_ready();
    const bool running =
        std::any_of(m_steps.begin(), m_steps.end(), [](const Step& step) { return step.state == State::running; });
    const bool waiting =
        std::any_of(m_steps.begin(), m_steps.end(), [](const Step& step) { return step.state == State::waiting; });
    if (!running && !waiting) return conclude();
    if (!running) continue;
    if (!collect()) wait();
  }
}

}  // namespace wheelsmith::governor
