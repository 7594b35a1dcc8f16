#include "diagnose/line.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace wheelsmith::diagnose {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::size_t digits_at(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - from;
}

// The length of "2025-03-01T12:34:56.789Z", "2025-03-01 12:34:56,789", "12:34:56.789" at the start; 0 when there is
// none.
std::size_t time_length(std::string_view text) {
  std::size_t at = 0;
  if (digits_at(text, 0) == 4 && text.size() > 11 && (text[4] == '-' || text[4] == '/') && digits_at(text, 5) == 2 &&
      text[7] == text[4] && digits_at(text, 8) == 2 && (text[10] == 'T' || text[10] == ' ')) {
    at = 11;
  }
  if (at + 8 > text.size() || digits_at(text, at) != 2 || text[at + 2] != ':' || digits_at(text, at + 3) != 2 ||
      text[at + 5] != ':' || digits_at(text, at + 6) != 2)
    return 0;
  at += 8;
  if (at < text.size() && (text[at] == '.' || text[at] == ',')) at += 1 + digits_at(text, at + 1);
  if (at < text.size() && text[at] == 'Z') ++at;
  if (at + 6 <= text.size() && (text[at] == '+' || text[at] == '-') && digits_at(text, at + 1) == 2) at += 6;
  return at;
}

// "2025-… ", "[2025-…] ", "[12:34:56] ", "(12:34:56) ": CI systems and `ts`.
void skip_time(std::string_view& text) {
  const bool bracket = !text.empty() && (text[0] == '[' || text[0] == '(');
  std::size_t length = time_length(text.substr(bracket ? 1 : 0));
  if (length == 0) return;
  if (bracket) {
    if (length + 1 >= text.size() || (text[length + 1] != ']' && text[length + 1] != ')')) return;
    length += 2;
  }
  if (length < text.size() && text[length] != ' ' && text[length] != '\t') return;
  text.remove_prefix(std::min(length + 1, text.size()));
}

// docker's "#12 34.56 " (BuildKit) and "#12 [4/9] ", compose's "name-1  | ", GitLab's "00O " are common; only the first
// two are certain enough.
void skip_docker(std::string_view& text) {
  if (text.size() < 4 || text[0] != '#') return;
  std::size_t at = 1 + digits_at(text, 1);
  if (at == 1 || at >= text.size() || text[at] != ' ') return;
  ++at;
  const std::size_t whole = digits_at(text, at);
  if (whole == 0 || at + whole >= text.size() || text[at + whole] != '.') return;
  at += whole + 1;
  at += digits_at(text, at);
  if (at < text.size() && text[at] != ' ') return;
  text.remove_prefix(std::min(at + 1, text.size()));
}

// docker compose: "name-1  | text", "name-1 | text".
void skip_compose(std::string_view& text) {
  const std::size_t bar = text.substr(0, 64).find(" | ");
  if (bar == text.npos || bar == 0) return;
  const std::string_view name = trim(text.substr(0, bar));
  if (name.size() < 3 || name.find(' ') != name.npos || name.rfind('-') == name.npos || !is_digit(name.back())) return;
  text.remove_prefix(bar + 3);
}

// GitHub's "##[error]" and "##[group]", and "> " of docker's summary ("> [4/9] RUN …:" has no blank line before it).
void skip_annotation(std::string_view& text) {
  for (const std::string_view word :
       {"##[error]", "##[warning]", "##[group]", "##[debug]", "::error::", "::warning::"}) {
    if (skip(text, word)) return;
  }
}

std::string in_english(std::string text) {
  for (const auto& [words, english] : translations()) {
    for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + english.size()))
      text.replace(at, words.size(), english);
  }
  return text;
}

// GCC quotes as the locale has it; a pattern knows one quote.
std::string with_plain_quotes(std::string text) {
  for (const auto& [quote, plain] : {std::pair("\xe2\x80\x98", '\''), std::pair("\xe2\x80\x99", '\''),
                                     std::pair("\xe2\x80\x9c", '"'), std::pair("\xe2\x80\x9d", '"')}) {
    for (std::size_t at = text.find(quote); at != text.npos; at = text.find(quote, at)) text.replace(at++, 3, 1, plain);
  }
  return text;
}

std::size_t skip_blanks(std::string_view& text) {
  std::size_t count = 0;
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) {
    text.remove_prefix(1);
    ++count;
  }
  return count;
}

std::string_view without_progress(std::string_view line) {
  if (!read_progress(line)) return line;
  return trim(line.substr(line.find(']') + 1));
}

// The first word of a command, without its folder and version: "/usr/bin/x86_64-linux-gnu-g++-12" is "g++".
bool is_compiler(std::string_view word) {
  while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.remove_prefix(1);
  while (!word.empty() && (word.back() == '"' || word.back() == '\'')) word.remove_suffix(1);
  word = base_name(word);
  if (word.ends_with(".exe")) word.remove_suffix(4);
  if (const std::size_t dash = word.rfind('-');
      dash != word.npos && dash + 1 < word.size() && word.find_first_not_of("0123456789.", dash + 1) == word.npos)
    word = word.substr(0, dash);
  for (const std::string_view name : {"gcc", "g++", "cc", "c++", "clang", "clang++", "nvcc", "hipcc", "ld", "ar",
                                      "cmake", "ccache", "sccache", "cl"}) {
    if (word == name ||
        (word.ends_with(name) && word.size() > name.size() && word[word.size() - name.size() - 1] == '-'))
      return true;
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '-') return true;
  }
  return false;
}

constexpr std::string_view k_warning_starts[] = {
    "-- ",
    "WARNING:",
    "Warning:",
    "warning:",
    "WARN ",
    "[WARNING]",
    "[warn",
    "CMake Warning",
    "CMake Deprecation Warning",
    "checking ",
    "note:",
    "Performing C SOURCE FILE",
    "Performing C++ SOURCE FILE",
    "WARNING ",
    "INFO:",
    "DEBUG:",
    "  WARNING:",
    "Looking for ",
    "DEPRECATION:",
    "hint:",
    "HINT:",
};

}  // namespace

std::string_view without_escapes(std::string_view line, std::string& space) {
  if (line.find('\x1b') == line.npos) return line;
  space.clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      space += line[i];
      continue;
    }
    if (i + 1 >= line.size()) break;
    const char kind = line[++i];
    if (kind == '[') {
      do ++i;
      while (i < line.size() && (line[i] < '@' || line[i] > '~'));
    } else if (kind == ']') {  // a title or a link, up to BEL or ESC backslash
      while (i < line.size() && line[i] != '\a' && line[i] != '\x1b') ++i;
      if (i + 1 < line.size() && line[i] == '\x1b') ++i;
    } else if (kind == '(' || kind == ')') {
      ++i;
    }
  }
  return space;
}

Line clean(std::string_view raw, std::string& space) {
  std::string without;
  std::string_view text = without_escapes(raw, without);
  const bool foreign =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  // German, French and others do without foreign letters in some of their words.
  if (foreign || text.find("Fehler: ") != text.npos || text.find("erreur") != text.npos ||
      text.find("nicht gefunden") != text.npos || text.find("Aucun fichier") != text.npos ||
      text.find("No existe el") != text.npos || text.find("non esistente") != text.npos) {
    space = in_english(with_plain_quotes(to_valid_utf8(text)));
    text = space;
  } else if (text.data() == without.data()) {
    space = std::move(without);
    text = space;
  }
  Line line;
  skip_time(text);
  skip_docker(text);
  skip_compose(text);
  skip_time(text);
  skip_annotation(text);
  line.indent = skip_blanks(text);
  // Bars and branches, as pip, uv and cargo draw them.
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view drawn : {"│", "┃", "╰─▶", "├─▶", "╰─>", "├─>", "╰─", "├─", "|  "}) {
      if (!skip(text, drawn)) continue;
      line.in_tree = true;
      line.indent += 2 + skip_blanks(text);
      more = true;
    }
  }
  line.text = trim(text);
  return line;
}

// "   12 | int x;", "      |   ^~~", and the line of a traceback that raises: its message comes again as the
// exception's.
bool is_quoted_source(std::string_view text) {
  if (text.starts_with("raise ") || text.starts_with("| ") || text.starts_with('"')) return true;
  const std::size_t digits = digits_at(text, 0);
  return digits > 0 && text.substr(digits, 2) == " |";
}

Tone tone_of(std::string_view text) {
  if (!echoed_command(text).empty()) return Tone::command;
  if (is_quoted_source(text)) return Tone::quote;
  if (text.starts_with("-- Configuring incomplete")) return Tone::plain;
  if (std::any_of(std::begin(k_warning_starts), std::end(k_warning_starts),
                  [&](std::string_view start) { return text.starts_with(start); }))
    return Tone::warning;
  // "a.cc:3:5: warning: …", "a.cu(12): warning #177-D: …", "x.py:12: DeprecationWarning: …"
  const std::string_view head = text.substr(0, 400);
  for (const std::string_view word :
       {": warning: ", ": warning #", "Warning: ", ": note: ", " warning : ", ": remark: "}) {
    const std::size_t at = head.find(word);
    if (at == head.npos) continue;
    const std::size_t error = std::min(head.find("error:"), head.find("Error:"));
    if (at < error) return Tone::warning;
  }
  return Tone::plain;
}

std::optional<Progress> read_progress(std::string_view line) {
  // ninja on a terminal rewrites its line; the last state is what counts.
  if (const std::size_t start = line.rfind('\r'); start != line.npos && start + 1 < line.size())
    line.remove_prefix(start + 1);
  skip_blanks(line);
  const std::size_t end = line.find(']');
  if (line.empty() || line.front() != '[' || end == line.npos || end > 24) return std::nullopt;
  std::string_view inside = line.substr(1, end - 1);
  skip_blanks(inside);
  if (inside.ends_with('%')) {
    const auto percent = to_number(inside.substr(0, inside.size() - 1));
    return percent && *percent <= 100 ? std::optional<Progress>({*percent, 100}) : std::nullopt;
  }
  const std::size_t slash = inside.find('/');
  if (slash == inside.npos) return std::nullopt;
  const auto done = to_number(inside.substr(0, slash));
  const auto total = to_number(inside.substr(slash + 1));
  if (!done || !total || *total == 0 || *done > *total) return std::nullopt;
  return Progress{*done, *total};
}

const std::vector<std::pair<std::string_view, std::string_view>>& translations() {
  static const std::vector<std::pair<std::string_view, std::string_view>> all = {
      {"致命错误：", "fatal error: "},
      {"错误：", "error: "},
      {"警告：", "warning: "},
      {"附注：", "note: "},
      {"没有那个文件或目录", "No such file or directory"},
      {"设备上没有空间", "No space left on device"},
      {"权限不够", "Permission denied"},
      {"已杀死", "Killed"},
      {"未找到命令", "command not found"},
      {"無此檔案或目錄", "No such file or directory"},
      {"沒有此一檔案或目錄", "No such file or directory"},
      {"錯誤：", "error: "},
      {"致命的エラー: ", "fatal error: "},
      {"エラー: ", "error: "},
      {"そのようなファイルやディレクトリはありません", "No such file or directory"},
      {"デバイスに空き領域がありません", "No space left on device"},
      {"강제 종료됨", "Killed"},
      {"오류: ", "error: "},
      {"그런 파일이나 디렉터리가 없습니다", "No such file or directory"},
      {"фатальная ошибка: ", "fatal error: "},
      {"ошибка: ", "error: "},
      {"Нет такого файла или каталога", "No such file or directory"},
      {"На устройстве не осталось свободного места", "No space left on device"},
      {"Убито", "Killed"},
      {"erreur fatale: ", "fatal error: "},
      {"erreur fatale : ", "fatal error: "},
      {"erreur: ", "error: "},
      {"erreur : ", "error: "},
      {"Aucun fichier ou dossier de ce type", "No such file or directory"},
      {"schwerwiegender Fehler: ", "fatal error: "},
      {"Fehler: ", "error: "},
      {"Datei oder Verzeichnis nicht gefunden", "No such file or directory"},
      {"Auf dem Gerät ist kein Speicherplatz mehr verfügbar", "No space left on device"},
      {"error fatal: ", "fatal error: "},
      {"No existe el fichero o el directorio", "No such file or directory"},
      {"No existe el archivo o el directorio", "No such file or directory"},
      {"errore fatale: ", "fatal error: "},
      {"errore: ", "error: "},
      {"File o directory non esistente", "No such file or directory"},
      {"erro fatal: ", "fatal error: "},
      {"Arquivo ou diretório inexistente", "No such file or directory"},
      {"：", ": "},
  };
  return all;
}

std::string_view echoed_command(std::string_view line) {
  line = trim(line);
  if (is_compiler_command(line)) return line;
  for (const std::string_view prompt : {"$ ", "+ ", "++ ", "> $ ", "Running command ", "RUN "}) {
    std::string_view rest = line;
    if (skip(rest, prompt) && !trim(rest).empty()) return trim(rest);
  }
  return {};
}

bool is_compiler_command(std::string_view line) {
  line = without_progress(trim(line));
  // "cd /x && /usr/bin/c++ …", "+ g++ …", "ccache g++ …", "CXX=… nvcc …"
  if (skip(line, "+ ")) skip_blanks(line);
  if (line.starts_with("cd ")) {
    const std::size_t both = line.substr(0, 4096).find(" && ");
    if (both != line.npos) line = trim(line.substr(both + 4));
  }
  const std::size_t blank = line.find(' ');
  if (blank == line.npos || blank == 0 || line[blank - 1] == ':') return false;
  if (!is_compiler(line.substr(0, blank))) return false;
  // "nvcc fatal   : …" is what it says, not what it was told.
  const std::string_view second = trim(line.substr(blank));
  for (const std::string_view word : {"(", "fatal", "error", "warning", "info", "terminated", "returned", "failed"}) {
    if (second.starts_with(word)) return false;
  }
  // "cc is a compiler" is prose, "gcc -c x.c" is none.
  return line.find(" -") != line.npos || line.find(" /") != line.npos;
}

}  // namespace wheelsmith::diagnose
