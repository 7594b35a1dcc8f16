#include "rocm/layout/layout_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"

namespace wheelsmith::rocm {

namespace {

// Copies `over`, which begins at `at`, onto the bytes of `into` that it covers; `into` begins at `offset`.
void overlay(std::uint64_t at, Bytes over, std::uint64_t offset, Buffer& into) {
  const std::uint64_t begin = std::max(at, offset), end = std::min(at + over.size(), offset + into.size());
  if (begin < end) std::memcpy(into.data() + (begin - offset), over.data() + (begin - at), end - begin);
}

Blob edited_piece(const elf::Edited& edited, const Blob& whole, std::uint64_t offset, std::uint64_t size) {
  const auto touches = [&](const elf::Patch& patch) {
    return patch.offset < offset + size && offset < patch.offset + patch.bytes.size();
  };
  if (whole.bytes.contains(offset, size) && std::none_of(edited.patches.begin(), edited.patches.end(), touches))
    return {whole.owner, whole.bytes.slice(offset, size)};
  auto buffer = std::make_shared<Buffer>(size);
  std::memset(buffer->data(), 0, size);
  overlay(0, whole.bytes, offset, *buffer);
  for (const elf::Patch& patch : edited.patches)
    overlay(patch.offset, {patch.bytes.data(), patch.bytes.size()}, offset, *buffer);
  overlay(edited.tail_offset, {edited.tail.data(), edited.tail.size()}, offset, *buffer);
  const Bytes bytes = buffer->bytes();
  return {std::move(buffer), bytes};
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash + 1);
}

Entries held(const PackageRow& row, const Entries& entries) {
  Entries result;
  for (const auto& [path, entry] : entries) {
    if (row.holds(path)) result.emplace_hint(result.end(), path, entry);
  }
  return result;
}

Finding left_out(const std::string& path, const Entry& entry, std::string_view why) {
  return {"rocm-link-left-out",
          Severity::note,
          path,
          fmt::format("the link to {} is omitted: {}", printable(entry.link_target), why),
          "wheels cannot contain links, and this one cannot become a file",
          "no action needed, unless a program uses that name"};
}

void edit_all(const std::vector<Draft>& drafts, const InstallPlace& place, unsigned threads,
              std::vector<LaidFile>& files, std::vector<wheel::ElfFacts>& elf, std::vector<Finding>& findings) {
  std::vector<LaidFile> made(drafts.size());
  std::vector<std::vector<Finding>> told(drafts.size());
  parallel_for(drafts.size(), threads, [&](std::size_t i) {
    const Draft& draft = drafts[i];
    LaidFile& file = made[i];
    file.path = draft.path;
    file.executable = draft.entry->executable;
    file.content.entry = draft.entry;
    if (draft.look == nullptr) return;
    const std::string whole = place.folder + "/" + draft.path;
    file.content.edited = with_run_path(whole, *draft.entry, *draft.look, place.searched, told[i]);
  });
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    files.push_back(std::move(made[i]));
    findings.insert(findings.end(), told[i].begin(), told[i].end());
    if (drafts[i].look != nullptr && drafts[i].look->facts) {
      elf.push_back(*drafts[i].look->facts);
      elf.back().path = place.folder + "/" + drafts[i].path;
    }
  }
}

void sort_by_path(std::vector<LaidFile>& files) {
  std::sort(files.begin(), files.end(), [](const LaidFile& a, const LaidFile& b) { return a.path < b.path; });
}

std::uint64_t Content::size() const {
  if (entry == nullptr) return text.size();
  return edited ? edited->size : entry->size;
}

Blob Content::piece(std::uint64_t offset, std::uint64_t size) const {
  if (entry == nullptr) return {nullptr, Bytes(text).slice(offset, size)};
  const Blob whole = entry->open();
  if (whole.bytes.size() != entry->size) {
    throw Error(fmt::format("{} changed while it was packaged", printable(entry->place.string())));
  }
  if (!edited) return {whole.owner, whole.bytes.slice(offset, size)};
  return edited_piece(*edited, whole, offset, size);
}

}  // namespace wheelsmith::rocm
