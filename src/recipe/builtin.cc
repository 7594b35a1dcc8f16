#include "recipe/builtin.h"

namespace wheelsmith::recipe {

namespace data {
extern const std::string_view flash_attn_toml, texture_toml, texture_torch_toml, wheelsmith_toml;
}  // namespace data

std::vector<std::pair<std::string_view, std::string_view>> builtin_recipes() {
  return {{"flash-attn.toml", data::flash_attn_toml},
          {"texture.toml", data::texture_toml},
          {"texture-torch.toml", data::texture_torch_toml},
          {"wheelsmith.toml", data::wheelsmith_toml}};
}

}  // namespace wheelsmith::recipe
