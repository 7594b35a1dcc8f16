// module: surgery
// A wheel as the input of operations: what can be opened is drafted, changed and written, and what is written opens
// again. The wheel is compared with itself and with what was written.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "surgery/draft.h"
#include "surgery/metadata_text.h"
#include "wheel/compare/diff.h"

using namespace wheelsmith;

namespace {

// Bytes that a writer may change after it wrote them.
class Memory final : public Sink {
 public:
  void write(Bytes bytes) override { text += bytes.text(); }
  std::string text;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  const std::string edited = surgery::edit_metadata_text(
      bytes.text(), [](std::string_view, std::string_view) { return std::optional<std::string>(); });
  if (edited != bytes.text()) std::abort();
  try {
    const surgery::InputWheel input("demo-1.0-cp311-cp311-linux_x86_64.whl", Blob{nullptr, bytes});
    surgery::Draft draft(input, "fuzz");
    draft.set_project("demo", "2.0");
    draft.name().build = "1";
    draft.put_text("demo/added.py", "x = 1\n");
    Memory made;
    const std::uint64_t written = draft.write(
        made,
        [&](std::uint64_t offset, Bytes part) { made.text.replace(offset, part.size(), std::string(part.text())); },
        {});
    if (written != made.text.size()) std::abort();
    const surgery::InputWheel again(draft.name().to_string(), Blob{nullptr, Bytes(made.text)});
    if (again.distribution().dist_info != "demo-2.0.dist-info") std::abort();
    const wheel::DiffSide left{&input.tree(), &input.archive(), bytes, input.path()};
    const wheel::DiffSide right{&again.tree(), &again.archive(), Bytes(made.text), again.path()};
    if (!wheel::diff(left, left, {}).equal() || wheel::diff(left, right, {}).equal()) std::abort();
  } catch (const Error&) {  // not a wheel, or one that cannot be copied safely
  }
  return 0;
}
