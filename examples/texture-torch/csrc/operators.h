#pragma once
#include <ATen/core/Tensor.h>

namespace texture {

// The picture, contiguous: bytes in height x width x 3 or, where gray is allowed, in height x width.
inline at::Tensor checked(const at::Tensor& image, bool gray_too) {
  TORCH_CHECK(image.scalar_type() == at::kByte, "texture: expected a uint8 picture, not ", image.scalar_type());
  TORCH_CHECK((image.dim() == 3 && image.size(2) == 3) || (gray_too && image.dim() == 2),
              "texture: expected a picture of height x width x 3", gray_too ? " or height x width" : "", ", not ",
              image.sizes());
  TORCH_CHECK(image.numel() > 0, "texture: the picture is empty");
  return image.contiguous();
}

}  // namespace texture
