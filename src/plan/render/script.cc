// A plan as a plain bash script, for users who cannot or do not want to run wheelsmith, or want to verify it.
// The script does the same as a step's process: the source by its hash, the same patches, an environment with the same
// wheels by their hashes, the same variables and no others, the same call of the backend. Build paths differ (a work
// folder instead of the store), but the prefix maps in the variables keep them out of the binaries. So the members of
// the wheel are identical except for what wheelsmith adds to dist-info. Everything in a plan may be hostile (a
// third-party recipe, the name of a folder), so each value is a quoted word, and comments contain no values. Passwords
// in URLs are not printed: the script then asks for the file.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/secret.h"
#include "base/text.h"
#include "plan/render/render.h"
#include "store/store.h"
#include "sys/process/process.h"

namespace wheelsmith::plan {

namespace data {
extern const std::string_view script_head_sh;
}  // namespace data

namespace {

using sys::shell_quoted;

constexpr std::string_view k_file_input = "source:";

// A here-document must not end before its text does.
std::string unused_mark(std::string_view text) {
  std::string mark = "END_OF_TEXT";
  while (text.find(mark) != text.npos) mark += '_';
  return mark;
}

// `command <<'MARK'` with the text; a final newline is added if it is missing.
std::string with_input(const std::string& command, std::string_view text) {
  const std::string mark = unused_mark(text);
  std::string result = fmt::format("{} <<'{}'\n{}", command, mark, text);
  if (!result.ends_with('\n')) result += '\n';
  return result + mark + "\n";
}

std::string or_else(const std::string& variable, const std::string& value) {
  return fmt::format("${{{}:-{}}}", variable, shell_quoted(value));
}

// One step as a bash function that performs the same actions as its process.
class StepScript {
 public:
  StepScript(const Plan& plan, const Step& step) : m_plan(plan), m_step(step), m_spec(step.spec) {}

  std::string function(std::size_t number) {
    m_text = fmt::format("\nstep_{}() {{\n", number);
    line("printf '== %s\\n' " + shell_quoted(m_spec.id));
    if (m_spec.source.kind == source::Pin::Kind::program) {
      line("printf '%s\\n' 'wheelsmith packages itself; the script has nothing to do'");
      return m_text + "}\n";
    }
    start();
    get_source();
    act(Phase::source);
    make_environment();
    link_tools();
    link_libraries();
    set_variables();
    act(Phase::prepare);
    if (!m_spec.editable && m_spec.environment.lock.find("pip") == nullptr) line("remove_pip");
    act(Phase::build);
    line(m_spec.editable ? "install_editable" : "cp -- \"$tree\"/dist/*.whl \"$DIST/\"");
    return m_text + "}\n";
  }

 private:
  void line(const std::string& text) { m_text += "  " + text + "\n"; }
  // Here-documents cannot be indented.
  void block(const std::string& text) { m_text += text; }

  void act(Phase phase) {
    for (const Action& action : m_spec.actions) {
      if (action.phase == phase) std::visit([this](const auto& what) { print(what); }, action.what);
    }
  }

  void print(const FetchSource& fetch) { clone(fetch.pin, "$tree/fetched/" + fetch.name); }

  void print(const ApplyPatch& action) {
    const source::Patch& patch = action.patch;
    block(with_input(fmt::format("  patch -p1 --fuzz=0 --no-backup-if-mismatch --silent -d \"$tree/source\"{}",
                                 patch.folder.empty() ? "" : "/" + shell_quoted(patch.folder)),
                     patch.text));
  }

  void print(const RemoveFiles& action) { line("clean \"$source\" " + shell_quoted(action.patterns)); }

  void print(const WriteFile& file) {
    line(fmt::format("mkdir -p \"$(dirname \"$source\"/{0})\"", shell_quoted(file.path)));
    line(fmt::format("printf %s {} >\"$source\"/{}", script_word(file.text), shell_quoted(file.path)));
  }

  void print(const RunCommand& command) {
    std::string words;
    for (const std::string& word : command.argv) words += " " + script_word(word);
    line("in_step" + words);
  }

  void print(const CallHook& call) {
    std::string config;
    for (const auto& [name, value] : call.config) config += " " + shell_quoted(name) + " " + script_word(value);
    const std::string name(enum_name(call.hook));
    if (call.hook == CallHook::Hook::build_wheel || call.hook == CallHook::Hook::build_editable) {
      if (m_spec.editable) line("read_backend; touch \"$tree/driver/dropped\"");
      line("hook " + name + " \"$tree/dist\"" + config);
      return;
    }
    line(call.dropped.empty() ? ": >\"$tree/driver/dropped\""
                              : "printf '%s\\n' " + shell_quoted(call.dropped) + " >\"$tree/driver/dropped\"");
    line("read_backend");
    line("hook " + name + " \"$tree/driver/more\"" + config);
    if (!m_spec.environment.isolated) return;
    line("[[ ! -s $tree/driver/more ]] || install" + m_pip_options + " -r \"$tree/driver/more\"");
  }

  void print(const PackProgram&) {}

  void start() {
    const std::string slug = store::slug(m_spec.identity);
    line("local archive variables more compiler");
    line("local python=" + or_else(script_variable("PYTHON", m_spec.python.abi), m_spec.python.executable.string()));
    line(fmt::format("local tree=$WORK/trees/{0} env=$WORK/envs/{0} toolkit= source outer_pip=", shell_quoted(slug)));
    if (!m_spec.python.has_ensurepip && m_spec.python.has_pip) line("outer_pip=yes");
    line("source=$tree/source");
    line("rm -rf \"$tree\" \"$env\"");
    line("mkdir -p \"$tree\"/{home,tmp,bin,dist,driver}");
    // First, because nothing works without it.
    if (m_spec.variant == recipe::Variant::rocm) link_rocm();
  }

  void get_source() {
    if (m_spec.editable) {
      line("source=" + or_else(script_variable("SOURCE", m_spec.package), m_spec.source.folder.string()));
      if (!m_spec.subfolder.empty()) line("source+=/" + shell_quoted(m_spec.subfolder));
      return;
    }
    switch (m_spec.source.kind) {
      case source::Pin::Kind::archive: get_archive(); break;
      case source::Pin::Kind::folder: get_folder(); break;
      case source::Pin::Kind::git: clone(m_spec.source, "$source"); break;
      case source::Pin::Kind::program: break;
    }
    if (!m_spec.subfolder.empty()) line("source+=/" + shell_quoted(m_spec.subfolder));
  }

  void clone(const source::Pin& pin, const std::string& folder) {
    line(fmt::format("clone {} {} \"{}\"{}", shell_quoted(fetch::without_credentials(pin.git_url)),
                     shell_quoted(pin.git_commit), folder,
                     !pin.submodules           ? ""
                     : pin.submodules->empty() ? " -"
                                               : " " + shell_quoted(*pin.submodules)));
    if (!pin.git_tag.empty()) line(fmt::format("git -C \"{}\" tag -- {}", folder, shell_quoted(pin.git_tag)));
  }

  void get_archive() {
    const source::Pin& pin = m_spec.source;
    const std::string shown = fetch::without_credentials(pin.url);
    const std::string url = shown == pin.url ? pin.url : "";
    constexpr std::string_view k_prefix = "sha256:";
    const std::string hash =
        !pin.sha256.empty() || !pin.digest.starts_with(k_prefix) ? pin.sha256 : pin.digest.substr(k_prefix.size());
    line(fmt::format("fetch {} {} {}", shell_quoted(url), shell_quoted(pin.file_name), shell_quoted(hash)));
    line("unpack \"$archive\" \"$source\"");
  }

  // The manifest lists the files of a folder, unless there are very many.
  void get_folder() {
    std::string names;
    bool plain = true;
    for (const auto& [name, digest] : m_spec.manifest.inputs()) {
      if (!name.starts_with(k_file_input)) continue;
      const std::string file = name.substr(k_file_input.size());
      plain = plain && file.find('\n') == file.npos;
      names += file + "\n";
    }
    const std::string folder = or_else(script_variable("SOURCE", m_spec.package), m_spec.source.folder.string());
    line("local folder=" + folder);
    line("mkdir -p \"$source\"");
    if (names.empty() || !plain)
      line("copy_folder \"$folder\" \"$source\"");
    else
      block(with_input("  copy_files \"$folder\" \"$source\"", names));
    if (m_spec.source.incremental && !m_spec.source.git_commit.empty()) line("copy_history \"$folder\" \"$source\"");
  }

  [[nodiscard]] std::vector<std::string> pip_options() const {
    std::vector<std::string> options;
    bool first = true;
    for (const std::string& url : m_spec.environment.torch.index_urls) {
      options.push_back(first ? "--index-url" : "--extra-index-url");
      options.push_back(fetch::without_credentials(url));
      first = false;
    }
    for (const auto& folder : m_spec.environment.torch.wheelhouses) {
      options.push_back("--find-links");
      options.push_back(folder.string());
    }
    if (m_spec.environment.torch.prereleases) options.push_back("--pre");
    return options;
  }

  // As in the step's process: if nothing has to be installed for the build, uses the packages of the environment
  // itself.
  [[nodiscard]] bool builds_in_own_environment() const {
    return m_spec.editable && !m_spec.environment.isolated &&
           std::none_of(m_step.needs.begin(), m_step.needs.end(),
                        [](const Edge& edge) { return edge.kind == Edge::Kind::environment; });
  }

  void make_environment() {
    if (builds_in_own_environment()) {
      line("env=$(\"$python\" -c 'import sys; print(sys.prefix)')");
      if (!m_spec.tools.cuda.root.empty()) line("toolkit=" + or_else("BUILD_CUDA", m_spec.tools.cuda.root));
      return;
    }
    line("make_environment");
    std::string options = shell_quoted(pip_options());
    if (!options.empty()) options = " " + options;
    if (!m_spec.environment.isolated) {
      line("append_sites " + shell_quoted(m_spec.python.executable.string()));
      std::vector<std::string> needed;
      for (const Edge& edge : m_step.needs) {
        const Step* need = edge.kind == Edge::Kind::environment ? m_plan.find(edge.step) : nullptr;
        if (need != nullptr && !need->is_skipped()) needed.push_back(need->spec.project + "==" + need->spec.version);
      }
      if (!needed.empty()) line("install --no-deps --no-index --pre --find-links \"$DIST\" -- " + shell_quoted(needed));
    } else if (!m_spec.environment.resolve_late) {
      std::string requirements;
      for (const env::PinnedWheel& wheel : m_spec.environment.lock.wheels)
        requirements += fmt::format("{}=={} --hash=sha256:{}\n", wheel.name, wheel.version, wheel.sha256);
      if (!requirements.empty())
        block(with_input("  install --no-deps --require-hashes" + options + " -r /dev/stdin", requirements));
    } else {
      // Its dependencies are built by this script, so their hashes are not known yet.
      std::vector<std::string> wanted = m_spec.environment.requirements;
      for (const Edge& edge : m_step.needs) {
        const Step* need = edge.kind == Edge::Kind::environment ? m_plan.find(edge.step) : nullptr;
        if (need != nullptr && !need->is_skipped()) wanted.push_back(need->spec.project + "==" + need->spec.version);
      }
      options += " --pre --find-links \"$DIST\"";
      line("install" + options + " -- " + shell_quoted(wanted));
    }
    if (m_spec.environment.isolated && m_spec.environment.torch.kind == choose::TorchChoice::Kind::environment)
      line("append_sites " + shell_quoted(m_spec.environment.torch.python.string()));
    if (!m_spec.tools.cuda.root.empty()) line("toolkit=" + or_else("BUILD_CUDA", m_spec.tools.cuda.root));
    if (!m_spec.tools.cuda.index_version.empty())
      line("toolkit=$tree.toolkit; rm -rf \"$toolkit\"; make_toolkit" +
           (m_spec.environment.torch.kind == choose::TorchChoice::Kind::environment
                ? " " + shell_quoted(m_spec.environment.torch.python.string())
                : ""));
    m_pip_options = options;
  }

  // The ROCm that the plan found; if it found none, the one that the user gives when running the script.
  void link_rocm() {
    if (!m_spec.tools.rocm.lock.wheels.empty()) {
      std::string requirements;
      for (const env::PinnedWheel& wheel : m_spec.tools.rocm.lock.wheels)
        requirements += fmt::format("{}=={} --hash=sha256:{}\n", wheel.name, wheel.version, wheel.sha256);
      block(with_input("  make_rocm --index-url " + shell_quoted(m_spec.tools.rocm.index), requirements));
    } else if (m_spec.tools.rocm.root.empty()) {
      line("link_rocm \"${BUILD_ROCM:-}\"");
    } else {
      line("link_rocm " + or_else("BUILD_ROCM", m_spec.tools.rocm.root));
    }
  }

  void link_tools() {
    const bool clang = m_spec.tools.compiler_family == "clang";
    const auto compiler = [&](const char* variable, const std::string& path, const char* plain, const char* own) {
      if (path.empty()) return;
      line(fmt::format("compiler={}", or_else(variable, path)));
      for (const char* name : {plain, own}) line(fmt::format("ln -sfn \"$compiler\" \"$tree/bin/{}\"", name));
    };
    compiler("BUILD_CC", m_spec.tools.cc, "cc", clang ? "clang" : "gcc");
    compiler("BUILD_CXX", m_spec.tools.cxx, "c++", clang ? "clang++" : "g++");
    for (const auto& [name, path] : m_spec.tools.programs) line("link_program " + shell_quoted({name, path}));
  }

  // A path inside the machine's toolkit is relative to BUILD_CUDA or BUILD_ROCM.
  [[nodiscard]] std::string in_toolkit(const std::filesystem::path& path) const {
    const std::pair<const std::string&, const char*> roots[] = {{m_spec.tools.cuda.root, "${toolkit}"},
                                                                {m_spec.tools.rocm.root, "${rocm}"}};
    for (const auto& [root, name] : roots) {
      if (!root.empty() && path.string().starts_with(root + "/")) return name + path.string().substr(root.size());
    }
    return path.string();
  }

  void link_libraries() {
    for (const toolchain::Library& library : m_spec.tools.libraries) {
      const toolchain::LibraryKind* kind = toolchain::find_library_kind(library.name);
      if (kind == nullptr || !kind->is_linked() || library.state() != toolchain::Library::State::found) continue;
      line(fmt::format("link_library {} {} {} {} {} {}", kind->name, kind->link_name(),
                       script_word(in_toolkit(toolchain::include_folder(library))),
                       script_word(in_toolkit(library.file)), shell_quoted(join(kind->link_headers, " ")),
                       shell_quoted(join(kind->link_files, " "))));
    }
  }

  // Secrets are not printed: the user exports them before running the script.
  static std::string variable_word(const std::string& name, const std::string& value) {
    const bool plain =
        name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == name.npos;
    if (!names_a_secret(name) || !plain) return script_word(name + "=" + value);
    return fmt::format("\"{0}=${{{0}:?export it; its value is not in this script}}\"", name);
  }

  void set_variables() {
    std::map<std::string, std::string> variables;
    for (const auto& [name, value] : m_spec.variables.fixed) variables[name] = value;
    for (const auto& [name, value] : m_spec.variables.loose) variables[name] = value;
    for (const auto& [name, value] : m_plan.git_variables) variables[name] = value;
    line("variables=(");
    for (const auto& [name, value] : variables) line("  " + variable_word(name, value));
    line(")");
    if (m_spec.network) {
      line(
          "for more in {http,https,all,no}_proxy {HTTP,HTTPS,NO}_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE; "
          "do");
      line("  [[ ! -v $more ]] || variables+=(\"$more=${!more}\")");
      line("done");
    } else {
      line("# No network while compiling: nothing listens on this proxy address.");
      line(
          "for more in {http,https,all}_proxy {HTTP,HTTPS,ALL}_PROXY; do variables+=(\"$more=http://127.0.0.1:9\"); "
          "done");
    }
  }

  const Plan& m_plan;
  const Step& m_step;
  const BuildSpec& m_spec;
  std::string m_text, m_pip_options;
};

}  // namespace

std::string script_variable(std::string_view prefix, std::string_view name) {
  std::string result(prefix);
  result += '_';
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    result += !letter ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return result;
}

std::string script_word(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> k_places = {{
      {"${rocm}", "\"$tree/rocm\""},
      {"${torch}", "\"$(torch_folder)\""},
      {"${tree}", "\"$tree\""},
      {"${env}", "\"$env\""},
      {"${toolkit}", "\"$toolkit\""},
      {"${store}", "\"$WORK\""},
      {"${jobs}", "\"$JOBS\""},
  }};
  std::string word, plain;
  const auto flush = [&] {
    if (!plain.empty()) word += shell_quoted(plain);
    plain.clear();
  };
  while (!text.empty()) {
    const auto place = std::find_if(k_places.begin(), k_places.end(),
                                    [&](const auto& known) { return text.starts_with(known.first); });
    if (place == k_places.end()) {
      plain += text.front();
      text.remove_prefix(1);
      continue;
    }
    flush();
    word += place->second;
    text.remove_prefix(place->first.size());
  }
  flush();
  return word.empty() ? "''" : word;
}

std::string to_script(const Plan& plan) {
  std::string script(data::script_head_sh);
  if (!plan.git_variables.empty()) script += "\n# Mirrors for git.\n";
  for (const auto& [name, value] : plan.git_variables)
    script += fmt::format("export {}={}\n", name, shell_quoted(value));
  std::size_t number = 0;
  for (const Step& step : plan.steps) {
    if (!step.is_skipped()) script += StepScript(plan, step).function(++number);
  }
  script += '\n';
  for (std::size_t i = 1; i <= number; ++i) script += fmt::format("step_{}\n", i);
  return script + "printf 'wheels are in %s\\n' \"$DIST\"\n";
}

}  // namespace wheelsmith::plan
