// The GPU code. For ROCm, torch's build translates this file itself. ATen's own CUDA headers are avoided: they need
// those of cuSPARSE, cuBLAS and cuSOLVER, which a small toolkit does not have.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include "operators.h"
#include "pixels.h"

namespace texture {
namespace {

at::Tensor rgb_to_lab_cuda(const at::Tensor& image) {
  const at::Tensor rgb = checked(image, false);
  const c10::cuda::CUDAGuard on(rgb.device());
  at::Tensor lab = at::empty(rgb.sizes(), rgb.options().dtype(at::kFloat));
  const int64_t pixels = rgb.numel() / 3;
  lab_kernel<<<blocks_for(pixels), k_block, 0, c10::cuda::getCurrentCUDAStream()>>>(
      k_light, rgb.const_data_ptr<uint8_t>(), lab.mutable_data_ptr<float>(), pixels);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return lab;
}

at::Tensor sobel_cuda(const at::Tensor& image) {
  at::Tensor grays = checked(image, true);
  const c10::cuda::CUDAGuard on(grays.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  const int64_t height = grays.size(0), width = grays.size(1), pixels = height * width;
  if (grays.dim() == 3) {
    at::Tensor plane = at::empty({height, width}, grays.options());
    gray_kernel<<<blocks_for(pixels), k_block, 0, stream>>>(grays.const_data_ptr<uint8_t>(),
                                                            plane.mutable_data_ptr<uint8_t>(), pixels);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    grays = plane;
  }
  at::Tensor edges = at::empty_like(grays);
  edge_kernel<<<blocks_for(pixels), k_block, 0, stream>>>(grays.const_data_ptr<uint8_t>(),
                                                          edges.mutable_data_ptr<uint8_t>(), width, height);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return edges;
}

}  // namespace
}  // namespace texture

TORCH_LIBRARY_IMPL(texture, CUDA, library) {
  library.impl("rgb_to_lab", &texture::rgb_to_lab_cuda);
  library.impl("sobel", &texture::sobel_cuda);
}
