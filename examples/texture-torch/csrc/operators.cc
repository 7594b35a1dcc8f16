// The operators' schemas and their CPU code.
#include "operators.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

#include "pixels.h"

namespace texture {
namespace {

at::Tensor rgb_to_lab_cpu(const at::Tensor& image) {
  const at::Tensor rgb = checked(image, false);
  at::Tensor lab = at::empty(rgb.sizes(), rgb.options().dtype(at::kFloat));
  const uint8_t* in = rgb.const_data_ptr<uint8_t>();
  float* out = lab.mutable_data_ptr<float>();
  for (int64_t i = 0; i < rgb.numel(); i += 3) rgb_to_lab(k_light, in + i, out + i);
  return lab;
}

at::Tensor sobel_cpu(const at::Tensor& image) {
  at::Tensor grays = checked(image, true);
  const int64_t height = grays.size(0), width = grays.size(1);
  if (grays.dim() == 3) {
    const uint8_t* rgb = grays.const_data_ptr<uint8_t>();
    at::Tensor plane = at::empty({height, width}, grays.options());
    uint8_t* out = plane.mutable_data_ptr<uint8_t>();
    for (int64_t i = 0; i < height * width; ++i) out[i] = gray(rgb + 3 * i);
    grays = plane;
  }
  at::Tensor edges = at::empty_like(grays);
  const uint8_t* in = grays.const_data_ptr<uint8_t>();
  uint8_t* out = edges.mutable_data_ptr<uint8_t>();
  for (int64_t y = 0; y < height; ++y) edge_row(in, out, width, height, y);
  return edges;
}

}  // namespace
}  // namespace texture

TORCH_LIBRARY(texture, library) {
  library.def("rgb_to_lab(Tensor image) -> Tensor");
  library.def("sobel(Tensor image) -> Tensor");
}

TORCH_LIBRARY_IMPL(texture, CPU, library) {
  library.impl("rgb_to_lab", &texture::rgb_to_lab_cpu);
  library.impl("sobel", &texture::sobel_cpu);
}
