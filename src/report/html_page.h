#pragma once

#include <string>
#include <string_view>

#include "document/value.h"

namespace wheelsmith::report {

// A page in one file: a template with the places @POLICY@, @STYLE@, @VERSION@, @DATA@ and @SCRIPT@ in this order, its
// style sheet, its script, and the document that the script displays. See html_page.cc.
std::string html_page(std::string_view page_template, std::string_view style, std::string_view script,
                      const document::Value& document);

}  // namespace wheelsmith::report
