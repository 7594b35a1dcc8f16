#pragma once

#include <string>
#include <string_view>
#include <vector>

// Facts about a Python program without running it. The text is untrusted.

namespace wheelsmith::recipe {

struct PythonText {
  struct Literal {
    std::string text;
    bool argument = false;  // the first of a call, or a subscript: getenv("X"), environ["X"]
  };
  std::vector<std::string> imports;  // top-level modules imported outside of functions and classes
  std::vector<Literal> literals;     // texts in quotes, in order; at most 20,000 of them and none over 200 bytes
};
PythonText read_python(std::string_view text);

}  // namespace wheelsmith::recipe
