#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::governor {

// Adds the files that a preprocessed text came from, in order, each once: from lines like `# 12 "a/b.h" 1 3`.
void add_files(std::string_view text, std::vector<std::string>& files);

// The dependency file that nvcc would write.
std::string nvcc_dependencies(std::string_view target, std::string_view source, const std::vector<std::string>& files,
                              bool phony);

}  // namespace wheelsmith::governor
