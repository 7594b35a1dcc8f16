#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace wheelsmith::plan {

// The notes of a plan, without duplicates, in order of occurrence.
class Notes {
 public:
  void add(const std::string& sentence) {
    if (std::find(m_sentences.begin(), m_sentences.end(), sentence) == m_sentences.end())
      m_sentences.push_back(sentence);
  }
  void add(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) add(sentence);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(m_sentences); }

 private:
  std::vector<std::string> m_sentences;
};

}  // namespace wheelsmith::plan
