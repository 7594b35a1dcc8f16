#include "index/arrange.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::index {

namespace {

namespace fs = std::filesystem;

// Copies keep their modification time, so that later runs recognise them.
bool is_same_file(const fs::path& from, const fs::path& to) {
  std::error_code absent;
  if (!fs::exists(to, absent)) return false;
  if (fs::equivalent(from, to, absent)) return true;
  return fs::file_size(from) == fs::file_size(to) && fs::last_write_time(from) == fs::last_write_time(to);
}

class Arranger {
 public:
  Arranger(const PublishOptions& options, const ArrangeOptions& layout)
      : m_options(options), m_layout(layout), m_folder(fs::canonical(options.folder)) {
    sys::make_folders(options.out);
    const fs::path out = fs::canonical(options.out);
    if (sys::is_within(out, m_folder.path()) || sys::is_within(m_folder.path(), out))
      throw Error(fmt::format("--layout copies files from {} to {}: neither folder may contain the other",
                              printable(m_folder.path().string()), printable(out.string())));
    m_root = out;
    if (layout.layout == Layout::upload) m_root = out / "v5/rocm" / layout.product / layout.index_name;
    sys::make_folders(m_root);
  }

  Published take() {
    State before;
    if (const auto text = m_folder.read_file(k_state_file, 4ull << 30)) before = State::parse(*text);
    Catalogue catalogue = look(m_folder, std::move(before.files), m_options.look);
    if (catalogue.interrupted) throw Error("interrupted");
    std::uint64_t placed = 0;
    for (const File& file : catalogue.files) {
      if (sys::interrupted()) throw Error("interrupted");
      const std::string place = m_layout.layout == Layout::flat ? file.name : file.parts.project + "/" + file.name;
      const auto [taken, is_new] = m_taken.emplace(place, &file);
      if (!is_new) {
        tell_same_name(file, *taken->second, catalogue.findings);
        continue;
      }
      if (put(file.path(), place)) ++placed;
      if (file.has_provenance) (void)put(file.path() + ".provenance", place + ".provenance");
      for (const std::string& ending : file.beside) (void)put(file.path() + ending, place + ending);
    }
    // Its entries apply to the same names there.
    if (m_folder.glance(k_control_file)) (void)put(std::string(k_control_file), std::string(k_control_file));
    PublishOptions there = m_options;
    there.folder = m_root;
    there.out.clear();
    there.look.filter.clear();
    Published result = publish(there);
    result.placed = placed;
    result.findings.insert(result.findings.begin(), catalogue.findings.begin(), catalogue.findings.end());
    return result;
  }

 private:
  static void tell_same_name(const File& file, const File& first, std::vector<Finding>& findings) {
    if (file.facts.sha256 == first.facts.sha256) return;
    findings.push_back({.id = "index-same-name",
                        .severity = Severity::error,
                        .subject = printable(file.path()),
                        .what = fmt::format("{} has the same name but different contents", printable(first.path())),
                        .why = "both map to the same path in the layout; the first by path is used",
                        .fix = "remove one of them, or give it another build number"});
  }

  // Returns whether anything changed. A link or copy appears atomically.
  bool put(const std::string& from_path, const std::string& to_path) {
    const fs::path from = fs::canonical(m_folder.path() / from_path), to = m_root / to_path;
    if (is_same_file(from, to)) return false;
    sys::make_folders(to.parent_path());
    const fs::path beside = to.parent_path() / fmt::format(".{}.{}.new", to.filename().string(), ::getpid());
    std::error_code failed;
    fs::remove(beside, failed);
    fs::create_hard_link(from, beside, failed);
    if (failed) {  // another file system, or one without links
      sys::copy_file(from, beside);
      fs::last_write_time(beside, fs::last_write_time(from));
    }
    fs::rename(beside, to, failed);
    if (failed) throw Error(fmt::format("{}: {}", printable(to.string()), failed.message()));
    return true;
  }

  const PublishOptions& m_options;
  const ArrangeOptions& m_layout;
  sys::OpenFolder m_folder;
  fs::path m_root;
  std::map<std::string, const File*> m_taken;
};

}  // namespace

Published arrange(const PublishOptions& options, const ArrangeOptions& layout) {
  return Arranger(options, layout).take();
}

}  // namespace wheelsmith::index
