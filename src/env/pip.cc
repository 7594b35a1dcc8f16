#include "env/pip.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "env/venv.h"
#include "pep/version.h"
#include "sys/files.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_first_with_report = "22.2";
constexpr std::chrono::minutes k_pip_timeout(10);
// Installing pip compiles it and ignores a full disk: truncated byte code would stay for good.
constexpr const char* k_load_bytecode =
    "import glob, marshal, sys\n"
    "for name in glob.glob(sys.argv[1] + '/lib/**/*.pyc', recursive=True):\n"
    "    with open(name, 'rb') as file:\n"
    "        marshal.loads(file.read()[16:])\n";

bool can_report(const std::string& pip_version) {
  const auto version = pep::Version::try_parse(pip_version);
  return version && *version >= pep::Version::parse(k_first_with_report);
}

// In a folder of our own: `python -m` imports from the current folder first.
void run(const std::vector<std::string>& argv, const sys::Environment& environment, const fs::path& folder) {
  const sys::Captured done =
      sys::capture({.argv = argv, .environment = environment, .folder = folder, .timeout = k_pip_timeout});
  if (done.exit.good()) return;
  throw Error(fmt::format("cannot install pip for the resolver: {} failed: {}\n{}{}", sys::shell_quoted(argv),
                          sys::to_string(done.exit), to_valid_utf8(done.output), to_valid_utf8(done.errors)));
}

}  // namespace

sys::Environment pip_environment(const fetch::IndexSettings& index) {
  sys::Environment environment = sys::current_environment();
  std::erase_if(environment, [](const auto& variable) { return variable.first.starts_with("PIP_"); });
  for (const char* name : {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"}) environment.erase(name);
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty()) environment[name] = value;
  };
  set("PIP_CONFIG_FILE", "/dev/null");
  set("PIP_NO_INPUT", "1");
  set("PIP_DISABLE_PIP_VERSION_CHECK", "1");
  set("PIP_NO_COLOR", "1");
  set("PIP_INDEX_URL", index.index_url);
  set("PIP_EXTRA_INDEX_URL", join(index.extra_index_urls, " "));
  set("PIP_FIND_LINKS", join(index.find_links, " "));
  if (index.no_index) set("PIP_NO_INDEX", "1");
  set("PIP_CERT", index.cert);
  set("PIP_CLIENT_CERT", index.client_cert);
  set("PIP_PROXY", index.proxy);
  set("PIP_TRUSTED_HOST", join(index.trusted_hosts, " "));
  set("PIP_TIMEOUT", std::to_string(index.timeout_seconds));
  set("PIP_RETRIES", std::to_string(index.retries));
  environment["PYTHONUTF8"] = "1";
  environment["PYTHONDONTWRITEBYTECODE"] = "1";
  return environment;
}

fs::path python_with_pip(const toolchain::Python& python, const fetch::IndexSettings& index, store::Store& store) {
  if (python.has_pip) {
    if (can_report(python.pip_version)) return python.executable;
    throw Error(
        fmt::format("pip {} of {} is too old for `--report` ({} is required); run: {} -m "
                    "pip install --upgrade pip",
                    python.pip_version, python.executable.string(), k_first_with_report, python.executable.string()));
  }
  if (!python.has_ensurepip) {
    throw Error(
        fmt::format("{} has neither pip nor ensurepip, so its requirements cannot be resolved; install pip for it "
                    "(on Debian: apt-get install python3-pip python3-venv)",
                    python.executable.string()));
  }
  const std::string key = to_hex(sha256(Bytes("pip\n" + python.digest + "\n" + python.executable.string())));
  const fs::path root = store.env(key);
  const fs::path found = root / "bin" / "python";
  store.use_folder(root, store::env_lock(key), [&] {
    sys::remove_tree(root);
    write_venv(python, root, {});
    const sys::Environment environment = pip_environment(index);
    run({found.string(), "-m", "ensurepip", "--default-pip"}, environment, root);
    const sys::Captured version = sys::capture({.argv = {found.string(), "-c", "import pip; print(pip.__version__)"},
                                                .environment = environment,
                                                .folder = root});
    if (!can_report(std::string(trim(version.output)))) {
      run({found.string(), "-m", "pip", "install", "--upgrade", "pip"}, environment, root);
    }
    run({found.string(), "-c", k_load_bytecode, root.string()}, environment, root);
  });
  return found;
}

}  // namespace wheelsmith::env
