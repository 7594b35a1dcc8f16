// module: fetch
// pip.conf; and curl's output, which ends with text chosen by the server.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "fetch/curl.h"
#include "fetch/ini.h"
#include "fetch/part_file.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const fetch::IniEntry& entry : fetch::parse_ini(text, "pip.conf")) {
      if (entry.key.empty() || entry.key.find('=') != std::string::npos) std::abort();
      // Displayed text contains no user name.
      const std::string shown = fetch::without_credentials(entry.value);
      if (fetch::origin_of(shown).find('@') != std::string::npos) std::abort();
      fetch::Transfer transfer;
      transfer.url = entry.value;
      const std::string config = fetch::curl_config(transfer, {});
      if (config.find("\noutput = \"\"\n") == std::string::npos) std::abort();
    }
  } catch (const Error&) {}
  fetch::Transferred result;
  fetch::read_curl_output(text, result);
  (void)fetch::content_length(text);
  return 0;
}
