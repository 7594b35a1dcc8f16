#include "governor/parts/line_markers.h"

#include <unordered_set>

namespace wheelsmith::governor {

namespace {

// The name in `# 12 "name" 1 3`; "" for any other line, and for <built-in>.
std::string file_of_marker(std::string_view line) {
  std::size_t at = 2;
  while (at < line.size() && line[at] >= '0' && line[at] <= '9') ++at;
  if (at == 2 || at + 1 >= line.size() || line[at] != ' ' || line[at + 1] != '"') return {};
  std::string name;
  for (at += 2; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] == '\\' && at + 1 < line.size()) ++at;
    name += line[at];
  }
  return at == line.size() || name.starts_with('<') ? std::string() : name;
}

std::string quoted_for_nvcc(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == ' ') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

void add_files(std::string_view text, std::vector<std::string>& files) {
  std::unordered_set<std::string> known(files.begin(), files.end());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = text.substr(at, end == text.npos ? text.npos : end - at);
    if (line.starts_with("# ")) {
      std::string name = file_of_marker(line);
      if (!name.empty() && known.insert(name).second) files.push_back(std::move(name));
    }
    if (end == text.npos) break;
    at = end + 1;
  }
}

std::string nvcc_dependencies(std::string_view target, std::string_view source, const std::vector<std::string>& files,
                              bool phony) {
  std::string text = std::string(target) + " : " + quoted_for_nvcc(source);
  for (const std::string& file : files) {
    if (file != source) text += " \\\n    " + quoted_for_nvcc(file);
  }
  text += '\n';
  for (const std::string& file : files) {
    if (phony && file != source) text += "\n" + quoted_for_nvcc(file) + ":\n";
  }
  return text;
}

}  // namespace wheelsmith::governor
