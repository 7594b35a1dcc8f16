#include "recipe/builtin.h"

namespace wheelsmith::recipe {

namespace data {
extern const std::string_view aiter_toml, fbgemm_gpu_toml, flash_attn_toml, flash_attn_rocm_toml, pytorch_toml,
    texture_toml, texture_torch_toml, torchaudio_toml, torchvision_toml, triton_toml, vllm_toml, wheelsmith_toml;
}  // namespace data

std::vector<std::pair<std::string_view, std::string_view>> builtin_recipes() {
  return {{"aiter.toml", data::aiter_toml},
          {"fbgemm_gpu.toml", data::fbgemm_gpu_toml},
          {"flash-attn.toml", data::flash_attn_toml},
          {"flash-attn-rocm.toml", data::flash_attn_rocm_toml},
          {"pytorch.toml", data::pytorch_toml},
          {"texture.toml", data::texture_toml},
          {"texture-torch.toml", data::texture_torch_toml},
          {"torchaudio.toml", data::torchaudio_toml},
          {"torchvision.toml", data::torchvision_toml},
          {"triton.toml", data::triton_toml},
          {"vllm.toml", data::vllm_toml},
          {"wheelsmith.toml", data::wheelsmith_toml}};
}

}  // namespace wheelsmith::recipe
