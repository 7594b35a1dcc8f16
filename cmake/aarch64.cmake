# Toolchain file of the preset release-aarch64: Debian's cross compiler, and the static libraries that scripts/sysroot.sh unpacked
# into build/sysroot-aarch64. Test programs run under qemu.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-aarch64 ABSOLUTE)
set(CMAKE_SYSROOT ${sysroot})
# Boost embeds the paths of its headers; without this, two checkouts would give different programs.
set(CMAKE_CXX_FLAGS_INIT "-ffile-prefix-map=${sysroot}=")
# The cross compiler has a C library of its own and looks there first; ours stands before it.
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-L${sysroot}/usr/lib/aarch64-linux-gnu -L${sysroot}/lib/aarch64-linux-gnu")
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${sysroot})
