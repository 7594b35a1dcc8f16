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

// entry_points.txt is an INI file from a foreign package, and its content ends up in a program: a name that is not a
// valid file name or dotted Python name is an Error. Other sections are ignored. Sorted by name.
std::vector<EntryPoint> parse_entry_points(std::string_view text);

// The first line of a script for that interpreter. The kernel accepts a path without blanks and of limited length; for
// other paths the line starts a shell that starts the interpreter, written so that Python reads it as a string.
std::string shebang(const std::filesystem::path& python);

// The program that calls the function.
std::string entry_point_script(const EntryPoint& point, const std::filesystem::path& python);

// A script of the wheel whose first line is "#!python" or "#!pythonw", adapted to that interpreter; other scripts
// unchanged.
std::string rewritten_script(std::string_view script, const std::filesystem::path& python);

}  // namespace wheelsmith::env
