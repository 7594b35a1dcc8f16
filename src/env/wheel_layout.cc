// A wheel's members go to five places:
//
//   demo/__init__.py                        purelib or platlib, as Root-Is-Purelib in WHEEL says
//   demo-1.0.dist-info/METADATA             there too
//   demo-1.0.data/{purelib,platlib}/x.py    the one it names
//   demo-1.0.data/scripts/tool              bin, executable
//   demo-1.0.data/headers/demo.h            include/…/demo
//   demo-1.0.data/data/share/x              the environment's root
//
// Names in an archive are untrusted. A name that would leave the folder aborts the installation before it begins; so
// does a link, since the next member could go through it.

#include "env/wheel_layout.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "pep/metadata/metadata.h"
#include "pep/record.h"
#include "pep/wheel_name.h"

namespace wheelsmith::env {

namespace {

constexpr std::size_t k_longest_name = 255, k_longest_path = 2048;
constexpr std::size_t k_most_members = 300'000;
constexpr std::uint64_t k_largest_text = 64 << 20;

std::string quoted_text(std::string_view name) { return "\"" + printable(name.substr(0, 300)) + "\""; }

void refuse_bad_name(const zip::Entry& entry) {
  const std::string_view name = entry.name;
  const auto refuse = [&](std::string_view why) { throw Error(fmt::format("its file {} {}", quoted_text(name), why)); };
  if (entry.is_symlink()) refuse("is a link; wheels contain files only");
  if (name.empty() || name.size() > k_longest_path) refuse("has an invalid name");
  if (name[0] == '/') refuse("has an absolute name and would leave the environment");
  if (name.find('\\') != std::string_view::npos || name.find('\0') != std::string_view::npos || !is_valid_utf8(name)) {
    refuse("has a name that is not valid on this system");
  }
  const std::string_view path = entry.is_folder() ? name.substr(0, name.size() - 1) : name;
  for (const std::string_view part : split(path, '/')) {
    if (part == "..") refuse("would leave the environment");
    if (part.empty() || part == "." || part.size() > k_longest_name) refuse("has an invalid name");
  }
}

std::optional<Scheme> scheme_of(std::string_view word) {
  if (word == "purelib") return Scheme::purelib;
  if (word == "platlib") return Scheme::platlib;
  if (word == "scripts") return Scheme::scripts;
  if (word == "headers") return Scheme::headers;
  if (word == "data") return Scheme::data;
  return std::nullopt;
}

// The single .dist-info folder, which must match the wheel's name.
std::string find_dist_info(const zip::Archive& archive, const pep::WheelName& name) {
  std::string found;
  for (const zip::Entry& entry : archive.entries()) {
    const std::string_view top = std::string_view(entry.name).substr(0, entry.name.find('/'));
    if (!top.ends_with(".dist-info") || top.size() == entry.name.size() || top == found) continue;
    if (!found.empty())
      throw Error(fmt::format("it has two .dist-info folders: {} and {}", quoted_text(found), quoted_text(top)));
    found = top;
  }
  if (found.empty()) throw Error("it has no .dist-info folder");
  const std::string_view stem = std::string_view(found).substr(0, found.size() - 10);
  const std::size_t dash = stem.rfind('-');
  const std::string project(stem.substr(0, dash == std::string_view::npos ? stem.size() : dash));
  if (pep::normalized_name(project) != pep::normalized_name(name.name)) {
    throw Error(fmt::format("its file name says {}, but its .dist-info folder is {}", name.name, quoted_text(found)));
  }
  return found;
}

std::string text_of(const zip::Archive& archive, const std::string& name, bool needed) {
  const zip::Entry* entry = archive.find(name);
  if (entry == nullptr) {
    if (needed) throw Error(fmt::format("it has no {}", quoted_text(name)));
    return {};
  }
  if (entry->size > k_largest_text) throw Error(fmt::format("its {} has {} bytes", quoted_text(name), entry->size));
  try {
    return std::string(archive.read(*entry).bytes.text());
  } catch (const Error& error) {
    throw error.in(printable(name));
  }
}

Scheme read_root(const std::string& wheel_file) {
  const pep::Headers headers = pep::Headers::parse(Bytes(wheel_file));
  const std::string version = headers.get("Wheel-Version");
  if (version.substr(0, version.find('.')) != "1") {
    throw Error(fmt::format("its Wheel-Version is {}; only version 1 is supported", quoted_text(version)));
  }
  return to_lower(trim(headers.get("Root-Is-Purelib"))) == "true" ? Scheme::purelib : Scheme::platlib;
}

bool is_ours_to_write(std::string_view path, const std::string& dist_info) {
  if (pep::is_record_or_signature(path, dist_info)) return true;
  if (!path.starts_with(dist_info + "/")) return false;
  const std::string_view name = path.substr(dist_info.size() + 1);
  return name == "INSTALLER" || name == "REQUESTED" || name == "direct_url.json";
}

class Placer {
 public:
  Placer(const zip::Archive& archive, WheelLayout& layout) : m_archive(archive), m_layout(layout) {
    m_data = layout.dist_info.substr(0, layout.dist_info.size() - 10) + ".data/";
  }

  void place_all() {
    for (const zip::Entry& entry : m_archive.entries()) {
      refuse_bad_name(entry);
      if (!entry.is_folder() && !is_ours_to_write(entry.name, m_layout.dist_info)) place(entry);
    }
  }

 private:
  void place(const zip::Entry& entry) {
    LaidOutFile file{&entry, m_layout.root, entry.name, (entry.unix_mode() & 0111) != 0};
    if (entry.name.starts_with(m_data)) {
      const std::string_view rest = std::string_view(entry.name).substr(m_data.size());
      const std::size_t slash = rest.find('/');
      const std::optional<Scheme> scheme = scheme_of(rest.substr(0, slash));
      if (!scheme || slash == std::string_view::npos) {
        throw Error(fmt::format("its file {} is in an unknown .data folder", quoted_text(entry.name)));
      }
      file.scheme = *scheme;
      file.path = rest.substr(slash + 1);
      if (*scheme == Scheme::scripts) refuse_script(file);
      if (*scheme == Scheme::data && (file.path == "pyvenv.cfg" || file.path.starts_with("bin/python"))) {
        throw Error(fmt::format("its file {} would replace the environment's interpreter", quoted_text(entry.name)));
      }
    }
    m_layout.files.push_back(std::move(file));
  }

  static void refuse_script(LaidOutFile& file) {
    file.executable = true;
    const std::string_view rest = std::string_view(file.path).substr(0, 6);
    const bool interpreter = rest == "python" && file.path.find_first_not_of("0123456789.tw", 6) == std::string::npos;
    if (interpreter) throw Error(fmt::format("its script {} would replace the interpreter", quoted_text(file.path)));
  }

  const zip::Archive& m_archive;
  WheelLayout& m_layout;
  std::string m_data;
};

}  // namespace

WheelLayout lay_out(const zip::Archive& archive, std::string_view file_name) {
  if (archive.entries().size() > k_most_members) {
    throw Error(fmt::format("it has {} files, more than is plausible for a wheel", archive.entries().size()));
  }
  const pep::WheelName name = pep::WheelName::parse(file_name);
  WheelLayout layout;
  layout.name = name.name;
  layout.version = name.version;
  layout.dist_info = find_dist_info(archive, name);
  layout.root = read_root(text_of(archive, layout.dist_info + "/WHEEL", true));
  (void)text_of(archive, layout.dist_info + "/METADATA", true);
  layout.record = text_of(archive, layout.dist_info + "/RECORD", true);
  layout.entry_points = text_of(archive, layout.dist_info + "/entry_points.txt", false);
  Placer(archive, layout).place_all();
  return layout;
}

}  // namespace wheelsmith::env
