// A torch wheel is 500 MB that become 1.7 GB in 12,000 files, and creating an environment must take seconds. The costs:
// inflating (so all members are distributed over the cores, largest first), memory to inflate into (a BufferPool reuses
// pages instead of requesting new ones for each member), and system calls (folders are created once; a file is opened,
// written and closed). Digests are not computed: the wheel's RECORD has them, every byte is checked against the
// archive's CRC, and the whole wheel was checked against its SHA-256.

#include "env/installer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/buffer_pool.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "document/value.h"
#include "env/entry_points.h"
#include "pep/project/project_page.h"
#include "pep/record.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/new_file.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_small_change = 64 << 20;
constexpr std::uint64_t k_largest_script = 64 << 20;

// With '/' sorted before all other characters, a folder's files directly follow a file of the same name.
bool in_folder_order(std::string_view a, std::string_view b) {
  const auto [x, y] = std::ranges::mismatch(a, b);
  if (x == a.end() || y == b.end()) return x == a.end() && y != b.end();
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); };
  return rank(*x) < rank(*y);
}

void refuse_meetings(std::vector<std::string_view> places) {
  std::ranges::sort(places, in_folder_order);
  for (std::size_t i = 1; i < places.size(); ++i) {
    const std::string_view before = places[i - 1], now = places[i];
    if (before == now) throw Error(fmt::format("two of its files have the path \"{}\"", printable(now)));
    if (now.size() > before.size() && now[before.size()] == '/' && now.starts_with(before)) {
      throw Error(fmt::format("\"{}\" is both a file and a folder", printable(before)));
    }
  }
}

}  // namespace

fs::path Installer::folder_of(const Wheel& wheel, Scheme scheme) const {
  switch (scheme) {
    case Scheme::purelib: return m_target.purelib;
    case Scheme::platlib: return m_target.platlib;
    case Scheme::scripts: return m_target.scripts;
    case Scheme::headers: return m_target.headers / wheel.layout.name;
    case Scheme::data: return m_target.data;
  }
  throw Error("unknown scheme");
}

void Installer::add(const fs::path& path, const std::string& direct_url) {
  try {
    Blob file = sys::map_file(path);
    zip::Archive archive = zip::Archive::open(file.bytes);
    m_wheels.push_back(std::make_unique<Wheel>(Wheel{path, std::move(file), std::move(archive), {}, {}}));
    Wheel& wheel = *m_wheels.back();
    wheel.layout = lay_out(wheel.archive, path.filename().string());
    wheel.root = folder_of(wheel, wheel.layout.root);
    place(wheel, direct_url);
  } catch (const Error& error) {
    throw error.in(printable(path.filename().string()));
  }
}

void Installer::place(const Wheel& wheel, const std::string& direct_url) {
  const std::size_t first = m_outputs.size();
  std::string folders[5];
  for (const Scheme scheme : {Scheme::purelib, Scheme::platlib, Scheme::scripts, Scheme::headers, Scheme::data}) {
    folders[static_cast<std::size_t>(scheme)] = folder_of(wheel, scheme).string() + "/";
  }
  for (const LaidOutFile& file : wheel.layout.files) {
    Output output{folders[static_cast<std::size_t>(file.scheme)] + file.path, &wheel, &file, {}, file.executable};
    if (file.scheme == Scheme::scripts && file.entry->size <= k_largest_script &&
        wheel.archive.peek(*file.entry, 8) == "#!python") {
      output.member = nullptr;
      output.text = rewritten_script(wheel.archive.read(*file.entry).bytes.text(), m_target.python);
    }
    m_outputs.push_back(std::move(output));
  }
  for (const EntryPoint& point : parse_entry_points(wheel.layout.entry_points)) {
    const std::string destination = folders[static_cast<std::size_t>(Scheme::scripts)] + point.name;
    if (fs::is_symlink(destination)) {
      throw Error(fmt::format("its entry point {} would replace a link of the environment", point.name));
    }
    m_outputs.push_back({destination, &wheel, nullptr, entry_point_script(point, m_target.python), true});
  }
  const std::string dist_info = wheel.root.string() + "/" + wheel.layout.dist_info + "/";
  m_outputs.push_back({dist_info + "INSTALLER", &wheel, nullptr, "wheelsmith\n", false});
  if (!direct_url.empty()) m_outputs.push_back({dist_info + "direct_url.json", &wheel, nullptr, direct_url, false});
  std::vector<std::string_view> places;
  std::vector<const Output*> outputs;
  for (std::size_t i = first; i < m_outputs.size(); ++i) {
    places.push_back(m_outputs[i].destination);
    outputs.push_back(&m_outputs[i]);
  }
  refuse_meetings(std::move(places));
  std::string record = record_of(wheel, outputs);
  m_outputs.push_back({dist_info + "RECORD", &wheel, nullptr, std::move(record), false});
}

std::string Installer::record_of(const Wheel& wheel, std::vector<const Output*> outputs) const {
  const pep::Record given = pep::Record::parse(Bytes(wheel.layout.record));
  std::unordered_map<std::string_view, const pep::RecordLine*> lines;
  for (const pep::RecordLine& line : given.lines) lines.emplace(line.path, &line);
  const std::string root = wheel.root.string() + "/";
  const auto name_of = [&](const std::string& destination) {
    if (destination.starts_with(root)) return destination.substr(root.size());
    return fs::path(destination).lexically_relative(wheel.root).string();
  };
  std::vector<pep::RecordLine> rows;
  for (const Output* output : outputs) {
    const std::string path = name_of(output->destination);
    const auto known = output->member == nullptr ? lines.end() : lines.find(output->member->entry->name);
    if (known != lines.end() && !known->second->hash.empty()) {
      rows.push_back({path, known->second->algorithm, known->second->hash, output->member->entry->size, 0});
    } else {
      const Blob blob =
          output->member == nullptr ? Blob{nullptr, Bytes(output->text)} : wheel.archive.read(*output->member->entry);
      rows.push_back(pep::record_line(path, sha256(blob.bytes), blob.bytes.size()));
    }
  }
  std::ranges::sort(rows, {}, &pep::RecordLine::path);
  return pep::record_text(rows, wheel.layout.dist_info);
}

std::vector<std::string> Installer::projects() const {
  std::vector<std::string> names;
  for (const auto& wheel : m_wheels) names.push_back(wheel->layout.name);
  return names;
}

void Installer::make_folders() const {
  std::set<std::string_view> folders;
  std::string_view last;
  for (const Output& output : m_outputs) {
    const std::string_view folder = std::string_view(output.destination).substr(0, output.destination.rfind('/'));
    if (folder != last) folders.insert(folder);
    last = folder;
  }
  for (const std::string_view folder : folders) sys::make_folders(folder);
}

void Installer::write_member(const Output& output, const zip::Archive::Allocate& allocate) const {
  try {
    const Blob blob = output.member == nullptr ? Blob{nullptr, Bytes(output.text)}
                                               : output.wheel->archive.read(*output.member->entry, allocate);
    // Existing files are never overwritten in place: they may have other hard links.
    sys::NewFile file = sys::NewFile::replacing(output.destination, output.executable ? 0777 : 0666);
    file.write(blob.bytes);
    file.close();
  } catch (const Error& error) {
    const std::string member = output.member == nullptr ? "" : ": " + printable(output.member->entry->name);
    throw error.in(printable(output.wheel->path.filename().string()) + member);
  }
}

void Installer::write(unsigned threads) {
  // For two wheels' files with one path the later wins.
  std::unordered_map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < m_outputs.size(); ++i) last[m_outputs[i].destination] = i;
  std::vector<const Output*> order;
  for (std::size_t i = 0; i < m_outputs.size(); ++i) {
    if (last[m_outputs[i].destination] == i) order.push_back(&m_outputs[i]);
  }
  const auto size = [](const Output* output) {
    return output->member == nullptr ? output->text.size() : output->member->entry->size;
  };
  std::ranges::stable_sort(order, std::ranges::greater{}, size);
  make_folders();
  const std::uint64_t largest = order.empty() ? 0 : size(order[0]), second = order.size() < 2 ? 0 : size(order[1]);
  BufferPool pool(largest + second + k_small_change);
  const auto allocate = [&pool](std::uint64_t bytes) { return pool.take(bytes); };
  parallel_for(order.size(), threads, [&](std::size_t i) { write_member(*order[i], allocate); });
}

InstallTarget install_target(const toolchain::Python& python) {
  std::error_code ignored;
  if (python.prefix == python.base_prefix && fs::exists(python.stdlib / "EXTERNALLY-MANAGED", ignored)) {
    throw Error(
        fmt::format("{} is externally managed; create an environment instead: "
                    "{} -m venv ENV",
                    python.executable.string(), python.executable.string()));
  }
  // Where the interpreter's purelib is not below its prefix (Debian's /usr/local), scripts follow the purelib.
  const fs::path data = python.purelib.parent_path().parent_path().parent_path();
  const std::string name = python.stdlib.filename().string();
  return {python.executable, python.purelib, python.platlib, data / "bin", data, data / "include" / "site" / name};
}

InstallTarget install_target(const Environment& environment) {
  const fs::path name = environment.site_packages.parent_path().filename();
  return {environment.python,       environment.site_packages, environment.site_packages,
          environment.root / "bin", environment.root,          environment.root / "include" / "site" / name};
}

void install_wheel(const fs::path& wheel, const InstallTarget& target, bool replace, unsigned threads) {
  Installer installer(target);
  installer.add(wheel);
  for (const std::string& project : installer.projects()) {
    if (replace) {
      uninstall(project, target);
      unlink_develop(project, target);
    } else if (const auto installed = installed_as(project, target)) {
      throw Error(fmt::format("{} is already installed as {}", project, installed->string()));
    }
  }
  installer.write(threads);
}

void install_editable(const fs::path& wheel, const fs::path& folder, const InstallTarget& target, unsigned threads) {
  document::Table dir_info, direct_url;
  dir_info["editable"] = true;
  direct_url["url"] = pep::file_url(folder.string());
  direct_url["dir_info"] = std::move(dir_info);
  Installer installer(target);
  installer.add(wheel, document::to_json(direct_url) + "\n");
  for (const std::string& project : installer.projects()) {
    uninstall(project, target);
    unlink_develop(project, target);
  }
  installer.write(threads);
}

}  // namespace wheelsmith::env
