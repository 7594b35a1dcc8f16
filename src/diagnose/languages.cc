#include "base/text.h"
#include "diagnose/line.h"

namespace wheelsmith::diagnose {

namespace data {
extern const std::string_view languages_tsv;
}

const std::vector<std::pair<std::string_view, std::string_view>>& translations() {
  static const std::vector<std::pair<std::string_view, std::string_view>> all = [] {
    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    for (const std::string_view line : lines(data::languages_tsv)) {
      const std::size_t tab = line.find('\t');
      if (!line.starts_with('#') && tab != line.npos) pairs.emplace_back(line.substr(0, tab), line.substr(tab + 1));
    }
    return pairs;
  }();
  return all;
}

std::string in_english(std::string_view line) {
  std::string text(line);
  for (const auto& [words, english] : translations()) {
    for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + english.size()))
      text.replace(at, words.size(), english);
  }
  return text;
}

}  // namespace wheelsmith::diagnose
