#pragma once

#include "document/table_reader.h"

// Recipes are read by the reader of all strict documents.

namespace wheelsmith::recipe {

using document::Pairs;
using document::Problems;
using document::suggestion;
using document::TableReader;
using document::TextCheck;

}  // namespace wheelsmith::recipe
