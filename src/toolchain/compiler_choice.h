#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "toolchain/toolchain.h"

namespace wheelsmith::toolchain {

// Which programs are the C and C++ compiler, before either is asked what it is.
struct CompilerChoice {
  std::filesystem::path cc, cxx;   // absolute; cc may be empty
  Origin origin = Origin::system;  // setting, conda, system
};

// Throws Error when a program that the user named is not there.
std::optional<CompilerChoice> choose_compiler(const Host& where);

// "g++-13" for "gcc-13", "x86_64-conda-linux-gnu-c++" for "…-cc"; "" for a name of another kind.
std::string cxx_name_of(std::string_view cc_name);
std::string cc_name_of(std::string_view cxx_name);

}  // namespace wheelsmith::toolchain
