// Called by the Python module, which checks sizes: 0 < width, height, and channels is 1 (gray) or 3 (RGB).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace texture {

struct Picture {
  const uint8_t* pixels;
  ptrdiff_t width, height, channels;

  ptrdiff_t size() const { return width * height; }
};

namespace cpu {
void rgb_to_lab(const Picture& rgb, float* lab);
void sobel(const Picture& picture, uint8_t* edges);
}  // namespace cpu

// Throws std::runtime_error with the driver's message.
namespace gpu {
// Of the current device; empty, with the reason, without a GPU that this code was compiled for.
std::string name(std::string& reason);
void rgb_to_lab(const Picture& rgb, float* lab);
void sobel(const Picture& picture, uint8_t* edges);
}  // namespace gpu

}  // namespace texture
