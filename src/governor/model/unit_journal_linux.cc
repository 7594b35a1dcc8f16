#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"
#include "governor/model/unit_journal.h"
#include "sys/files.h"

namespace wheelsmith::governor {

namespace {

constexpr std::size_t k_most_units = 50'000;
constexpr std::uint64_t k_file_limit = 64 << 20;
constexpr std::uint64_t k_most_bytes = 1ULL << 46;

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 200 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; });
}

// "1:2400000000,1:500000000"; "-" for none, "?" for unknown.
std::string to_text(const std::optional<Tails>& tails) {
  if (!tails) return "?";
  std::string text;
  for (const Tail& tail : *tails) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", tail.falls, tail.memory);
  return text.empty() ? "-" : text;
}

std::optional<Tails> parse_tails(std::string_view text, std::uint64_t most) {
  if (text == "-") return Tails();
  if (text.size() > 200) return std::nullopt;
  Tails tails;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    const auto falls = to_number(part.substr(0, colon));
    const auto memory = to_number(part.substr(std::min(colon + 1, part.size())));
    if (!falls || !memory || *falls == 0 || *falls > 1000 || *memory > most || tails.size() == 8) return std::nullopt;
    tails.push_back({static_cast<unsigned>(*falls), *memory});
    most = *memory;
  }
  return tails;
}

// Lines that several machines append to one file of a network file system may replace each other: each node of a
// cluster has a file of its own.
std::string own_journal() {
  const char* node = std::getenv("SLURMD_NODENAME");  // NOLINT(concurrency-mt-unsafe): no thread sets it
  if (node == nullptr || *node == '\0') return "journal.tsv";
  std::string name = "journal-";
  for (const char c : std::string_view(node).substr(0, 60))
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return name + ".tsv";
}

}  // namespace

std::string to_line(const Observation& o) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.3f}\t{}\t{}\n", o.facts.unit, o.facts.family,
                     to_string(o.facts.kind), o.facts.size, o.facts.archs, o.facts.threads, o.peak, o.seconds, o.when,
                     to_text(o.tails));
}

std::optional<Observation> parse_line(std::string_view line) {
  const std::vector<std::string_view> fields = split(line, '\t');
  if (fields.size() < 9 || !is_word(fields[0]) || !is_word(fields[1])) return std::nullopt;
  const auto kind = kind_from(fields[2]);
  const auto size = to_number(fields[3]);
  const auto archs = to_number(fields[4]);
  const auto threads = to_number(fields[5]);
  const auto peak = to_number(fields[6]);
  const auto when = to_number(fields[8]);
  const double seconds = std::strtod(std::string(fields[7]).c_str(), nullptr);
  if (!kind || !size || !archs || !threads || !peak || !when) return std::nullopt;
  if (*size > k_most_bytes || *peak > k_most_bytes || *archs > 1000 || *threads > 1000 || *when > 1ULL << 40 ||
      !(seconds >= 0 && seconds < 1e7)) {
    return std::nullopt;
  }
  Observation result;
  result.facts = {std::string(fields[0]),        std::string(fields[1]),         *kind, *size,
                  static_cast<unsigned>(*archs), static_cast<unsigned>(*threads)};
  result.peak = *peak;
  result.seconds = seconds;
  result.when = static_cast<std::int64_t>(*when);
  if (fields.size() > 9) result.tails = parse_tails(fields[9], *peak);  // older lines have no such field
  return result;
}

UnitJournal::UnitJournal(std::filesystem::path folder) : m_folder(std::move(folder)), m_own(own_journal()) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(m_folder, error)) {
    if (entry.path().extension() == ".tsv") files.push_back(entry.path());
  }
  // Ours last: local measurements take precedence.
  std::sort(files.begin(), files.end(), [this](const auto& a, const auto& b) {
    return std::pair(a.filename() == m_own, a) < std::pair(b.filename() == m_own, b);
  });
  for (const std::filesystem::path& file : files) read(file);
  if (m_lines > 4 * m_model.size() + 2000 || m_model.size() > 2 * k_most_units) shrink();
}

void UnitJournal::read(const std::filesystem::path& file) {
  // A file that is too large or unreadable only costs estimates.
  const auto text = sys::read_file_if_possible(file, k_file_limit);
  if (!text) return;
  for (const std::string_view line : lines(*text)) {
    ++m_lines;
    if (const auto observation = parse_line(line)) m_model.learn(*observation);
  }
}

void UnitJournal::shrink() {
  try {
    const auto lock = sys::FileLock::try_take(m_folder / "lock");
    if (!lock) return;
    std::string text;
    for (const Observation& observation : m_model.known(k_most_units)) text += to_line(observation);
    sys::write_file(m_folder / m_own, text);
    m_lines = m_model.size();
  } catch (const Error&) {  // best effort: on a read-only disk it is not compacted
  }
}

void UnitJournal::add(const Observation& observation) {
  m_model.learn(observation);
  std::error_code ignored;
  std::filesystem::create_directories(m_folder, ignored);
  // Two governors (two machines, one store) may write it. A read-only store only costs estimates.
  if (!sys::append_text(m_folder / m_own, to_line(observation))) ++m_lines;
}

}  // namespace wheelsmith::governor
