#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace wheelsmith::wheel {

// What the build of another package can see of a wheel: if two wheels have equal interfaces, a build against either
// gives the same result. Left out are the code in shared libraries (host and device) and the records of the wheel's own
// build; whatever this module does not understand counts with all its bytes.
struct Interface {
  using Files = std::map<std::string, std::string>;  // name -> SHA-256
  Files headers;                                     // C, C++ and CUDA headers, by their paths in site-packages
  // All other files. A shared library counts with its symbols, versions and library names; extension modules,
  // executables, static libraries and text count with their bytes.
  Files others;

  friend bool operator==(const Interface&, const Interface&) = default;
};

// `bytes`: a wheel, untrusted. Throws Error if it cannot be read.
Interface read_interface(Bytes bytes, unsigned threads);

// The part of a shared library that linkers and loaders see, as text; "" for every other file. Functions count without
// their sizes, data with them.
std::string library_interface(std::string_view name, Bytes bytes);

}  // namespace wheelsmith::wheel
