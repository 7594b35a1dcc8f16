# Writes INPUT as a C++ string constant. Bytes become numbers: compilers limit the length of string literals.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUTPUT} "#include <string_view>
namespace { const unsigned char k_bytes[] = {${bytes}0}; }
namespace wheelsmith::${MODULE}::data {
extern const std::string_view ${SYMBOL};
const std::string_view ${SYMBOL}(reinterpret_cast<const char*>(k_bytes), sizeof k_bytes - 1);
}
")
