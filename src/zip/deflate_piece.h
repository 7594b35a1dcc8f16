#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace wheelsmith::zip {

// A piece of a deflate stream: concatenated, the pieces form one stream. Only the last one ends it. The same bytes and
// level always give the same piece. Throws Error.
Blob deflate_piece(Bytes contents, int level, bool last);

// Whether deflate would gain almost nothing, judged by a few samples. Compressed data (zstd, xz, GPU code in .kpack
// archives) takes as much time as anything else and does not shrink.
bool is_packed_already(Bytes contents);

}  // namespace wheelsmith::zip
