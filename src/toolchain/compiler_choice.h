#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "toolchain/toolchain.h"

namespace wheelsmith::toolchain {

// The C and C++ compiler programs, before either is queried.
struct CompilerChoice {
  std::filesystem::path cc, cxx;   // absolute; cc may be empty
  Origin origin = Origin::system;  // setting, conda, system
};

// Throws Error when a program that the user named does not exist.
std::optional<CompilerChoice> choose_compiler(const Host& where);

// "g++-13" for "gcc-13", "x86_64-conda-linux-gnu-c++" for "…-cc"; "" for other names.
std::string cxx_name_of(std::string_view cc_name);
std::string cc_name_of(std::string_view cxx_name);

}  // namespace wheelsmith::toolchain
