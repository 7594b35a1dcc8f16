#pragma once

#include "base/sink.h"
#include "rocm/devel_tar.h"

namespace wheelsmith::rocm {

// The tar packed by xz, several blocks at a time; the same bytes however many threads there are.
void write_xz(const DevelTar& tar, unsigned threads, Sink& sink);

}  // namespace wheelsmith::rocm
