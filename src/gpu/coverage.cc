#include "gpu/coverage.h"

#include <algorithm>
#include <set>

namespace wheelsmith::gpu {

namespace {

using State = Coverage::State;

// The code covers everything that the request means: without a suffix all newer devices (for PTX), with "f" the family,
// with "a" one device.
bool reaches_as_far(const Arch& code, const ArchRequest& request) {
  const std::string& wanted = request.arch.suffix;
  if (code.suffix.empty() || wanted == "a") return true;
  if (wanted == "f") return code.suffix == "f";
  return request.binary;
}

State state_of(const CodePiece& piece, const ArchRequest& request) {
  const CodeKind asked = request.arch.vendor == Vendor::amd ? CodeKind::hip
                         : request.binary                   ? CodeKind::sass
                                                            : CodeKind::ptx;
  if (piece.kind == asked && piece.arch == request.arch) return State::exact;
  const Fit reached = fit(piece.arch, piece.kind, request.arch);
  if (reached == Fit::none || !reaches_as_far(piece.arch, request)) return State::missing;
  if (reached == Fit::native) return piece.kind == asked ? State::compatible : State::missing;
  return asked == CodeKind::ptx ? State::compatible : State::jit;
}

bool is_generic(const Arch& arch) { return arch.target.ends_with("-generic"); }

// Of two pieces in the same state, the one closer to the request: a processor's own code before generic code, newer
// before older.
bool is_nearer(const Arch& a, const Arch& b) {
  if (is_generic(a) != is_generic(b)) return is_generic(b);
  return a > b;
}

template <typename StateOf>
Coverage::Item best(std::span<const CodePiece> pieces, const ArchRequest& request, const StateOf& state_of_piece) {
  Coverage::Item item{request, State::missing, {}};
  const CodePiece* chosen = nullptr;
  for (const CodePiece& piece : pieces) {
    const State state = state_of_piece(piece);
    if (state == State::missing || state > item.state) continue;
    if (state == item.state && !is_nearer(piece.arch, chosen->arch)) continue;
    item.state = state;
    chosen = &piece;
  }
  if (chosen != nullptr) item.by = display_name(chosen->arch, chosen->kind);
  return item;
}

std::vector<std::string> names_of(const std::set<CodePiece>& pieces) {
  std::vector<std::string> names;
  std::set<std::string> seen;  // SASS and LTO IR of one architecture share a name
  for (const CodePiece& piece : pieces) {
    const std::string name = display_name(piece.arch, piece.kind);
    if (seen.insert(name).second) names.push_back(name);
  }
  return names;
}

bool is_asked_by_name(const CodePiece& piece, const ArchList& wanted) {
  return std::ranges::any_of(wanted.requests, [&](const ArchRequest& request) {
    return request.arch == piece.arch && (piece.kind == CodeKind::ptx ? request.ptx : request.binary);
  });
}

}  // namespace

Coverage cover(std::span<const CodePiece> pieces, const ArchList& wanted) {
  Coverage coverage;
  for (const ArchRequest& request : wanted.requests) {
    for (const bool binary : {true, false}) {
      if (binary ? !request.binary : !request.ptx) continue;
      const ArchRequest form{request.arch, binary, !binary};
      coverage.items.push_back(best(pieces, form, [&](const CodePiece& piece) { return state_of(piece, form); }));
    }
  }
  std::set<CodePiece> unasked;
  for (const CodePiece& piece : pieces) {
    const std::string name = display_name(piece.arch, piece.kind);
    const bool serves =
        std::ranges::any_of(coverage.items, [&](const Coverage::Item& item) { return item.by == name; });
    if (!serves && !is_asked_by_name(piece, wanted)) unasked.insert(piece);
  }
  coverage.unasked = names_of(unasked);
  return coverage;
}

Coverage cover(std::span<const CodePiece> pieces, const Device& device) {
  const auto processor = [](const Arch& arch) { return arch.target.substr(0, arch.target.find(':')); };
  const auto state = [&](const CodePiece& piece) {
    const Fit reached = fit(piece.arch, piece.kind, device.arch);
    if (reached == Fit::none) return State::missing;
    if (reached == Fit::jit) return State::jit;
    const bool own = piece.arch.number == device.arch.number && processor(piece.arch) == processor(device.arch);
    return own ? State::exact : State::compatible;
  };
  Coverage coverage;
  coverage.items.push_back(best(pieces, {device.arch, true, false}, state));
  std::set<CodePiece> unasked;
  for (const CodePiece& piece : pieces) {
    if (state(piece) == State::missing) unasked.insert(piece);
  }
  coverage.unasked = names_of(unasked);
  return coverage;
}

}  // namespace wheelsmith::gpu
