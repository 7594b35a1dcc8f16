#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pep/variant_file.h"
#include "surgery/draft.h"
#include "surgery/input_wheel.h"
#include "surgery/item.h"

namespace wheelsmith::surgery {

struct VariantRequest {
  std::optional<pep::VariantDialect> dialect;  // none: make a wheel without a label
  std::string label;                           // "": chosen from the properties
  // Added to those of the binaries; a feature that is given here replaces the one that was found.
  pep::VariantProperties properties;
};

// Throws Error; RequestError for an invalid label.
void make_variant(InputWheel& input, const VariantRequest& request, const WriteOptions& options, Item& item);

// Makes the draft a variant wheel: file name and variant.json.
void set_variant(Draft& draft, pep::VariantDialect dialect, const std::string& label,
                 const pep::VariantProperties& properties);

// "cuda13.0", "rocm7.1", "sm90", "gfx942", "x86_64_v3", "null"; at most 16 characters.
std::string variant_label(const pep::VariantProperties& properties);

}  // namespace wheelsmith::surgery
