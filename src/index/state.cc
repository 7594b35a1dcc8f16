// The cache: tab-separated lines in any order, and a last line with a checksum that proves completeness.
//
//   wheelsmith-index 1
//   file     PATH  INODE  SIZE  MODIFIED  CHANGED  SHA256  METADATA-SHA256  REQUIRES  VARIANT  PROBLEM  REMARK
//   sidecar  PATH  INODE  SIZE  MODIFIED  CHANGED  FINGERPRINT
//   page     PATH  INODE  SIZE  MODIFIED  CHANGED  FINGERPRINT
//   end      SHA256 of all lines above
//
// JSON would take ten times as long: every run reads and writes this file, and 20,000 wheels are 5 MB.

#include "index/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/hash.h"
#include "base/text.h"

namespace wheelsmith::index {

namespace {

constexpr std::string_view k_head = "wheelsmith-index 1\n";
constexpr std::string_view k_end = "end\t";

void add_field(std::string& line, std::string_view text) {
  line += '\t';
  if (text.find_first_of("\t\n\\") == std::string_view::npos) {
    line += text;
    return;
  }
  for (const char c : text) {
    switch (c) {
      case '\t': line += "\\t"; break;
      case '\n': line += "\\n"; break;
      case '\\': line += "\\\\"; break;
      default: line += c;
    }
  }
}

std::string unescaped(std::string_view field) {
  if (field.find('\\') == std::string_view::npos) return std::string(field);
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\' || i + 1 == field.size()) {
      text += field[i];
      continue;
    }
    ++i;
    text += field[i] == 't' ? '\t' : field[i] == 'n' ? '\n' : field[i];
  }
  return text;
}

void add_stat(std::string& line, const sys::FileStat& stat) {
  fmt::format_to(std::back_inserter(line), "\t{}\t{}\t{}\t{}", stat.inode, stat.size,
                 static_cast<std::uint64_t>(stat.modified), static_cast<std::uint64_t>(stat.changed));
}

// Reads the fields of a line in sequence; `good` is false after the first missing or invalid one.
struct Fields {
  std::string_view rest;
  bool good = true;

  std::string_view take() {
    if (!rest.starts_with('\t')) {
      good = false;
      return {};
    }
    const std::size_t end = std::min(rest.find('\t', 1), rest.size());
    const std::string_view field = rest.substr(1, end - 1);
    rest.remove_prefix(end);
    return field;
  }
  std::string text() { return unescaped(take()); }
  std::uint64_t number() {
    const auto value = to_number(take());
    good = good && value;
    return value.value_or(0);
  }
  sys::FileStat stat() {
    sys::FileStat result;
    result.inode = number();
    result.size = number();
    result.modified = static_cast<std::int64_t>(number());
    result.changed = static_cast<std::int64_t>(number());
    return result;
  }
  [[nodiscard]] bool ended() const { return good && rest.empty(); }
};

bool take_line(State& state, std::string_view line) {
  const std::size_t tab = std::min(line.find('\t'), line.size());
  const std::string_view kind = line.substr(0, tab);
  Fields fields{line.substr(tab)};
  const std::string path = fields.text();
  const sys::FileStat stat = fields.stat();
  if (kind == "file") {
    State::KnownFile known{stat, {}};
    for (std::string* text : {&known.facts.sha256, &known.facts.metadata_sha256, &known.facts.requires_python,
                              &known.facts.variant, &known.facts.problem, &known.facts.remark})
      *text = fields.text();
    return fields.ended() && known.facts.sha256.size() == 64 && state.files.emplace(path, std::move(known)).second;
  }
  if (kind != "sidecar" && kind != "page") return false;
  State::Written written{fields.text(), stat};
  return fields.ended() && (kind == "page" ? state.pages : state.sidecars).emplace(path, std::move(written)).second;
}

}  // namespace

State State::parse(std::string_view text) {
  State state;
  const std::size_t end = text.rfind(k_end);
  if (!text.starts_with(k_head) || end == std::string_view::npos || !text.ends_with('\n') || end == 0 ||
      text[end - 1] != '\n')
    return {};
  const std::string_view body = text.substr(0, end);
  if (text.substr(end + k_end.size()) != to_hex(sha256(Bytes(body))) + "\n") return {};
  state.files.reserve(static_cast<std::size_t>(std::count(body.begin(), body.end(), '\n')));
  std::string_view rest = body.substr(k_head.size());
  while (!rest.empty()) {
    const std::size_t line_end = std::min(rest.find('\n'), rest.size() - 1);
    if (!take_line(state, rest.substr(0, line_end))) return {};
    rest.remove_prefix(line_end + 1);
  }
  return state;
}

std::string State::to_text() const {
  std::string text(k_head);
  text.reserve(files.size() * 320 + (pages.size() + sidecars.size()) * 200);
  for (const auto& [path, known] : files) {
    text += "file";
    add_field(text, path);
    add_stat(text, known.stat);
    for (const std::string* field : {&known.facts.sha256, &known.facts.metadata_sha256, &known.facts.requires_python,
                                     &known.facts.variant, &known.facts.problem, &known.facts.remark})
      add_field(text, *field);
    text += '\n';
  }
  for (const auto& [kind, map] : {std::pair("sidecar", &sidecars), std::pair("page", &pages)}) {
    for (const auto& [path, written] : *map) {
      text += kind;
      add_field(text, path);
      add_stat(text, written.stat);
      add_field(text, written.fingerprint);
      text += '\n';
    }
  }
  return text + std::string(k_end) + to_hex(sha256(Bytes(text))) + "\n";
}

}  // namespace wheelsmith::index
