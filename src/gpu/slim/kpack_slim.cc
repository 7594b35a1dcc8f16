#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/endian.h"
#include "base/error.h"
#include "gpu/code/kpack.h"
#include "gpu/slim/bundle_entries.h"
#include "gpu/slim/containers.h"

// kpack archives. Builds put one architecture into each, so an archive stays or goes as a whole: it goes if none of its
// code objects is for a kept GPU.

namespace wheelsmith::gpu {

void slim_kpack(Bytes archive, const KeepSet& keep, Slimmed& result, ChangeTally& tally) {
  const KpackContents contents = read_kpack(archive);
  std::vector<CodePiece> pieces;
  for (const HipCodeObject& object : contents.objects) pieces.push_back({amd_arch(object.target), CodeKind::hip});
  const bool drop = !pieces.empty() && contents.problems.empty() && keep.names(Vendor::amd) &&
                    std::ranges::none_of(pieces, [&](const CodePiece& piece) { return is_useful(piece, keep); });
  for (std::size_t i = 0; i < pieces.size(); ++i) tally.add("", pieces[i], contents.objects[i].bytes, !drop);
  note_devices(pieces, keep, result);
  result.changed = result.empty = drop;
}

std::vector<std::string> prove_kpack(Bytes original, Bytes slimmed) {
  if (original.text() == slimmed.text()) return {};
  return {"archives are kept or dropped as a whole"};
}

}  // namespace wheelsmith::gpu
