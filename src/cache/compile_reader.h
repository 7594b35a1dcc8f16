#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cache/compile.h"

// Reading a compile's command line. Only src/cache includes this.

namespace wheelsmith::cache {

// The reason why a command cannot be cached, thrown by the reader.
struct Refusal {
  std::string why;
};

// Common to all compilers: collecting inputs, and finishing.
class CompileReader {
 public:
  CompileReader(const CompileRequest& request, const FileQuestions& files) : m_request(request), m_files(files) {}
  virtual ~CompileReader() = default;
  CompileReader(const CompileReader&) = delete;
  CompileReader& operator=(const CompileReader&) = delete;

  // Throws Refusal.
  Compile read();

 protected:
  virtual void option(const std::vector<std::string>& words, std::size_t& at) = 0;
  virtual void finish() = 0;
  virtual void read_environment() = 0;

  void read_words(const std::vector<std::string>& words, unsigned depth);
  // The value of an option: after '=' or attached to it, otherwise the next argument.
  std::string value(std::string_view option, const std::vector<std::string>& words, std::size_t& at) const;
  void add_search(std::string_view kind, std::string_view folder);
  void add_word(std::string word) { m_compile.words.push_back(std::move(word)); }
  // An unknown option: it counts as written, and so does the content of a file that it names.
  void add_unknown(const std::string& word);
  [[nodiscard]] std::string variable(std::string_view name) const;
  void refuse_if_listed(std::string_view word, const std::vector<std::string_view>& exact,
                        const std::vector<std::string_view>& prefixes) const;

  const CompileRequest& m_request;
  const FileQuestions& m_files;
  Compile m_compile;
  std::vector<std::string> m_targets;
  bool m_from_file = false;  // the argument comes from a response file
  bool m_compiles = false;   // -c
  bool m_debug = false;      // the folder appears in the object
  bool m_replace_mmd = false;
  std::string m_output, m_dependency_file;
  unsigned m_sources = 0;
  std::size_t m_words_read = 0, m_files_read = 0;  // a response file may name itself many times
};

Compile read_nvcc_compile(const CompileRequest& request, const FileQuestions& files);

}  // namespace wheelsmith::cache
