#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith {

// Named bytes: a folder on disk, the members of an archive, or a map in a test. Names are relative, with '/' between
// parts and no leading '/'. Modules that do not use the operating system read folders through this. All functions are
// thread-safe.
class FileTree {
 public:
  struct File {
    std::string name;
    std::uint64_t size = 0;
    friend auto operator<=>(const File&, const File&) = default;
  };

  virtual ~FileTree() = default;

  // All regular files below, sorted by name. Links to files are files; links to folders are not followed.
  [[nodiscard]] virtual std::vector<File> files() const = 0;

  // The file's bytes, or nothing if there is no such file or the name points outside the tree. Throws Error for a file
  // that exists and cannot be read.
  [[nodiscard]] virtual std::optional<Blob> open(const std::string& name) const = 0;

  // The file's first bytes, at most `count`; cheaper than open() if the file is compressed.
  [[nodiscard]] virtual std::optional<std::string> head(const std::string& name, std::size_t count) const {
    const std::optional<Blob> blob = open(name);
    if (!blob) return std::nullopt;
    return std::string(blob->bytes.clamp(0, count).text());
  }
};

// Strings by name. Opened files point into the tree, which must outlive them.
class TextTree final : public FileTree {
 public:
  explicit TextTree(std::map<std::string, std::string> texts) : m_texts(std::move(texts)) {}

  [[nodiscard]] std::vector<File> files() const override {
    std::vector<File> result;
    for (const auto& [name, text] : m_texts) result.push_back({name, text.size()});
    return result;
  }
  [[nodiscard]] std::optional<Blob> open(const std::string& name) const override {
    const auto found = m_texts.find(name);
    if (found == m_texts.end()) return std::nullopt;
    return Blob{nullptr, Bytes(found->second)};
  }

 private:
  std::map<std::string, std::string> m_texts;
};

// One folder of a tree ("" for all of it) as a tree.
class SubTree final : public FileTree {
 public:
  SubTree(const FileTree& whole, const std::string& folder)
      : m_whole(whole), m_prefix(folder.empty() ? "" : folder + "/") {}

  [[nodiscard]] std::vector<File> files() const override {
    std::vector<File> result;
    for (const File& file : m_whole.files()) {
      if (file.name.starts_with(m_prefix)) result.push_back({file.name.substr(m_prefix.size()), file.size});
    }
    return result;
  }
  [[nodiscard]] std::optional<Blob> open(const std::string& name) const override {
    return m_whole.open(m_prefix + name);
  }
  [[nodiscard]] std::optional<std::string> head(const std::string& name, std::size_t count) const override {
    return m_whole.head(m_prefix + name, count);
  }

 private:
  const FileTree& m_whole;
  std::string m_prefix;
};

}  // namespace wheelsmith
