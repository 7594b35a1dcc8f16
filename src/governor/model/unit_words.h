#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "governor/model/unit.h"

// The meaning of single arguments of a compiler's command line.

namespace wheelsmith::governor::words {

// By its extension; files without a known one are link inputs.
bool is_source(std::string_view word);
// Options that make the compiler print information instead of compiling.
bool is_question(std::string_view word, Kind kind);
// "-t", "-t=4", "-t4" for the short one; "--threads", "--threads=4" for the long one.
bool takes(std::string_view word, std::initializer_list<std::string_view> options);
// The option's name when it only specifies paths (-I, -L, -MF, -ccbin): it takes a value, attached or as the next
// argument, and affects neither memory nor time. Empty for all others.
std::string_view place_option(std::string_view word);
// Whether the next argument belongs to this one.
bool takes_next(std::string_view word);
// "-DHOME=/a/b,c" becomes "-DHOME=b,c": the last component of each path.
std::string without_paths(std::string_view word);
// "flash_fwd_hdim128_bf16.cu" becomes "flash_fwd_hdim#.cu": numbers become #, names of number types are removed.
std::string without_parameters(std::string_view name);

}  // namespace wheelsmith::governor::words
