// Resolves requirements to a lock: wheels with their hashes.
//
// The resolver is pip itself, asked for a report of what it would install, and only for wheels: resolving runs no
// package code. The result is stored under all its inputs (requirements, interpreter, index, folders) until --upgrade,
// so that the same build tomorrow is the same build. Wheels of local folders are compared by stat: a rebuilt one makes
// the lock stale.

#include <fmt/format.h>

#include <algorithm>

#include "base/attempt.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "env/env.h"
#include "env/pip.h"
#include "env/pip_report.h"
#include "pep/project/project_page.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::minutes k_resolve_timeout(30);
constexpr std::uint64_t k_largest_report = 128 << 20;
constexpr std::size_t k_shown_output = 20'000;

document::Array array_of(const std::vector<std::string>& texts) {
  document::Array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

// In canonical spelling. pip would build a source that a URL names, so it must name a wheel.
std::vector<std::string> checked(const std::vector<std::string>& requirements) {
  std::vector<std::string> result;
  for (const std::string& text : requirements) {
    const pep::Requirement requirement = pep::Requirement::parse(text);
    const std::string_view place = std::string_view(requirement.url).substr(0, requirement.url.find_first_of("?#"));
    if (!requirement.url.empty() && !place.ends_with(".whl")) {
      throw Error(fmt::format("{} refers to a source; environments are made from wheels only", printable(text)));
    }
    // pip expands ${NAME} in requirements files: a foreign package could send a secret to its own server.
    if (requirement.url.find("${") != std::string::npos) {
      throw Error(fmt::format("{}: pip would expand \"${{\" in this URL from the environment", printable(text)));
    }
    result.push_back(requirement.to_string());
  }
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  return result;
}

std::string sha256_of(const fs::path& file) { return to_hex(sha256(sys::map_file(file).bytes)); }

class Resolver {
 public:
  Resolver(std::vector<std::string> requirements, const toolchain::Python& python, fetch::Fetcher& fetcher,
           store::Store& store, const ResolveOptions& options)
      : m_requirements(checked(requirements)),
        m_constraints(checked(options.constraints)),
        m_python(python),
        m_fetcher(fetcher),
        m_store(store),
        m_options(options),
        m_offline(options.offline || fetcher.options().offline),
        m_index(fetcher.options().index) {
    if (!options.index_urls.empty()) {
      m_index.index_url = options.index_urls[0];
      m_index.extra_index_urls.assign(options.index_urls.begin() + 1, options.index_urls.end());
    }
  }

  Lock resolve() {
    if (m_requirements.empty()) return {};
    const std::string name = note_name();
    if (!m_options.upgrade || m_offline) {
      if (auto kept = kept_lock(name)) return *kept;
    }
    if (m_offline) {
      if (m_options.wheelhouses.empty() && !m_index.no_index) {
        throw Error(
            fmt::format("--offline: {} has not been resolved before; run once without --offline, or use a folder of "
                        "wheels (PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER, without --offline)",
                        join(m_requirements, ", ")));
      }
      m_index.no_index = true;
    }
    Lock lock = ask_pip();
    keep(name, lock);
    return lock;
  }

 private:
  [[nodiscard]] std::string note_name() const {
    document::Table table;
    table["requirements"] = array_of(m_requirements);
    table["constraints"] = array_of(m_constraints);
    table["python"] = array_of(
        {m_python.implementation, m_python.version, m_python.tag, m_python.abi, m_python.platform, m_python.glibc});
    document::Array index;
    index.emplace_back(m_index.no_index ? "none" : fetch::without_credentials(m_index.index_url));
    for (const std::string& url : m_index.extra_index_urls) index.emplace_back(fetch::without_credentials(url));
    for (const std::string& place : m_index.find_links) index.emplace_back(fetch::without_credentials(place));
    table["index"] = std::move(index);
    document::Array wheelhouses;
    for (const fs::path& folder : m_options.wheelhouses) wheelhouses.emplace_back(fs::absolute(folder).string());
    table["wheelhouses"] = std::move(wheelhouses);
    table["prereleases"] = m_options.prereleases;
    return document::canonical_json(table);
  }

  // A lock whose local wheels are unchanged.
  [[nodiscard]] std::optional<Lock> kept_lock(const std::string& name) const {
    const std::optional<std::string> text = m_store.note("lock", name);
    if (!text) return std::nullopt;
    const document::Value value = document::try_parse_json(*text).value_or(document::Value());
    std::optional<Lock> lock = if_valid([&] { return Lock::from_value(value); });
    if (!lock) return std::nullopt;  // from another version, or damaged: resolve again
    for (const PinnedWheel& wheel : lock->wheels) {
      const auto file = pep::path_of_file_url(wheel.url);
      if (file && !m_store.has_sha256(*file, wheel.sha256)) return std::nullopt;
    }
    return lock;
  }

  void keep(const std::string& name, const Lock& lock) {
    m_store.put_note("lock", name, document::to_json(lock.to_value()));
  }

  [[nodiscard]] std::vector<std::string> arguments(const fs::path& python, const fs::path& folder) const {
    std::vector<std::string> argv{python.string(),
                                  "-m",
                                  "pip",
                                  "install",
                                  "--dry-run",
                                  "--progress-bar=off",
                                  "--ignore-installed",
                                  "--only-binary",
                                  ":all:",
                                  "--report",
                                  (folder / "report.json").string(),
                                  "-r",
                                  (folder / "requirements.txt").string()};
    if (!m_constraints.empty()) argv.insert(argv.end(), {"-c", (folder / "constraints.txt").string()});
    if (m_options.prereleases) argv.emplace_back("--pre");
    for (const fs::path& wheelhouse : m_options.wheelhouses) {
      argv.insert(argv.end(), {"--find-links", fs::absolute(wheelhouse).string()});
    }
    return argv;
  }

  Lock ask_pip() {
    const sys::TempDir temporary(m_store.temporary());
    const fs::path& folder = temporary.path();
    const fs::path python = python_with_pip(m_python, m_index, m_store);
    sys::write_file(folder / "requirements.txt", join(m_requirements, "\n") + "\n");
    sys::write_file(folder / "constraints.txt", join(m_constraints, "\n") + "\n");
    sys::Command command{.argv = arguments(python, folder), .environment = pip_environment(m_index)};
    command.folder = folder;
    command.timeout = k_resolve_timeout;
    std::string output;
    sys::Process process(command);
    const sys::Exit exit =
        process.wait([&](std::string_view text) { output += text.substr(0, 1 << 20); }, m_options.stop);
    if (exit.stopped) throw Error("resolving was interrupted");
    if (!exit.good()) refuse(output, exit);
    Lock lock;
    lock.requirements = m_requirements;
    lock.wheels = parse_pip_report(sys::read_file(folder / "report.json", k_largest_report));
    for (PinnedWheel& wheel : lock.wheels) add_hash(wheel);
    return lock;
  }

  // An index without hashes and a plain folder do not provide them.
  void add_hash(PinnedWheel& wheel) {
    if (!wheel.sha256.empty()) return;
    if (const auto file = pep::path_of_file_url(wheel.url)) {
      wheel.sha256 = sha256_of(*file);
    } else {
      wheel.sha256 = sha256_of(m_fetcher.download(wheel.url, wheel.file_name, ""));
    }
  }

  [[noreturn]] void refuse(const std::string& output, const sys::Exit& exit) {
    const PipFailure failure = read_pip_failure(output);
    std::string reason = failure.reason;
    if (exit.timed_out) reason = "pip found no solution within 30 minutes";
    if (failure.kind == PipFailure::Kind::no_match) {
      if (const std::string source = only_source(failure.requirement); !source.empty()) reason = source;
    }
    const std::string text = to_valid_utf8(std::string_view(output).substr(0, k_shown_output));
    throw Error(fmt::format("cannot resolve {} for Python {}: {}\npip said:\n{}", join(m_requirements, ", "),
                            m_python.short_version(), reason, text));
  }

  // The message when the index has only sources of the project.
  std::string only_source(const std::string& requirement) {
    if (m_offline || m_index.no_index || !m_options.index_urls.empty()) return {};
    try {
      const std::string name = pep::Requirement::parse(requirement).name;
      const pep::ProjectPage& page = m_fetcher.project(name);
      const bool wheels = std::ranges::any_of(page.files, &pep::ProjectFile::is_wheel);
      const bool sources = std::ranges::any_of(page.files, &pep::ProjectFile::is_sdist);
      if (wheels || !sources) return {};
      return fmt::format(
          "{} is published only as source, without wheels; build it first (wheelsmith build {}) and "
          "pass its folder as a wheelhouse",
          name, name);
    } catch (const Error&) {  // best effort: report pip's own reason
      return {};
    }
  }

  std::vector<std::string> m_requirements, m_constraints;
  const toolchain::Python& m_python;
  fetch::Fetcher& m_fetcher;
  store::Store& m_store;
  const ResolveOptions& m_options;
  bool m_offline;
  fetch::IndexSettings m_index;
};

}  // namespace

Lock resolve(std::vector<std::string> requirements, const toolchain::Python& python, fetch::Fetcher& fetcher,
             store::Store& store, const ResolveOptions& options) {
  return Resolver(std::move(requirements), python, fetcher, store, options).resolve();
}

}  // namespace wheelsmith::env
