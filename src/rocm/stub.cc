#include "rocm/stub.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "elf/elf_file.h"

namespace wheelsmith::rocm {

namespace data {
extern const std::string_view exec_stub;
}

std::string exec_stub(std::string_view target) {
  constexpr std::string_view k_mark("WS-EXEC-TARGET:\0", 16);
  constexpr std::size_t k_blank = 1008;
  std::string program(data::exec_stub);
  const std::size_t mark = program.find(k_mark);
  if (mark == program.npos || program.find(k_mark, mark + 1) != program.npos ||
      program.size() < mark + k_mark.size() + k_blank) {
    throw Error("the embedded relative-exec program is incomplete");
  }
  if (target.empty() || target.starts_with('/') || target.size() >= k_blank || target.find('\0') != target.npos) {
    throw Error(fmt::format("{} is not a valid program path", printable(target.substr(0, 200))));
  }
  program.replace(mark + k_mark.size(), target.size(), target);
  return program;
}

std::uint16_t exec_stub_machine() { return elf::ElfFile::parse(Bytes(data::exec_stub)).machine; }

std::string relative_target(std::string_view from, std::string_view to) {
  const std::vector<std::string_view> a = split(from, '/'), b = split(to, '/');
  std::size_t same = 0;
  while (same + 1 < a.size() && same + 1 < b.size() && a[same] == b[same]) ++same;
  std::string result;
  for (std::size_t i = same; i + 1 < a.size(); ++i) result += "../";
  for (std::size_t i = same; i < b.size(); ++i) result.append(i == same ? "" : "/").append(b[i]);
  return result;
}

}  // namespace wheelsmith::rocm
