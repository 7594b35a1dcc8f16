// What is done in a step's tree before the package's own build is called: compilers and programs under the names that
// builds look for, files and commands of the recipe.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "run/step_runner.h"
#include "source/git/git.h"
#include "source/patches/patch.h"
#include "sys/file.h"

namespace wheelsmith::run {

namespace {

void link(const std::filesystem::path& target, const std::filesystem::path& name) {
  std::error_code error;
  std::filesystem::remove(name, error);
  std::filesystem::create_symlink(target, name, error);
  if (error) sys::throw_sys_error(error.value(), "link", name);
}

}  // namespace

void StepRunner::prepare_tools() {
  const plan::Step& step = m_job.step;
  m_network_isolated = !step.network && sys::can_isolate_network();
  govern();
  const std::filesystem::path bin = m_tree / "bin";
  if (!m_job.mirrors.empty()) m_git_variables = source::repositories_for(m_fetcher, m_store).build_variables();
  const auto compiler = [&](const std::string& real, const char* plain, const char* own) {
    if (real.empty()) return;
    link(real, bin / plain);
    link(real, bin / own);
  };
  const bool clang = step.compiler_family == "clang";
  compiler(step.cc, "cc", clang ? "clang" : "gcc");
  compiler(step.cxx, "c++", clang ? "clang++" : "g++");
  for (const auto& [name, path] : step.programs) link(path, bin / name);
}

// setuptools copies Python files into build/lib and packs what is there: what the source no longer has would stay in
// the wheel. Libraries may stay; they are made again when what they are made of changed.
void StepRunner::remove_stale_copies() const {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(m_source / "build", error)) {
    if (!entry.path().filename().string().starts_with("lib") || entry.is_symlink() || !entry.is_directory()) continue;
    for (const sys::TreeFile& file : sys::list_tree(entry.path())) {
      if (!file.name.ends_with(".so")) sys::remove_tree(entry.path() / file.name);
    }
  }
}

// What the recipe writes into the source and runs there, once for a tree: such commands rewrite it (hipify), and a
// second time would touch what was compiled since.
void StepRunner::prepare_build() {
  for (const auto& [name, text] : m_job.step.files) {
    const std::filesystem::path path = m_source / name;
    const std::string wanted = with_paths(text);
    if (sys::read_file_if_there(path, 16 << 20) == wanted) continue;
    sys::make_folders(path.parent_path());
    sys::write_file(path, wanted);
    note("wrote " + name);
  }
  std::string done;
  const std::filesystem::path mark = m_tree / "prepared";
  for (const std::vector<std::string>& words : m_job.step.prepare) done += join(words, " ") + "\n";
  if (m_job.step.prepare.empty() || sys::read_file_if_there(mark, 1 << 20) == done) return;
  start_phase("prepare");
  std::vector<source::Patch> late;
  std::copy_if(m_job.step.patches.begin(), m_job.step.patches.end(), std::back_inserter(late),
               [](const source::Patch& patch) { return patch.late; });
  bool hipify = !m_rules.checkout.hipify.empty();  // the first command
  for (const std::vector<std::string>& words : m_job.step.prepare) {
    sys::Command command;
    for (const std::string& word : words) command.argv.push_back(with_paths(word));
    run_tool(command, words.front().find('/') == std::string::npos ? words.front() : join(words, " "));
    if (std::exchange(hipify, false)) source::apply_patches(m_tree / "source", late);
  }
  sys::write_file(mark, done);
}

}  // namespace wheelsmith::run
