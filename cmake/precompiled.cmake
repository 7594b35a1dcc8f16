# The headers that nearly every source includes, compiled once. Sources still include what they use (make
# check-sources).
#
# A compiler cache works with it only when it trusts the compiler's dependency list (CCACHE_DEPEND) and ignores macro
# definitions; that also saves a preprocessor run per unit, so that an empty cache costs next to nothing. Off where
# sources are compiled separately with a cache: such objects are shared between checkouts, and a precompiled header is
# not.

if(NOT DEFINED WHEELSMITH_PRECOMPILED)
  set(WHEELSMITH_PRECOMPILED ON)
  if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT WHEELSMITH_UNITY)
    set(WHEELSMITH_PRECOMPILED OFF)
  endif()
endif()

if(WHEELSMITH_PRECOMPILED)
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$")
    list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros)
  endif()
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
    # GCC 12 does not recognize inlined library code as such, and warns about it.
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
  endif()
endfunction()
