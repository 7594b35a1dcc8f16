#include "wheel/write/clean_run_paths.h"

#include "base/error.h"
#include "zip/archive.h"

namespace wheelsmith::wheel {

namespace {

bool is_of_build_machine(const std::string& entry) { return entry.empty() || entry.front() == '/'; }

}  // namespace

std::vector<CleanedRunPath> clean_run_paths(Bytes wheel, const std::vector<ElfFacts>& files) {
  const zip::Archive archive = zip::Archive::open(wheel);
  std::vector<CleanedRunPath> result;
  for (const ElfFacts& file : files) {
    // If both exist, the loader reads only RUNPATH.
    const std::vector<std::string>& entries = file.runpath.empty() ? file.rpath : file.runpath;
    CleanedRunPath cleaned{file.path, {}};
    elf::Edit edit;
    edit.run_path = elf::RunPath{!file.runpath.empty(), {}};
    for (const std::string& entry : entries)
      (is_of_build_machine(entry) ? cleaned.removed : edit.run_path->entries).push_back(entry);
    const zip::Entry* member = cleaned.removed.empty() ? nullptr : archive.find(file.path);
    if (member == nullptr) continue;
    try {
      const Blob blob = archive.read(*member);
      cleaned.edited = std::make_shared<const elf::Edited>(elf::edit(blob.bytes, edit));
    } catch (const Error& error) {  // the file stays unchanged, and the caller reports it
      cleaned.problem = error.what();
    }
    result.push_back(std::move(cleaned));
  }
  return result;
}

}  // namespace wheelsmith::wheel
