# The headers that nearly every source includes, compiled once: a third of the time to compile everything. Sources still
# include what they use. Off with a compiler cache, which cannot see through it.

if(CMAKE_CXX_COMPILER_LAUNCHER)
  set(precompiled_default OFF)
else()
  set(precompiled_default ON)
endif()
option(WHEELSMITH_PRECOMPILED "Compile common headers once" ${precompiled_default})

if(WHEELSMITH_PRECOMPILED)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cc CONTENT "")
  add_library(wheelsmith_precompiled OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(wheelsmith_precompiled PRIVATE wheelsmith_flags)
  target_precompile_headers(wheelsmith_precompiled PRIVATE <fmt/format.h> <algorithm> <array> <cstdint> <cstring> <filesystem>
    <functional> <map> <memory> <optional> <set> <string> <string_view> <variant> <vector>)
endif()

# wheelsmith_use_precompiled(TARGET)
function(wheelsmith_use_precompiled target)
  if(WHEELSMITH_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM wheelsmith_precompiled)
    # GCC 12 forgets that what it inlines is the library's own, and warns of it.
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
  endif()
endfunction()
