#pragma once

#include <filesystem>
#include <string>

#include "governor/model/memory_model.h"

namespace wheelsmith::governor {

// The memory model on disk: a folder of text files with one line for each compile. We append to "journal.tsv", on a node
// of a cluster to "journal-NODE.tsv", and read all of them, so that what another machine has learned is used by putting
// its file beside ours.
class UnitJournal {
 public:
  // Reads what is there; a folder that cannot be written is read only.
  explicit UnitJournal(std::filesystem::path folder);

  [[nodiscard]] MemoryModel& model() { return m_model; }
  // Learns it and writes it down.
  void add(const Observation& observation);

 private:
  void read(const std::filesystem::path& file);
  // One line for each unit again, when most lines are of old times.
  void shrink();

  std::filesystem::path m_folder;
  std::string m_own;  // the file that we append to
  MemoryModel m_model;
  std::size_t m_lines = 0;
};

std::string to_line(const Observation& observation);
std::optional<Observation> parse_line(std::string_view line);

}  // namespace wheelsmith::governor
