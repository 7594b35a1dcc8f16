// A plan as a plain bash script: for the day when the program is not there, must not be used, or is not believed.
//
// The script does what a step's process does, with the same words: the source by its hash, the same patches, an
// environment with the same wheels by their hashes, the same variables and no others, the same call of the backend.
// Paths of ours differ (a work folder instead of the store), and are kept out of the binaries by the prefix maps that
// stand in the variables; so the wheel's members are equal, byte for byte, but for what only we put into dist-info.
//
// Everything in a plan may be hostile (a recipe of somebody else, a folder's name), so each value is a quoted word;
// comments hold none. A URL's password is not printed: the script then asks for the file.

#include "plan/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "store/store.h"
#include "sys/process.h"

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

// `command <<'MARK'` with the text; a text without a last line end gets one.
std::string with_input(const std::string& command, std::string_view text) {
  const std::string mark = unused_mark(text);
  std::string result = fmt::format("{} <<'{}'\n{}", command, mark, text);
  if (!result.ends_with('\n')) result += '\n';
  return result + mark + "\n";
}

std::string or_else(const std::string& variable, const std::string& value) {
  return fmt::format("${{{}:-{}}}", variable, shell_quoted(value));
}

class StepScript {
 public:
  StepScript(const Plan& plan, const Step& step)
      : m_plan(plan),
        m_step(step),
        m_recipe(recipe::parse_recipe(step.recipe_text, step.recipe_origin)),
        m_rules(m_recipe.rules(step.variant, step.target)) {}

  std::string function(std::size_t number) {
    m_text = fmt::format("\nstep_{}() {{\n", number);
    line("printf '== %s\\n' " + shell_quoted(m_step.id));
    if (m_step.source.kind == source::Pin::Kind::program) {
      line("printf '%s\\n' 'wheelsmith packs itself; there is nothing to do by hand'");
      return m_text + "}\n";
    }
    start();
    get_source();
    make_environment();
    link_tools();
    set_variables();
    prepare();
    build();
    return m_text + "}\n";
  }

 private:
  void line(const std::string& text) { m_text += "  " + text + "\n"; }
  // Here-documents cannot be indented.
  void block(const std::string& text) { m_text += text; }

  void start() {
    const std::string slug = store::slug(m_step.identity);
    line("local archive variables more compiler");
    line("local python=" + or_else(script_variable("PYTHON", m_step.python.abi), m_step.python.executable.string()));
    line(fmt::format("local tree=$WORK/trees/{0} env=$WORK/envs/{0} toolkit= source outer_pip=", shell_quoted(slug)));
    if (!m_step.python.has_ensurepip && m_step.python.has_pip) line("outer_pip=yes");
    line("source=$tree/source");
    line("rm -rf \"$tree\" \"$env\"");
    line("mkdir -p \"$tree\"/{home,tmp,bin,dist,driver}");
    // First of all, since nothing is worth its time without it.
    if (m_step.variant == recipe::Variant::rocm) link_rocm();
  }

  void get_source() {
    const source::Pin& pin = m_step.source;
    switch (pin.kind) {
      case source::Pin::Kind::archive: get_archive(); break;
      case source::Pin::Kind::folder: get_folder(); break;
      case source::Pin::Kind::git: {
        clone(pin, "$source");
        break;
      }
      case source::Pin::Kind::program: break;
    }
    apply(false);
    for (const FetchedSource& fetched : m_step.fetches) clone(fetched.pin, "$tree/fetched/" + fetched.name);
    if (!m_recipe.source.subfolder.empty()) line("source+=/" + shell_quoted(m_recipe.source.subfolder));
    if (!m_rules.clean.empty()) line("clean \"$source\" " + shell_quoted(m_rules.clean));
  }

  void clone(const source::Pin& pin, const std::string& folder) {
    line(fmt::format("clone {} {} \"{}\"{}", shell_quoted(fetch::without_credentials(pin.git_url)),
                     shell_quoted(pin.git_commit), folder,
                     !pin.submodules           ? ""
                     : pin.submodules->empty() ? " -"
                                               : " " + shell_quoted(*pin.submodules)));
    if (!pin.git_tag.empty()) line(fmt::format("git -C \"{}\" tag -- {}", folder, shell_quoted(pin.git_tag)));
  }

  void apply(bool late) {
    for (const source::Patch& patch : m_step.patches) {
      if (patch.late != late) continue;
      block(with_input(fmt::format("  patch -p1 --fuzz=0 --no-backup-if-mismatch --silent -d \"$tree/source\"{}",
                                   patch.folder.empty() ? "" : "/" + shell_quoted(patch.folder)),
                       patch.text));
    }
  }

  // What is written into the source and run there before the backend is called.
  void prepare() {
    for (const auto& [name, text] : m_step.files) {
      line(fmt::format("mkdir -p \"$(dirname \"$source\"/{0})\"", shell_quoted(name)));
      line(fmt::format("printf %s {} >\"$source\"/{}", script_word(text), shell_quoted(name)));
    }
    bool hipify = !m_rules.checkout.hipify.empty();
    for (const std::vector<std::string>& command : m_step.prepare) {
      std::string words;
      for (const std::string& word : command) words += " " + script_word(word);
      line("in_step" + words);
      if (std::exchange(hipify, false)) apply(true);
    }
  }

  void get_archive() {
    const source::Pin& pin = m_step.source;
    const std::string shown = fetch::without_credentials(pin.url);
    const std::string url = shown == pin.url ? pin.url : "";
    constexpr std::string_view k_prefix = "sha256:";
    const std::string hash =
        !pin.sha256.empty() || !pin.digest.starts_with(k_prefix) ? pin.sha256 : pin.digest.substr(k_prefix.size());
    line(fmt::format("fetch {} {} {}", shell_quoted(url), shell_quoted(pin.file_name), shell_quoted(hash)));
    line("unpack \"$archive\" \"$source\"");
  }

  // The manifest names the files of a folder, unless there are very many.
  void get_folder() {
    std::string names;
    bool plain = true;
    for (const auto& [name, digest] : m_step.manifest.inputs()) {
      if (!name.starts_with(k_file_input)) continue;
      const std::string file = name.substr(k_file_input.size());
      plain = plain && file.find('\n') == file.npos;
      names += file + "\n";
    }
    const std::string folder = or_else(script_variable("SOURCE", m_step.package), m_step.source.folder.string());
    line("local folder=" + folder);
    line("mkdir -p \"$source\"");
    if (names.empty() || !plain)
      line("copy_folder \"$folder\" \"$source\"");
    else
      block(with_input("  copy_files \"$folder\" \"$source\"", names));
  }

  [[nodiscard]] std::vector<std::string> pip_options() const {
    std::vector<std::string> options;
    bool first = true;
    for (const std::string& url : m_step.torch.index_urls) {
      options.push_back(first ? "--index-url" : "--extra-index-url");
      options.push_back(fetch::without_credentials(url));
      first = false;
    }
    for (const auto& folder : m_step.torch.wheelhouses) {
      options.push_back("--find-links");
      options.push_back(folder.string());
    }
    if (m_step.torch.prereleases) options.push_back("--pre");
    return options;
  }

  void make_environment() {
    line("make_environment");
    std::string options = shell_quoted(pip_options());
    if (!options.empty()) options = " " + options;
    if (m_step.needs.size() == m_step.companions.size()) {
      std::string requirements;
      for (const env::PinnedWheel& wheel : m_step.lock.wheels)
        requirements += fmt::format("{}=={} --hash=sha256:{}\n", wheel.name, wheel.version, wheel.sha256);
      if (!requirements.empty())
        block(with_input("  install --no-deps --require-hashes" + options + " -r /dev/stdin", requirements));
    } else {
      // What it needs is made by this script, so its hashes are not known yet.
      std::vector<std::string> wanted = m_step.requirements;
      for (const std::string& id : m_step.needs) {
        const auto& beside = m_step.companions;
        if (std::find(beside.begin(), beside.end(), id) != beside.end()) continue;
        const Step* need = m_plan.find(id);
        if (need != nullptr && need->skipped.empty()) wanted.push_back(need->project + "==" + need->version);
      }
      options += " --pre --find-links \"$DIST\"";
      line("install" + options + " -- " + shell_quoted(wanted));
    }
    if (m_step.torch.kind == TorchChoice::Kind::environment)
      line("append_sites " + shell_quoted(m_step.torch.python.string()));
    if (!m_step.cuda_root.empty()) line("toolkit=" + or_else("BUILD_CUDA", m_step.cuda_root));
    if (!m_step.registry_cuda.empty())
      line("toolkit=$tree.toolkit; rm -rf \"$toolkit\"; make_toolkit" +
           (m_step.torch.kind == TorchChoice::Kind::environment ? " " + shell_quoted(m_step.torch.python.string())
                                                                : ""));
    m_pip_options = options;
  }

  // What the plan found; or, where it found none, what the user names when the script runs.
  void link_rocm() {
    if (!m_step.rocm_lock.wheels.empty()) {
      std::string requirements;
      for (const env::PinnedWheel& wheel : m_step.rocm_lock.wheels)
        requirements += fmt::format("{}=={} --hash=sha256:{}\n", wheel.name, wheel.version, wheel.sha256);
      block(with_input("  make_rocm --index-url " + shell_quoted(m_step.rocm_index), requirements));
    } else if (m_step.rocm_root.empty()) {
      line("link_rocm \"${BUILD_ROCM:-}\"");
    } else {
      line("link_rocm " + or_else("BUILD_ROCM", m_step.rocm_root));
    }
  }

  void link_tools() {
    const bool clang = m_step.compiler_family == "clang";
    const auto compiler = [&](const char* variable, const std::string& path, const char* plain, const char* own) {
      if (path.empty()) return;
      line(fmt::format("compiler={}", or_else(variable, path)));
      for (const char* name : {plain, own}) line(fmt::format("ln -sfn \"$compiler\" \"$tree/bin/{}\"", name));
    };
    compiler("BUILD_CC", m_step.cc, "cc", clang ? "clang" : "gcc");
    compiler("BUILD_CXX", m_step.cxx, "c++", clang ? "clang++" : "g++");
    for (const auto& [name, path] : m_step.programs) line("link_program " + shell_quoted({name, path}));
  }

  void set_variables() {
    std::map<std::string, std::string> variables;
    for (const auto& [name, value] : m_step.environment) variables[name] = value;
    for (const auto& [name, value] : m_step.volatile_environment) variables[name] = value;
    for (const auto& [name, value] : m_plan.git_variables) variables[name] = value;
    line("variables=(");
    for (const auto& [name, value] : variables) line("  " + script_word(name + "=" + value));
    line(")");
    if (m_step.network) {
      line(
          "for more in {http,https,all,no}_proxy {HTTP,HTTPS,NO}_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE; "
          "do");
      line("  [[ ! -v $more ]] || variables+=(\"$more=${!more}\")");
      line("done");
    } else {
      line("# Nothing is fetched while it compiles: this proxy answers nobody.");
      line(
          "for more in {http,https,all}_proxy {HTTP,HTTPS,ALL}_PROXY; do variables+=(\"$more=http://127.0.0.1:9\"); "
          "done");
    }
  }

  void build() {
    std::string options;
    for (const std::string& option : m_step.options) options += " " + script_word(option);
    const bool keeps_pip = m_step.lock.find("pip") != nullptr;
    if (m_rules.backend == recipe::Rules::Backend::setup_py) {
      if (!keeps_pip) line("remove_pip");
      line("in_step \"$env/bin/python\" setup.py bdist_wheel --dist-dir \"$tree/dist\"" + options);
    } else {
      std::string config;
      for (const auto& [name, value] : m_step.config) config += " " + shell_quoted(name) + " " + script_word(value);
      for (const std::string& option : m_step.options) config += " --build-option " + script_word(option);
      std::vector<std::string> dropped;
      for (const std::string& name : m_rules.drop_requires) dropped.push_back(pep::normalized_name(name));
      for (const auto& [name, why] : m_rules.not_from_pip) dropped.push_back(pep::normalized_name(name));
      line(dropped.empty() ? ": >\"$tree/driver/dropped\""
                           : "printf '%s\\n' " + shell_quoted(dropped) + " >\"$tree/driver/dropped\"");
      line("read_backend");
      line("hook get_requires_for_build_wheel \"$tree/driver/more\"" + config);
      line("[[ ! -s $tree/driver/more ]] || install" + m_pip_options + " -r \"$tree/driver/more\"");
      if (!keeps_pip) line("remove_pip");
      line("hook build_wheel \"$tree/dist\"" + config);
    }
    line("cp -- \"$tree\"/dist/*.whl \"$DIST/\"");
  }

  const Plan& m_plan;
  const Step& m_step;
  recipe::Recipe m_recipe;
  const recipe::Rules& m_rules;
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

std::string to_script(const Plan& plan, const store::Store&) {
  std::string script(data::script_head_sh);
  if (!plan.git_variables.empty()) script += "\n# The mirrors.\n";
  for (const auto& [name, value] : plan.git_variables)
    script += fmt::format("export {}={}\n", name, shell_quoted(value));
  std::size_t number = 0;
  for (const Step& step : plan.steps) {
    if (step.skipped.empty()) script += StepScript(plan, step).function(++number);
  }
  script += '\n';
  for (std::size_t i = 1; i <= number; ++i) script += fmt::format("step_{}\n", i);
  return script + "printf 'wheels are in %s\\n' \"$DIST\"\n";
}

}  // namespace wheelsmith::plan
