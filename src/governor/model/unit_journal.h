#pragma once

#include <filesystem>
#include <string>

#include "governor/model/memory_model.h"

namespace wheelsmith::governor {

// The memory model on disk: a folder of text files with one line per compile. We append to "journal.tsv", on a node of
// a cluster to "journal-NODE.tsv", and read all files, so placing another machine's file there makes its measurements
// available.
class UnitJournal {
 public:
  // Reads the existing files; a read-only folder is only read.
  explicit UnitJournal(std::filesystem::path folder);

  [[nodiscard]] MemoryModel& model() { return m_model; }
  // Learns an observation and stores it.
  void add(const Observation& observation);

 private:
  void read(const std::filesystem::path& file);
  // Compacts to one line per unit when most lines are outdated.
  void shrink();

  std::filesystem::path m_folder;
  std::string m_own;  // the file that we append to
  MemoryModel m_model;
  std::size_t m_lines = 0;
};

std::string to_line(const Observation& observation);
std::optional<Observation> parse_line(std::string_view line);

}  // namespace wheelsmith::governor
