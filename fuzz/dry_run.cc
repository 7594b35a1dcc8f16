// module: governor
// What nvcc says that it would run, as a graph.

#include "governor/parts/dry_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "governor/parts/clang_jobs.h"
#include "governor/parts/line_markers.h"
#include "governor/parts/shell_words.h"
#include "governor/shim/part_task.h"

using namespace wheelsmith;
using namespace wheelsmith::governor;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = read_dry_run(text);
  if (const auto* graph = std::get_if<PartGraph>(&read)) {
    // Every file is made before it is read, only temporary ones are mentioned by place, and there is one result.
    std::set<std::string> made;
    for (const Part& part : graph->parts) {
      for (const std::string& name : part.reads) {
        if (!made.contains(name)) std::abort();
      }
      for (const std::string& name : part.writes) {
        if (name.empty() || name.find('/') != name.npos || !made.insert(name).second) std::abort();
      }
      const bool last = &part == &graph->parts.back();
      if (last == part.output.empty() && part.kind != PartKind::dependencies) std::abort();
      for (const std::string& word : argv_in(part.argv, "/t")) {
        if (word.find("tmpxft_") != word.npos) std::abort();
      }
      if (part_unit(part, {}).size() != 32) std::abort();
    }
  }
  const auto jobs = read_clang_jobs(text);
  if (const auto* graph = std::get_if<PartGraph>(&jobs); graph != nullptr && graph->parts.back().output.empty())
    std::abort();
  (void)offload_request({"clang", "-x", "hip", std::string(text)}, "gfx90a", "o", "d");
  (void)shell_words(text, {{"A", "b"}});
  std::vector<std::string> files;
  add_files(text, files);
  (void)nvcc_dependencies("t", "s", files, true);
  try {
    const PartResult result = PartResult::from_bytes(text);
    if (PartResult::from_bytes(result.to_bytes()).to_bytes() != result.to_bytes()) std::abort();
  } catch (const Error&) {  // not a result
  }
  return 0;
}
