# Debian 12 packages, listed in scripts/setup.sh. Static libraries in every preset, so that the tested program and the
# shipped program contain the same code.

set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS ON)
set(ZLIB_USE_STATIC_LIBS ON)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
# {fmt} is used header-only (Debian has no static library of it) and compiled once, in src/base/fmt_library.cc.
find_package(fmt REQUIRED)
link_libraries(Threads::Threads)

foreach(name deflate zstd re2)
  find_library(${name}_archive ${name} REQUIRED)
  add_library(lib${name} STATIC IMPORTED)
  set_target_properties(lib${name} PROPERTIES IMPORTED_LOCATION ${${name}_archive})
endforeach()

find_library(sqlite_archive sqlite3 REQUIRED)
add_library(sqlite STATIC IMPORTED)
set_target_properties(sqlite PROPERTIES IMPORTED_LOCATION ${sqlite_archive} INTERFACE_LINK_LIBRARIES "m")
