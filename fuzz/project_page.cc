// module: pep
// Project pages: the first byte selects the format. All results must be safe as file names and URLs.

#include "pep/project/project_page.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool json = text.starts_with('{');
  try {
    const std::string url = "https://index.example/simple/demo/";
    const pep::ProjectPage page = json ? pep::parse_project_json(text, url) : pep::parse_project_html(text, url);
    for (const pep::ProjectFile& file : page.files) {
      if (!pep::is_safe_file_name(file.name) || file.url.find_first_of("#\n\r\" ") != std::string::npos) std::abort();
      (void)pep::sdist_version(file.name, "demo");
      // Absolute URLs stay unchanged.
      if (pep::resolve_url(url, file.url) != pep::resolve_url(file.url, file.url)) std::abort();
    }
  } catch (const Error&) {}
  return 0;
}
