# Flags for our own code, in one interface target that no third-party code links.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

set(WHEELSMITH_SANITIZE "" CACHE STRING "Sanitizers for all of our code: address,undefined or thread")
option(WHEELSMITH_STATIC "Link the program as one static executable" OFF)
option(WHEELSMITH_FUZZ "Build the fuzz targets with libFuzzer (clang); without it they replay their corpus" OFF)
option(WHEELSMITH_WERROR "Warnings are errors" OFF)
option(WHEELSMITH_END_TO_END "Run the end-to-end tests too" ON)

add_library(wheelsmith_flags INTERFACE)
target_include_directories(wheelsmith_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(wheelsmith_flags INTERFACE WHEELSMITH_VERSION="${PROJECT_VERSION}")
target_compile_options(wheelsmith_flags INTERFACE
  -Wall -Wextra -Wpedantic
  -Wshadow               # a hidden name will be misread sooner or later
  -Wconversion           # sizes from files are 64 bit; losing bits silently is how bounds checks fail
  -Wnon-virtual-dtor -Woverloaded-virtual
  # char is signed on x86-64 and unsigned on Arm; one meaning for both. GCC's notes on an ABI of old releases are noise.
  "$<$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},aarch64>:-fsigned-char;-Wno-psabi>"
  # GCC 12 reports overlapping copies in assignments of literals to strings (GCC bug 105651)
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # clang reports a deprecated call inside libstdc++'s own stable_sort
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  $<$<BOOL:${WHEELSMITH_WERROR}>:-Werror>)
# base/demangle.cc uses a function that only the static libstdc++ has.
target_link_options(wheelsmith_flags INTERFACE -static-libstdc++ -static-libgcc)
if(WHEELSMITH_SANITIZE)
  target_compile_options(wheelsmith_flags INTERFACE
    -fsanitize=${WHEELSMITH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # GCC reports uninitialized values between the checks that it inserts itself. It checks each pointer of each call for
  # null, alignment, size and type, which took a third more time to compile; the address sanitizer finds most of that, and
  # the fuzz preset, whose clang checks everything, reads the same corpora.
  target_compile_options(wheelsmith_flags INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-fno-sanitize=null,alignment,object-size,vptr>)
  target_link_options(wheelsmith_flags INTERFACE -fsanitize=${WHEELSMITH_SANITIZE})
endif()
if(WHEELSMITH_FUZZ)
  target_compile_options(wheelsmith_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(wheelsmith_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
