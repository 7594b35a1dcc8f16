#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith {

std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);
// The parts between separators, empty ones included: split("a,,b", ',') is {"a", "", "b"}; split("", ',') is {""}.
std::vector<std::string_view> split(std::string_view text, char separator);
// The lines without their ends (\n or \r\n); a last line without an end counts, an empty rest does not.
std::vector<std::string_view> lines(std::string_view text);
// The views would outlive a temporary: for (… : lines(read_file(path))) reads freed memory.
template <std::same_as<std::string> Text>
void split(Text&& text, char separator) = delete;
template <std::same_as<std::string> Text>
void lines(Text&& text) = delete;
std::string join(std::span<const std::string> parts, std::string_view separator);

bool is_one_of(std::string_view word, std::span<const std::string_view> words);
bool is_one_of(std::string_view word, std::span<const std::string> words);
// At least one digit and nothing else.
bool is_digits(std::string_view text);

// The last part of a path with '/' between its parts.
std::string_view base_name(std::string_view path);

// The whole text as an unsigned number, or nothing (empty, signs, blanks, overflow).
std::optional<std::uint64_t> to_number(std::string_view text);

bool is_valid_utf8(std::string_view text);
// The text with every invalid UTF-8 byte replaced by U+FFFD.
std::string to_valid_utf8(std::string_view text);
// The text as a terminal may safely show it: control characters and invalid UTF-8 become visible escapes.
std::string printable(std::string_view text);

// "3 B", "4.2 kB", "1.3 GB": powers of 1000, as for disks and package indexes.
std::string human_bytes(std::uint64_t bytes);

// "1 file", "2 files".
std::string counted(std::uint64_t count, std::string_view noun);

// Replaces every `from` by `to`, without rescanning the result.
void replace_all(std::string& text, std::string_view from, std::string_view to);

// Shell patterns: '*' and '?' match anything, '/' and dots too; [abc], [a-z] and [!a] match one character.
bool glob_match(std::string_view pattern, std::string_view text);

// The candidate closest to the word, if close enough for a suggestion.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

// The demangled C++ name, or nothing if the symbol is not mangled or the result would be too long (250 hostile bytes
// can demangle to 570 MB).
std::optional<std::string> demangle(std::string_view symbol);

}  // namespace wheelsmith
