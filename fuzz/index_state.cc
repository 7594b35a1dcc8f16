// module: index
// The cache of `index`: any text is parsed, with its first line and final digest corrected so that parsing gets past
// them; the result must round-trip. The folder's index.toml is untrusted, too.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/hash.h"
#include "index/control.h"
#include "index/state.h"

using namespace wheelsmith;
using namespace wheelsmith::index;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)State::parse(text);
  const std::string body = "wheelsmith-index 1\n" + text;
  const State state = State::parse(body + "end\t" + to_hex(sha256(Bytes(body))) + "\n");
  const State again = State::parse(state.to_text());
  if (again.files.size() != state.files.size() || again.pages != state.pages || again.sidecars != state.sidecars)
    std::abort();
  for (const auto& [path, known] : state.files) {
    const auto found = again.files.find(path);
    if (found == again.files.end() || found->second.stat != known.stat || found->second.facts != known.facts)
      std::abort();
  }
  // TOML has its own target; this one tests the content of the tables.
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  try {
    if (ascii) (void)Control::parse(text);
  } catch (const Error&) {}
  try {
    const FileName name = parse_file_name(text);
    if (name.project.empty() ||
        name.project.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
      std::abort();
  } catch (const Error&) {}
  return 0;
}
