#pragma once

#include <fmt/format.h>
#include <libdeflate.h>

#include <memory>

#include "base/error.h"

// Inside this module only: libdeflate's compressor with an owner.

namespace wheelsmith::zip {

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
};
using Compressor = std::unique_ptr<libdeflate_compressor, FreeCompressor>;

inline Compressor compressor_of(int level) {
  Compressor compressor(libdeflate_alloc_compressor(level));
  if (!compressor) throw Error(fmt::format("cannot deflate at level {}", level));
  return compressor;
}

}  // namespace wheelsmith::zip
