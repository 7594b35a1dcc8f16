# Writes a C++ source in which each file of the list FILES (one "symbol=path" per line) is a string constant. The
# assembler reads the bytes: a compiler takes seconds for a list of a million numbers. The sizes are written here, so
# that the constants need no initialization at startup. The hash is for compiler caches, which see this text but not the
# files.
file(STRINGS ${FILES} pairs)
set(bytes "")
set(constants "")
foreach(pair IN LISTS pairs)
  string(REGEX MATCH "^([^=]*)=(.*)$" all "${pair}")
  set(symbol ${CMAKE_MATCH_1})
  set(path "${CMAKE_MATCH_2}")
  file(SIZE "${path}" size)
  file(SHA256 "${path}" hash)
  string(REGEX REPLACE "([\\\"])" "\\\\\\1" path "${path}")
  string(APPEND bytes "wheelsmith_${MODULE}_${symbol}:  /* ${hash} */\n  .incbin \"${path}\"\n  .byte 0\n")
  string(APPEND constants "
extern \"C\" const char wheelsmith_${MODULE}_${symbol}[];
extern const std::string_view ${symbol};
constinit const std::string_view ${symbol}(wheelsmith_${MODULE}_${symbol}, ${size});
")
endforeach()
file(WRITE ${OUTPUT} "#include <string_view>

asm(R\"(
  .pushsection .rodata
${bytes}  .popsection
)\");

namespace wheelsmith::${MODULE}::data {
${constants}
}  // namespace wheelsmith::${MODULE}::data
")
