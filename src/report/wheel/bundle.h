#pragma once

#include <string>

#include "bundle/make_bundle.h"

namespace wheelsmith::report {

std::string bundled_wheel_text(const bundle::BundledWheel& made);
std::string bundled_wheel_json(const bundle::BundledWheel& made);

}  // namespace wheelsmith::report
