// `elf`: the ELF editor for files outside wheels, and its proof for files that other tools edited.

#include "report/wheel/elf.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "elf/edit.h"
#include "elf/elf_file.h"
#include "gpu/slim/slim.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::cli {

namespace {

namespace fs = std::filesystem;

struct EditCommand {
  bool json = false;
  std::vector<std::string> files;
  std::string run_path, kind = "same", soname, out;
  bool no_run_path = false;
  std::vector<std::string> rename, add, remove;
};

struct ProveCommand {
  bool json = false;
  std::string original, edited;
};

elf::Edit edit_for(const EditCommand& command, const elf::ElfFile& file) {
  elf::Edit edit;
  if (!command.run_path.empty() || command.no_run_path) {
    edit.run_path.emplace();
    edit.run_path->runpath = command.kind == "runpath" || (command.kind == "same" && file.dynamic.runpath.has_value());
    for (const std::string_view entry : split(command.run_path, ':'))
      if (!command.run_path.empty()) edit.run_path->entries.emplace_back(entry);
  }
  for (const std::string& pair : command.rename) {
    const std::size_t at = pair.find('=');
    if (at == pair.npos) throw UsageError(fmt::format("--rename-needed {}: must be OLD=NEW", printable(pair)));
    edit.rename_needed[pair.substr(0, at)] = pair.substr(at + 1);
  }
  edit.add_needed = command.add;
  edit.remove_needed = command.remove;
  if (!command.soname.empty()) edit.soname = command.soname;
  if (edit.empty())
    throw UsageError(
        "no change given; use --run-path, --no-run-path, --soname, --rename-needed, --add-needed or --remove-needed");
  return edit;
}

report::EditedFile edit_file(const EditCommand& command, const std::string& name) {
  const Blob blob = sys::map_file(name);
  if (!elf::ElfFile::has_magic(blob.bytes)) throw Error("not an ELF file");
  const elf::Edited edited = elf::edit(blob.bytes, edit_for(command, elf::ElfFile::parse(blob.bytes)));
  const fs::path target = command.out.empty() ? fs::canonical(name) : fs::path(command.out);
  if (edited.changed || !command.out.empty()) {
    struct stat status{};
    if (::stat(name.c_str(), &status) != 0) throw Error("cannot read the file's permissions");
    sys::AtomicFile file(target);
    elf::write(edited, blob.bytes, file);
    file.set_mode(status.st_mode & 07777);
    file.commit();
  }
  return {.path = name, .error = "", .changed = edited.changed, .old_size = blob.bytes.size(), .size = edited.size};
}

int edit_files(const EditCommand& command) {
  if (!command.out.empty() && command.files.size() != 1) throw UsageError("--out requires exactly one FILE");
  if (!command.run_path.empty() && command.no_run_path)
    throw UsageError("--run-path and --no-run-path contradict each other");
  std::vector<report::EditedFile> items;
  bool fine = true;
  for (const std::string& name : command.files) {
    try {
      items.push_back(edit_file(command, name));
    } catch (const Error& error) {  // one file becomes an item with an error
      fine = false;
      items.push_back({.path = name, .error = error.what()});
      if (!command.json)
        print_status(fmt::format("wheelsmith: error: {}: {}\n", printable(name), printable(error.what())));
    }
  }
  print(command.json ? report::edited_files_json(items) : report::edited_files_text(items));
  return fine ? k_fine : k_not_fine;
}

int prove_file(const ProveCommand& command) {
  const Blob original = sys::map_file(command.original);
  const Blob edited = sys::map_file(command.edited);
  std::vector<std::string> differences;
  try {
    differences = elf::prove(original.bytes, edited.bytes);
    // A slimmed file has less device code, which is not the same bytes but the same program.
    if (!differences.empty() && gpu::prove_slim(original.bytes, edited.bytes).empty()) differences.clear();
  } catch (const Error& error) {
    throw error.in(command.original);
  }
  print(command.json ? report::proof_json(differences) : report::proof_text(differences));
  return differences.empty() ? k_fine : k_not_fine;
}

}  // namespace

void add_elf(CLI::App& app, Outcome& outcome) {
  CLI::App* group = app.add_subcommand("elf", "Edit the run path, NEEDED libraries and SONAME of ELF files");
  group->require_subcommand(1);
  auto edit = std::make_shared<EditCommand>();
  CLI::App* sub = group->add_subcommand("edit", "Edit ELF files and verify each result");
  sub->footer(
      "Loaded segments keep their addresses. An edit that cannot be made safely is refused, and the file stays "
      "unchanged.\n\n"
      "Examples:\n"
      "  wheelsmith elf edit libdemo.so --run-path '$ORIGIN/../lib'\n"
      "  wheelsmith elf edit libdemo.so --rename-needed libold.so.1=libnew.so.1 --out edited.so");
  sub->add_option("FILE", edit->files, "Shared libraries and programs")->required();
  sub->add_option("--run-path", edit->run_path, "Folders separated by ':', such as $ORIGIN/../lib");
  sub->add_flag("--no-run-path", edit->no_run_path, "Remove the run path");
  sub->add_option("--kind", edit->kind, "Kind of run path; same keeps the current one (rpath if there is none)")
      ->check(CLI::IsMember({"same", "rpath", "runpath"}))
      ->capture_default_str();
  sub->add_option("--rename-needed", edit->rename,
                  "OLD=NEW: rename a NEEDED library, including its symbol version requirements")
      ->allow_extra_args(false);
  sub->add_option("--add-needed", edit->add, "Add a NEEDED library after the others")->allow_extra_args(false);
  sub->add_option("--remove-needed", edit->remove, "Remove a NEEDED library")->allow_extra_args(false);
  sub->add_option("--soname", edit->soname, "Set the SONAME");
  sub->add_option("-o,--out", edit->out, "Write the result to this file instead of replacing FILE")->type_name("FILE");
  sub->add_flag("--json", edit->json, "Print one JSON document (docs/elf.md) instead of text");
  sub->callback([edit, &outcome] { outcome = [edit] { return edit_files(*edit); }; });
  auto prove = std::make_shared<ProveCommand>();
  CLI::App* proof =
      group->add_subcommand("prove", "Verify that an edited file is still the same program, whichever tool edited it");
  proof->footer("Example:\n  wheelsmith elf prove original.so edited.so");
  proof->add_option("ORIGINAL", prove->original, "The file as it was linked")->required();
  proof->add_option("EDITED", prove->edited, "The file after the edit")->required();
  proof->add_flag("--json", prove->json, "Print one JSON document (docs/elf.md) instead of text");
  proof->callback([prove, &outcome] { outcome = [prove] { return prove_file(*prove); }; });
}

}  // namespace wheelsmith::cli
