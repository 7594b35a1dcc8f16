// Reads Python line by line. An import that may fail is in a `try` block whose handlers continue, so it is enough to
// follow blocks by indentation: a line ends all blocks that are indented as much or more. Multi-line strings are
// skipped by their triple quotes. A misread module counts as imported unconditionally, and so as broken if it cannot be
// loaded: errors lead to a finding rather than to silence. numpy and taichi import their main modules in a `try` too,
// to raise again with a better message.

#include "wheel/read/python_use.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::uint64_t k_largest_module = 16 << 20;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

std::string_view top_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view folder_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

// "x" of "p/x.cpython-311-x86_64-linux-gnu.so".
std::string_view module_name(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.substr(0, name.find('.'));
}

// "libx" of "p/libx.so.1"; "" if the name is not that of a library.
std::string_view library_stem(std::string_view path) {
  const std::string_view name = base_name(path);
  const std::size_t so = name.rfind(".so");
  if (so == std::string_view::npos || so == 0) return {};
  const std::string_view rest = name.substr(so + 3);
  return rest.empty() || rest.front() == '.' ? name.substr(0, so) : std::string_view();
}

// The lines of code with their indentation, joined where brackets or a backslash continue them.
class CodeLines {
 public:
  explicit CodeLines(std::string_view text) : m_lines(lines(text)) {}

  struct Line {
    std::size_t indent = 0;
    std::string text;  // without indentation and comment
  };

  std::optional<Line> next() {
    while (m_at < m_lines.size()) {
      const std::string_view raw = m_lines[m_at++];
      const bool was_in_text = m_in_text;
      if (count_triple(raw) % 2 == 1) m_in_text = !m_in_text;
      if (was_in_text) continue;
      const std::size_t indent = raw.find_first_not_of(" \t");
      if (indent == std::string_view::npos || raw[indent] == '#') continue;
      Line line{indent, std::string(code(raw.substr(indent)))};
      if (line.text.starts_with("from ") || line.text.starts_with("import ")) take_rest(line.text);
      return line;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t k_longest_import = 100'000;

  static std::string_view code(std::string_view line) {
    return trim(line.starts_with("from ") || line.starts_with("import ") ? line.substr(0, line.find('#')) : line);
  }

  static std::size_t count_triple(std::string_view line) {
    std::size_t count = 0;
    for (const std::string_view quotes : {R"(""")", "'''"}) {
      for (std::size_t at = line.find(quotes); at != std::string_view::npos; at = line.find(quotes, at + 3)) ++count;
    }
    return count;
  }

  void take_rest(std::string& text) {
    const auto is_open = [&] {
      return text.ends_with('\\') ||
             std::count(text.begin(), text.end(), '(') > std::count(text.begin(), text.end(), ')');
    };
    while (is_open() && m_at < m_lines.size() && text.size() < k_longest_import) {
      if (text.ends_with('\\')) text.pop_back();
      const std::string_view more = m_lines[m_at++];
      text += ' ';
      text += trim(more.substr(0, more.find('#')));
    }
  }

  std::vector<std::string_view> m_lines;
  std::size_t m_at = 0;
  bool m_in_text = false;
};

void for_each_word(std::string_view text, const std::function<void(std::string_view)>& use) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    use(text.substr(at, end - at));
    at = end;
  }
}

// Calls `use` with each import statement, and whether the package continues if it fails: it is in a `try` whose
// handlers do not raise again.
class ImportReader {
 public:
  using Use = std::function<void(std::string_view statement, bool tried)>;
  explicit ImportReader(const Use& use) : m_use(use) {}

  void read(std::string_view text) {
    CodeLines code(text);
    while (const auto line = code.next()) read_line(*line);
    while (!m_blocks.empty()) close();
  }

 private:
  // A `try` statement; `if TYPE_CHECKING` is one whose body is never run.
  struct Block {
    std::size_t indent = 0;
    bool never_runs = false;
    enum class Part { body, handler, rest } part = Part::body;
    bool catches = false;
    bool raises = false;
    std::vector<std::string> imports = {};
  };

  void read_line(const CodeLines::Line& line) {
    const std::string_view text = line.text;
    const bool continues = text.starts_with("except") || text.starts_with("else:") || text.starts_with("finally:");
    while (!m_blocks.empty() &&
           (line.indent < m_blocks.back().indent ||
            (line.indent == m_blocks.back().indent && (!continues || m_blocks.back().never_runs)))) {
      close();
    }
    if (continues && !m_blocks.empty() && line.indent == m_blocks.back().indent) {
      enter_part(m_blocks.back(), text);
    } else if (text.starts_with("try:")) {
      m_blocks.push_back({.indent = line.indent});
    } else if (text.starts_with("if TYPE_CHECKING") || text.starts_with("if typing.TYPE_CHECKING")) {
      m_blocks.push_back({.indent = line.indent, .never_runs = true});
    } else if (text.starts_with("from ") || text.starts_with("import ")) {
      add(line.text);
    } else if (text.starts_with("raise") || text.starts_with("sys.exit")) {
      note_raise();
    }
  }

  static void enter_part(Block& block, std::string_view text) {
    block.part = text.starts_with("except") ? Block::Part::handler : Block::Part::rest;
    if (block.part != Block::Part::handler) return;
    block.catches = true;
    block.raises = block.raises || text.find(": raise") != std::string_view::npos;
  }

  void note_raise() {
    for (auto block = m_blocks.rbegin(); block != m_blocks.rend(); ++block) {
      if (block->part == Block::Part::body) return;
      if (block->part == Block::Part::handler) {
        block->raises = true;
        return;
      }
    }
  }

  void add(std::string statement) {
    for (auto block = m_blocks.rbegin(); block != m_blocks.rend(); ++block) {
      if (block->never_runs) return;
      if (block->part != Block::Part::body) continue;
      block->imports.push_back(std::move(statement));
      return;
    }
    m_use(statement, false);
  }

  void close() {
    Block block = std::move(m_blocks.back());
    m_blocks.pop_back();
    for (std::string& statement : block.imports) {
      if (block.catches && !block.raises) {
        m_use(statement, true);
      } else {
        add(std::move(statement));  // the next `try` around it decides
      }
    }
  }

  const Use& m_use;
  std::vector<Block> m_blocks;
};

// "numpy" of "from numpy.linalg import norm" and of "import numpy as np"; "" for relative imports.
std::string_view imported_module(std::string_view statement) {
  std::string_view rest = trim(statement.substr(statement.find(' ')));
  std::size_t end = 0;
  while (end < rest.size() && is_word(rest[end])) ++end;
  return rest.substr(0, end);
}

// Calls `use` with strings that may name a library: "libx" of "…/libx.so.1" and of 'libx'.
void for_each_library(std::string_view text, const std::function<void(std::string_view)>& use) {
  const auto is_name = [](char c) { return is_word(c) || c == '-' || c == '.' || c == '+'; };
  for (std::size_t at = text.find(".so"); at != std::string_view::npos; at = text.find(".so", at + 3)) {
    std::size_t begin = at;
    while (begin > 0 && is_name(text[begin - 1])) --begin;
    if (begin < at) use(text.substr(begin, at - begin));
  }
  for (std::size_t at = text.find("lib"); at != std::string_view::npos; at = text.find("lib", at + 3)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    if (before != '"' && before != '\'' && before != '/') continue;
    std::size_t end = at;
    while (end < text.size() && (is_word(text[end]) || text[end] == '-')) ++end;
    if (end < text.size() && (text[end] == '"' || text[end] == '\'')) use(text.substr(at, end - at));
  }
}

// "librmm" of "librmm.load_library()".
void for_each_loaded(std::string_view text, const std::function<void(std::string_view)>& use) {
  static constexpr std::string_view k_call = ".load_library(";
  for (std::size_t at = text.find(k_call); at != std::string_view::npos; at = text.find(k_call, at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    if (begin < at) use(text.substr(begin, at - begin));
  }
}

}  // namespace

bool is_importable_name(std::string_view path) {
  const std::string_view name = base_name(path);
  const std::size_t dot = name.find('.');
  if (dot == 0 || dot == std::string_view::npos || !name.ends_with(".so")) return false;
  const std::string_view suffix = name.substr(dot);
  return suffix == ".so" || suffix == ".abi3.so" || suffix == ".abi3t.so" ||
         ((suffix.starts_with(".cpython-") || suffix.starts_with(".pypy") || suffix.starts_with(".graalpy")) &&
          std::count(suffix.begin(), suffix.end(), '.') == 2);
}

PythonUse::PythonUse(const std::vector<FileTree::File>& files) {
  for (const FileTree::File& file : files) {
    if (base_name(file.name) == "__init__.py") m_packages.emplace(folder_part(file.name));
    const std::string_view stem = library_stem(file.name);
    if (stem.empty()) continue;
    const std::string top(top_folder(file.name));
    m_named.try_emplace(Place(top, stem));
    m_tops.insert(top);
    if (is_importable_name(file.name)) m_modules.try_emplace(Place(top, module_name(file.name)));
  }
}

void PythonUse::see(const std::string& name, Bytes bytes) {
  if (!name.ends_with(".py") || bytes.size() > k_largest_module) return;
  const std::string_view text = bytes.text();
  const std::string top(top_folder(name));
  // A package may import a top-level extension next to it.
  const auto for_places = [&](std::string_view word, const auto& use) {
    use(Place(top, word));
    if (!top.empty()) use(Place("", word));
  };
  std::vector<std::pair<Place, bool>> imports;
  std::set<std::string> imported;
  const ImportReader::Use use_import = [&](std::string_view statement, bool tried) {
    imported.emplace(imported_module(statement));
    for_each_word(statement, [&](std::string_view word) {
      for_places(word, [&](Place place) {
        if (m_modules.contains(place)) imports.emplace_back(std::move(place), tried);
      });
    });
  };
  ImportReader(use_import).read(text);
  std::vector<std::pair<Place, PythonCalls::Name>> named;
  std::vector<PythonCalls::Call> calls;
  // Any package may load a top-level library; its functions are not followed then.
  const bool follows = m_tops.contains(top);
  if (follows || m_tops.contains("")) {
    for (const PythonCalls::Line& line : PythonCalls::read(text, calls)) {
      for_each_library(line.text, [&](std::string_view word) {
        for_places(word, [&](Place place) {
          const bool own = place.first == top;
          if (m_named.contains(place))
            named.emplace_back(std::move(place), own ? line.function : PythonCalls::k_module_level);
        });
      });
    }
  }
  std::vector<std::string> loaded;
  for_each_loaded(text, [&](std::string_view word) { loaded.emplace_back(word); });

  const std::lock_guard lock(m_mutex);
  for (const auto& [place, tried] : imports) (tried ? m_modules[place].tried : m_modules[place].plain) = true;
  for (const auto& [place, function] : named) m_named[place].insert(function);
  if (follows) m_calls[top].add(calls);
  m_imported.insert(imported.begin(), imported.end());
  m_loaded.insert(loaded.begin(), loaded.end());
}

bool PythonUse::is_tried_only(const std::string& path) const {
  const auto found = m_modules.find(Place(top_folder(path), module_name(path)));
  return found != m_modules.end() && found->second.tried && !found->second.plain;
}

bool PythonUse::is_out_of_reach(const std::string& path) const {
  const std::string_view folder = folder_part(path);
  if (folder.empty() || folder.ends_with("/platlib") || folder.ends_with("/purelib")) return false;
  // If there is no __init__.py at all, folders are packages without one.
  if (m_packages.empty() || m_packages.contains(std::string(folder))) return false;
  const auto found = m_modules.find(Place(top_folder(path), module_name(path)));
  return found != m_modules.end() && !found->second.tried && !found->second.plain;
}

void PythonUse::finish() {
  for (auto& [top, calls] : m_calls) calls.finish();
}

PythonUse::Named PythonUse::named(const std::string& path) const {
  const auto found = m_named.find(Place(top_folder(path), library_stem(path)));
  if (found == m_named.end() || found->second.empty()) return Named::no;
  const auto calls = m_calls.find(std::string(top_folder(path)));
  const bool at_import =
      calls == m_calls.end() || std::any_of(found->second.begin(), found->second.end(),
                                            [&](PythonCalls::Name function) { return calls->second.is_run(function); });
  return at_import ? Named::at_import : Named::later;
}

}  // namespace wheelsmith::wheel
