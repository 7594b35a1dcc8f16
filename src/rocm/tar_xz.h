#pragma once

#include "rocm/devel_tar.h"
#include "sys/files.h"

namespace wheelsmith::rocm {

// The tar packed by xz, several blocks at a time; the same bytes however many threads there are.
void write_xz(const DevelTar& tar, unsigned threads, sys::AtomicFile& file);

}  // namespace wheelsmith::rocm
