// Demangling with a limit. Back references let a few hundred hostile bytes demangle to gigabytes, and the usual
// __cxa_demangle allocates them all and takes minutes. The lower-level demangler in libstdc++ emits its text in pieces
// and keeps its own memory on the stack, so the callback can simply jump out when the text becomes too long. That
// function is only in the static library: all Wheelsmith programs link libstdc++ statically.

#include <csetjmp>
#include <cstddef>
#include <string>

#include "base/text.h"

extern "C" int __gcclibcxx_demangle_callback(const char* mangled, void (*callback)(const char*, std::size_t, void*),
                                             void* opaque);

namespace wheelsmith {

namespace {

constexpr std::size_t k_longest_symbol = 16384;  // the demangler's stack use grows with its input
constexpr std::size_t k_longest_name = 65536;

struct Collector {
  std::jmp_buf too_long;
  std::string name;
};

void collect(const char* text, std::size_t size, void* opaque) {
  auto& collector = *static_cast<Collector*>(opaque);
  if (size > k_longest_name - collector.name.size()) std::longjmp(collector.too_long, 1);
  collector.name.append(text, size);
}

}  // namespace

std::optional<std::string> demangle(std::string_view symbol) {
  if (!symbol.starts_with("_Z") || symbol.size() > k_longest_symbol) return std::nullopt;
  const std::string mangled(symbol);
  Collector collector;
  if (setjmp(collector.too_long) != 0) return std::nullopt;
  if (__gcclibcxx_demangle_callback(mangled.c_str(), collect, &collector) != 0) return std::nullopt;
  return std::move(collector.name);
}

}  // namespace wheelsmith
