#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::env {

// A line "name = module:function" of [console_scripts] or [gui_scripts].
struct EntryPoint {
  std::string name, module, function;
};

// entry_points.txt is an INI file written by somebody else, and its words end up in a program: what is no name of a
// file or no dotted Python name is an Error. Sections other than the two are passed over. Sorted by name.
std::vector<EntryPoint> parse_entry_points(std::string_view text);

// The first line of a script for that interpreter. The kernel takes a path without blanks and of a bounded length; for
// any other the line starts a shell that starts the interpreter, in words that are a string to Python.
std::string shebang(const std::filesystem::path& python);

// The program that calls the function.
std::string entry_point_script(const EntryPoint& point, const std::filesystem::path& python);

// A script of the wheel with "#!python" or "#!pythonw" as its first line, made to start that interpreter; any other
// script as it is.
std::string rewritten_script(std::string_view script, const std::filesystem::path& python);

}  // namespace wheelsmith::env
