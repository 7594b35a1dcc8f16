// The lower bound for `inspect`: inflates the ELF members of a wheel with libdeflate and discards them. No CRC, no
// parsing, plain allocation for each member. `make bench` divides our time by this program's.
//   inflate_elf WHEEL [THREADS]

#include <libdeflate.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "sys/file.h"
#include "zip/archive.h"

namespace {

using wheelsmith::Bytes;
using wheelsmith::zip::Archive;
using wheelsmith::zip::Entry;
using wheelsmith::zip::Method;

std::vector<const Entry*> elf_members(const Archive& archive) {
  std::vector<const Entry*> members;
  for (const Entry& entry : archive.entries()) {
    if (!entry.is_folder() && archive.peek(entry, 4) == "\177ELF") members.push_back(&entry);
  }
  // Largest first: otherwise one thread would work alone at the end.
  std::sort(members.begin(), members.end(), [](const Entry* a, const Entry* b) { return a->size > b->size; });
  return members;
}

void inflate(const Archive& archive, const Entry& entry) {
  if (entry.method != static_cast<std::uint16_t>(Method::deflated)) return;
  const Bytes packed = archive.packed(entry);
  const std::unique_ptr<void, decltype(&std::free)> target(std::malloc(entry.size), &std::free);
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  const libdeflate_result result =
      libdeflate_deflate_decompress(decompressor, packed.data(), packed.size(), target.get(), entry.size, nullptr);
  libdeflate_free_decompressor(decompressor);
  if (result != LIBDEFLATE_SUCCESS) throw wheelsmith::Error(entry.name + ": cannot be inflated");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    const wheelsmith::Blob file = wheelsmith::sys::map_file(argv[1]);
    const Archive archive = Archive::open(file.bytes);
    const std::vector<const Entry*> members = elf_members(archive);
    const unsigned threads = argc > 2 ? static_cast<unsigned>(std::stoul(argv[2])) : wheelsmith::usable_threads();
    wheelsmith::parallel_for(members.size(), threads, [&](std::size_t i) { inflate(archive, *members[i]); });
    std::printf("%zu members\n", members.size());
    return members.empty() ? 1 : 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "inflate_elf: %s\n", e.what());
    return 1;
  }
}
