// Replaces gpu.cu in the variant without GPU code.
#include <stdexcept>

#include "texture.h"

namespace texture::gpu {
namespace {
constexpr const char* k_reason = "this build of texture has no GPU code";
}

std::string name(std::string& reason) {
  reason = k_reason;
  return {};
}
void rgb_to_lab(const Picture&, float*) { throw std::runtime_error(k_reason); }
void sobel(const Picture&, uint8_t*) { throw std::runtime_error(k_reason); }

}  // namespace texture::gpu
