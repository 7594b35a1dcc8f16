// The digest of a folder is the SHA-256 over one line per file, sorted by name: its type (file, executable, link), the
// SHA-256 of its content, its name. Times, owners and the folder's path are not included. Hashing PyTorch's 20,000
// files takes seconds, so their digests are stored with their lstat() state; checking that again takes 50 ms.

#include <fmt/format.h>

#include <unordered_map>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "source/folder/listing.h"
#include "source/source.h"
#include "sys/file.h"

namespace wheelsmith::source {

namespace {

constexpr std::string_view k_kind = "folder";
constexpr std::string_view k_form = "1";  // of the stored text: "state digest name" in lines
constexpr std::size_t k_digest_digits = 64;

struct DigestByState {
  std::string state, digest;
};

std::unordered_map<std::string, DigestByState> recall(const std::string& folder, const store::Store& store) {
  std::unordered_map<std::string, DigestByState> known;
  const std::optional<std::string> text = store.remembered(k_kind, folder, k_form);
  if (!text) return known;
  for (const std::string_view line : lines(*text)) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos || line.size() < blank + k_digest_digits + 3) continue;
    const std::string_view digest = line.substr(blank + 1, k_digest_digits);
    known[std::string(line.substr(blank + k_digest_digits + 2))] = {std::string(line.substr(0, blank)),
                                                                    std::string(digest)};
  }
  return known;
}

void remember(const std::string& folder, const std::vector<SourceFile>& files, const std::vector<std::string>& digests,
              store::Store& store) {
  std::string text;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool keep = files[i].settled && !files[i].link && files[i].name.find_first_of("\r\n") == std::string::npos;
    if (keep) text += fmt::format("{} {} {}\n", files[i].state, digests[i], files[i].name);
  }
  store.remember(k_kind, folder, k_form, text);
}

}  // namespace

FolderDigest folder_digest(const std::filesystem::path& folder, store::Store& store) {
  const std::filesystem::path absolute = std::filesystem::absolute(folder).lexically_normal();
  const std::vector<SourceFile> files = list_source(absolute);
  const std::unordered_map<std::string, DigestByState> known = recall(absolute.string(), store);
  std::vector<std::string> digests(files.size());
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto found = known.find(files[i].name);
    if (files[i].link) {
      digests[i] = to_hex(sha256(Bytes(files[i].target)));
    } else if (found != known.end() && found->second.state == files[i].state) {
      digests[i] = found->second.digest;
    } else {
      fresh.push_back(i);
    }
  }
  parallel_for(fresh.size(), usable_threads(), [&](std::size_t at) {
    const std::size_t i = fresh[at];
    digests[i] = to_hex(sha256(sys::map_file(absolute / files[i].name).bytes));
  });
  if (!fresh.empty()) remember(absolute.string(), files, digests, store);

  FolderDigest result;
  std::string all;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const char* const kind = files[i].link ? "link" : files[i].executable ? "program" : "file";
    // The name's length is included, so that no name can look like two lines.
    all += fmt::format("{} {} {} {}\n", kind, digests[i], files[i].name.size(), files[i].name);
    result.files.emplace_back(files[i].name, fmt::format("{}:{}", kind, digests[i]));
  }
  result.digest = "tree:" + to_hex(sha256(Bytes(all)));
  return result;
}

}  // namespace wheelsmith::source
