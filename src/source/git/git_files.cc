// The files of a commit without a checkout: read one by one from the store's repository.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "fetch/fetch.h"
#include "source/git/repositories.h"

namespace wheelsmith::source {

namespace {

constexpr std::uint64_t k_most_bytes = 64ull << 20;

struct Found {
  std::string id, name;
  std::uint64_t size = 0;
};

// Regular files only: "MODE blob ID SIZE\tNAME".
std::vector<Found> read_tree(std::string_view listing) {
  std::vector<Found> files;
  for (const std::string_view line : split(listing, '\0')) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || !line.starts_with("100")) continue;
    std::vector<std::string_view> words = split(line.substr(0, tab), ' ');
    std::erase(words, "");
    if (words.size() != 4 || words[1] != "blob") continue;
    files.push_back({std::string(words[2]), std::string(line.substr(tab + 1)), to_number(words[3]).value_or(0)});
  }
  return files;
}

class CommitFiles final : public FileTree {
 public:
  using Read = std::function<std::string(const std::string& id)>;
  CommitFiles(std::vector<Found> files, Read read) : m_files(std::move(files)), m_read(std::move(read)) {
    std::sort(m_files.begin(), m_files.end(), [](const Found& a, const Found& b) { return a.name < b.name; });
  }

  [[nodiscard]] std::vector<File> files() const override {
    std::vector<File> result;
    for (const Found& file : m_files) result.push_back({file.name, file.size});
    return result;
  }

  [[nodiscard]] std::optional<Blob> open(const std::string& name) const override {
    const auto found = std::lower_bound(m_files.begin(), m_files.end(), name,
                                        [](const Found& file, const std::string& word) { return file.name < word; });
    if (found == m_files.end() || found->name != name) return std::nullopt;
    if (found->size > k_most_bytes)
      throw Error(fmt::format("{} is too large to read ({})", printable(name), human_bytes(found->size)));
    auto text = std::make_shared<std::string>(m_read(found->id));
    const Bytes bytes(*text);
    return Blob{std::move(text), bytes};
  }

 private:
  std::vector<Found> m_files;
  Read m_read;
};

}  // namespace

std::unique_ptr<FileTree> Repositories::files(const std::string& url, const std::string& commit,
                                              const std::string& ref) {
  const std::string failed = printable(fetch::without_credentials(url)) + ": cannot read the repository";
  std::vector<Found> found;
  with(url, commit, ref, [&](const std::filesystem::path& repository) {
    found = read_tree(m_git.output({"ls-tree", "-r", "-z", "-l", "--full-tree", commit}, repository, failed));
  });
  return std::make_unique<CommitFiles>(std::move(found), [this, url, commit, failed](const std::string& id) {
    std::string text;
    with(url, commit, "", [&](const std::filesystem::path& repository) {
      text = m_git.output({"cat-file", "blob", id}, repository, failed);
    });
    return text;
  });
}

std::optional<std::string> Repositories::file(const std::string& url, const std::string& commit,
                                              const std::string& path) {
  const std::string failed = printable(fetch::without_credentials(url)) + ": cannot read the repository";
  std::optional<std::string> text;
  with(url, commit, "", [&](const std::filesystem::path& repository) {
    const std::vector<std::string> list = {"--literal-pathspecs", "ls-tree", "-z", "-l",
                                           "--full-tree",         commit,    "--", path};
    const std::vector<Found> found = read_tree(m_git.output(list, repository, failed));
    if (found.size() == 1 && found[0].name == path && found[0].size <= k_most_bytes)
      text = m_git.output({"cat-file", "blob", found[0].id}, repository, failed);
  });
  return text;
}

}  // namespace wheelsmith::source
