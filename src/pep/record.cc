// RECORD: the list of a wheel's files, as CSV.
//
//   path "," [algorithm "=" hash] "," [size]            per line; RECORD names itself with both empty
//
// Written by Python's csv module and read by it, so its rules hold: a field that begins with '"' runs to the closing
// '"', commas and line ends inside included, '""' stands for one '"'; a line ends with \n, \r\n or \r. That module
// silently appends text after a closing quote; here it is a problem.

#include "pep/record.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

constexpr std::size_t k_most_problems = 100;
constexpr std::size_t k_most_lines = 300'000;  // three times what the largest wheels have; a line takes some 250 bytes

struct Row {
  std::vector<std::string> fields;  // the first three; all that RECORD has a use for
  std::uint64_t columns = 0;
  std::uint64_t line = 0;
  bool garbage_behind_quote = false;
  bool open_quote = false;
};

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : m_text(text) {}

  [[nodiscard]] bool done() const { return m_at == m_text.size(); }

  // An empty line is a row of no fields.
  Row next() {
    Row row;
    row.line = m_line;
    if (take_line_end()) return row;
    do {
      std::string field = take_field(row);
      if (++row.columns <= 3) row.fields.push_back(std::move(field));
    } while (take(','));
    take_line_end();
    return row;
  }

 private:
  bool take(char c) {
    if (done() || m_text[m_at] != c) return false;
    ++m_at;
    return true;
  }

  bool take_line_end() {
    const bool carriage_return = take('\r');
    const bool line_feed = take('\n');
    if (carriage_return || line_feed) ++m_line;
    return carriage_return || line_feed;
  }

  std::string take_plain() {
    const std::size_t end = std::min(m_text.find_first_of(",\r\n", m_at), m_text.size());
    std::string field(m_text.substr(m_at, end - m_at));
    m_at = end;
    return field;
  }

  std::string take_field(Row& row) {
    if (!take('"')) return take_plain();
    std::string field;
    while (true) {
      const std::size_t quote = m_text.find('"', m_at);
      const std::string_view part = m_text.substr(m_at, std::min(quote, m_text.size()) - m_at);
      field += part;
      for (const char c : part) m_line += c == '\n' ? 1 : 0;
      if (quote == std::string_view::npos) {
        m_at = m_text.size();
        row.open_quote = true;
        return field;
      }
      m_at = quote + 1;
      if (!take('"')) break;
      field += '"';
    }
    const std::string garbage = take_plain();
    row.garbage_behind_quote = row.garbage_behind_quote || !garbage.empty();
    return field + garbage;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::uint64_t m_line = 1;
};

class RecordReader {
 public:
  explicit RecordReader(Record& record) : m_record(record) {}

  void add(Row row) {
    m_line = row.line;
    if (row.fields.empty()) return problem("the line is empty");
    if (row.open_quote) return problem("a quoted field is not terminated");
    if (row.garbage_behind_quote) problem("text follows the closing quote of a field");
    if (row.columns != 3) problem(fmt::format("{} columns instead of 3", row.columns));
    row.fields.resize(3);

    RecordLine line;
    line.line = row.line;
    line.path = std::move(row.fields[0]);
    if (line.path.empty()) return problem("the path is empty");
    if (!is_valid_utf8(line.path)) problem(fmt::format("the path {} is not UTF-8", quoted_text(line.path)));
    if (line.path.find('\\') != std::string::npos) {
      problem(fmt::format("the path {} has backslashes instead of \"/\"", quoted_text(line.path)));
    }
    set_hash(line, row.fields[1]);
    if (!row.fields[2].empty()) {
      line.size = to_number(row.fields[2]);
      if (!line.size) problem(fmt::format("the size {} is not a number", quoted_text(row.fields[2])));
    }
    m_record.lines.push_back(std::move(line));
  }

  void finish() {
    if (m_problems > k_most_problems) {
      m_record.problems.push_back(fmt::format("and {} more problems", m_problems - k_most_problems));
    }
  }

 private:
  void set_hash(RecordLine& line, std::string_view text) {
    if (text.empty()) return;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
      return problem(fmt::format("the hash {} is not written as algorithm=value", quoted_text(text)));
    }
    line.algorithm = text.substr(0, equals);
    line.hash = text.substr(equals + 1);
  }

  void problem(std::string_view what) {
    if (++m_problems <= k_most_problems) m_record.problems.push_back(fmt::format("line {}: {}", m_line, what));
  }

  Record& m_record;
  std::uint64_t m_line = 0;
  std::uint64_t m_problems = 0;
};

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + '"';
}

}  // namespace

Record Record::parse(Bytes text) {
  Record record;
  RecordReader reader(record);
  for (CsvReader rows(text.text()); !rows.done();) {
    if (record.lines.size() == k_most_lines) {
      record.problems.push_back(fmt::format("more than {} lines; the rest is not read", k_most_lines));
      break;
    }
    reader.add(rows.next());
  }
  reader.finish();
  return record;
}

std::string record_path(std::string_view dist_info) { return std::string(dist_info) + "/RECORD"; }

bool is_record_or_signature(std::string_view path, std::string_view dist_info) {
  const std::string record = record_path(dist_info);
  if (!path.starts_with(record)) return false;
  const std::string_view rest = path.substr(record.size());
  return rest.empty() || rest == ".jws" || rest == ".p7s";
}

RecordLine record_line(std::string path, const Digest& sha256, std::uint64_t size) {
  return {std::move(path), "sha256", to_base64url(sha256), size, 0};
}

std::string to_csv_line(const RecordLine& line) {
  const std::string hash = line.algorithm.empty() ? "" : line.algorithm + '=' + line.hash;
  return csv_field(line.path) + ',' + csv_field(hash) + ',' + (line.size ? std::to_string(*line.size) : "");
}

std::string record_text(std::span<const RecordLine> lines, std::string_view dist_info) {
  std::string text;
  for (const RecordLine& line : lines) text += to_csv_line(line) + '\n';
  return text + to_csv_line({record_path(dist_info), "", "", std::nullopt, 0}) + '\n';
}

}  // namespace wheelsmith::pep
