#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/table_reader.h"

// Checks for strings in a recipe. Each returns the problem, or "".

namespace wheelsmith::recipe {

using document::in_quotes;
using document::parse_size;

std::string check_project_name(const std::string& text);
std::string check_version_or_specifiers(const std::string& text);
std::string check_specifiers(const std::string& text);
std::string check_requirement(const std::string& text);
std::string check_variable(const std::string& text);       // [A-Za-z_][A-Za-z0-9_]*
std::string check_word(const std::string& text);           // of settings, targets, tests: letters, digits, - _ .
std::string check_library(const std::string& text);        // "nccl", "cudnn>=8.5"
std::string check_module(const std::string& text);         // "a.b"
std::string check_relative_path(const std::string& text);  // stays inside
std::string check_glob(const std::string& text);
std::string check_relative_glob(const std::string& text);
std::string check_architectures(const std::string& text);
std::string check_git(
    const std::string& text);  // a URL or a ref: nothing that git would take for an option or a program

// The names of the placeholders in the text; `problem` is set for braces that do not match.
std::vector<std::string> placeholders(std::string_view text, std::string& problem);
// What {library.NAME.…} can be: root, include, lib, file.
bool is_library_placeholder(std::string_view name);
// All but set.NAME, fetch.NAME, need.NAME.version and library.NAME.….
const std::vector<std::string>& known_placeholders();

}  // namespace wheelsmith::recipe
