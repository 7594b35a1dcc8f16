#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/sink.h"
#include "sys/io/fd.h"

// New files and folders, created component by component without following links. All throw Error.

namespace wheelsmith::sys {

// A newly created file, open for writing. Move-only.
class NewFile final : public Sink {
 public:
  NewFile() = default;
  // Removes an existing entry first: a file, or a link, but not its target.
  static NewFile replacing(std::filesystem::path path, unsigned mode);

  [[nodiscard]] bool is_open() const { return m_fd.is_open(); }
  void write(Bytes bytes) override;
  void set_mode(unsigned mode) const;
  void set_time(std::int64_t seconds) const;
  // A network disk may report a failed write only here.
  void close();

 private:
  friend class FolderHandle;
  NewFile(Fd fd, std::filesystem::path path) : m_fd(std::move(fd)), m_path(std::move(path)) {}

  Fd m_fd;
  std::filesystem::path m_path;
};

// An open folder. Names are single components: no '/', not "..".
class FolderHandle {
 public:
  FolderHandle() = default;
  explicit FolderHandle(std::filesystem::path path);

  [[nodiscard]] bool is_open() const { return m_fd.is_open(); }
  [[nodiscard]] FolderHandle open_folder(const std::string& name) const;
  void make_folder(const std::string& name) const;
  [[nodiscard]] NewFile make_file(const std::string& name) const;  // mode 0600
  void make_symlink(const std::string& name, const std::string& target) const;
  void make_hard_link(const std::string& name, const FolderHandle& from, const std::string& target) const;
  void remove_file(const std::string& name) const;

 private:
  FolderHandle(Fd fd, std::filesystem::path path) : m_fd(std::move(fd)), m_path(std::move(path)) {}

  Fd m_fd;
  std::filesystem::path m_path;
};

}  // namespace wheelsmith::sys
