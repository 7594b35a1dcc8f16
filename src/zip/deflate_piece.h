#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace wheelsmith::zip {

// A piece of a deflate stream: put behind one another, the pieces of some contents are one stream of them all. Only the
// last one ends it. The same bytes and level always give the same piece. Throws Error.
Blob deflate_piece(Bytes contents, int level, bool last);

// Whether deflate would gain next to nothing: told by a few samples. What is packed already (zstd, xz, GPU code in
// .kpack archives) costs as much time as anything else and gives nothing back.
bool is_packed_already(Bytes contents);

}  // namespace wheelsmith::zip
