#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "governor/model/unit.h"

// What single words of a compiler's command line mean.

namespace wheelsmith::governor::words {

// By its ending; what has none that is known counts as input of a link.
bool is_source(std::string_view word);
// Options that make the compiler answer instead of compile.
bool is_question(std::string_view word, Kind kind);
// "-t", "-t=4", "-t4" for the short one; "--threads", "--threads=4" for the long one.
bool takes(std::string_view word, std::initializer_list<std::string_view> options);
// The option's name when it only says where things are (-I, -L, -MF, -ccbin): it takes a value, its own or the next
// word, and decides neither memory nor time. Empty for all others.
std::string_view place_option(std::string_view word);
// Whether the next word belongs to this one.
bool takes_next(std::string_view word);
// "-DHOME=/a/b,c" is "-DHOME=b,c": of each path the last part.
std::string without_paths(std::string_view word);
// "flash_fwd_hdim128_bf16.cu" is "flash_fwd_hdim#.cu": numbers are #, names of number types are left out.
std::string without_parameters(std::string_view name);

}  // namespace wheelsmith::governor::words
