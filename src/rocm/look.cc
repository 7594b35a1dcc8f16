#include "rocm/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/attempt.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "wheel/read/scan.h"

namespace wheelsmith::rocm {

namespace {

bool is_host_machine(std::uint16_t machine) {
  return machine != elf::k_machine_amdgpu && machine != elf::k_machine_cuda && machine != 0;
}

// A SONAME can contain anything; only a plain name can be a file name.
std::string usable_soname(const elf::ElfFile& file) {
  if (!file.dynamic.soname) return "";
  const std::string_view name = *file.dynamic.soname;
  const bool usable =
      !name.empty() && name.size() < 256 && name != "." && name != ".." && name.find('/') == name.npos &&
      name.find('\\') == name.npos && is_valid_utf8(name) &&
      std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x21; });
  return usable ? std::string(name) : "";
}

bool is_relative(std::string_view entry) {
  for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"}) {
    if (entry.starts_with(origin) && (entry.size() == origin.size() || entry[origin.size()] == '/')) return true;
  }
  return false;
}

Look look_at_elf(const std::string& path, Bytes bytes, bool executable) {
  Look look;
  const elf::ElfFile file = elf::ElfFile::parse(bytes);
  if (!is_host_machine(file.machine)) return look;
  if (file.type != elf::k_type_exec && file.type != elf::k_type_dyn) return look;
  look.editable = elf::can_edit(bytes);
  look.machine = file.machine;
  // A library may name an interpreter (libc does, so that it can be run); only a program has no SONAME.
  const bool is_program =
      file.type == elf::k_type_exec || file.dynamic.pie || (file.interpreter && !file.dynamic.soname);
  if (is_program && executable) look.kind = Look::Kind::program;
  if (!is_program && look.editable) {
    look.kind = Look::Kind::library;
    look.soname = usable_soname(file);
  }
  if (!look.editable) return look;
  const auto text = file.dynamic.runpath ? file.dynamic.runpath : file.dynamic.rpath;
  if (text && !text->empty()) {
    for (const std::string_view part : split(*text, ':')) look.run_path.emplace_back(part);
  }
  look.facts = std::make_shared<wheel::ElfFacts>(wheel::elf_facts(path, bytes, {}));
  return look;
}

}  // namespace

Look look_at(const std::string& path, const Entry& entry) {
  Look look;
  const Blob blob = entry.open();
  if (blob.bytes.starts_with("#!")) look.kind = entry.executable ? Look::Kind::script : Look::Kind::data;
  if (!elf::ElfFile::has_magic(blob.bytes)) return look;
  // What only begins like one is data.
  return if_valid([&] { return look_at_elf(path, blob.bytes, entry.executable); }).value_or(Look());
}

std::map<std::string, Look> look_at_all(const Entries& entries, unsigned threads) {
  std::vector<Entries::const_iterator> files;
  for (auto at = entries.begin(); at != entries.end(); ++at) {
    if (!at->second.link) files.push_back(at);
  }
  std::vector<Look> looks(files.size());
  parallel_for(files.size(), threads, [&](std::size_t i) {
    try {
      looks[i] = look_at(files[i]->first, files[i]->second);
    } catch (const Error& error) {
      throw error.in(printable(files[i]->first));
    }
  });
  std::map<std::string, Look> result;
  for (std::size_t i = 0; i < files.size(); ++i)
    result.emplace_hint(result.end(), files[i]->first, std::move(looks[i]));
  return result;
}

std::shared_ptr<const elf::Edited> with_run_path(const std::string& path, const Entry& entry, const Look& look,
                                                 const std::vector<std::string>& searched,
                                                 std::vector<Finding>& findings) {
  if (!look.editable) return nullptr;
  elf::RunPath wanted;
  const auto add = [&](std::string part) {
    if (std::find(wanted.entries.begin(), wanted.entries.end(), part) == wanted.entries.end())
      wanted.entries.push_back(std::move(part));
  };
  for (const std::string& part : look.run_path) {
    if (is_relative(part)) {
      add(part);
    } else {
      findings.push_back({"rocm-run-path-left-out", Severity::note, path,
                          fmt::format("its run path entry {} was removed", part.empty() ? "\"\"" : printable(part)),
                          "it names a folder of the build machine, where other libraries could be loaded from",
                          "link it with run paths that begin with $ORIGIN"});
    }
  }
  std::string up = "$ORIGIN/";
  for (std::ptrdiff_t i = std::count(path.begin(), path.end(), '/'); i > 0; --i) up += "../";
  for (const std::string& folder : searched) add(up + folder);
  // Without new and old entries there is nothing to change; a single absolute entry is removed.
  if (wanted.entries.empty() && look.run_path.empty()) return nullptr;
  elf::Edit edit;
  edit.run_path = std::move(wanted);
  try {
    const Blob blob = entry.open();
    elf::Edited edited = elf::edit(blob.bytes, edit);
    if (!edited.changed) return nullptr;
    return std::make_shared<const elf::Edited>(std::move(edited));
  } catch (const Error& error) {
    findings.push_back({"rocm-run-path", Severity::warning, path,
                        fmt::format("its run path cannot be edited: {}", error.what()),
                        "it may not find the libraries of the other packages", "link it with the run path it needs"});
    return nullptr;
  }
}

}  // namespace wheelsmith::rocm
