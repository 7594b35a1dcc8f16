#ifndef WHEELSMITH_GOVERNOR_COMPILER_NAMES_H
#define WHEELSMITH_GOVERNOR_COMPILER_NAMES_H

/* Recognizes compilers and linkers by their names. In C, without any library: the exec hook, which runs in foreign
   processes, and the shim must agree on it. */

enum ws_tool { WS_NONE = 0, WS_C = 'c', WS_CXX = '+', WS_FORTRAN = 'f', WS_CUDA = 'n', WS_HIP = 'h', WS_LINK = 'l' };

struct ws_tool_name {
  const char* name;
  enum ws_tool tool;
};

/* Long names before their own prefixes. Programs that a driver calls (cc1plus, collect2, as, cicc, ptxas) are not
   listed: they run under the driver's grant. */
static const struct ws_tool_name ws_tool_names[] = {
    {"gcc", WS_C},
    {"g++", WS_CXX},
    {"cc", WS_C},
    {"c++", WS_CXX},
    {"c89", WS_C},
    {"c99", WS_C},
    {"clang++", WS_CXX},
    {"clang", WS_C},
    {"amdclang++", WS_CXX},
    {"amdclang", WS_C},
    {"icpx", WS_CXX},
    {"icx", WS_C},
    {"gfortran", WS_FORTRAN},
    {"flang", WS_FORTRAN},
    {"nvcc", WS_CUDA},
    {"hipcc", WS_HIP},
    {"ld", WS_LINK},
    {"ld.bfd", WS_LINK},
    {"ld.gold", WS_LINK},
    {"ld.lld", WS_LINK},
    {"ld.mold", WS_LINK},
    {"lld", WS_LINK},
    {"mold", WS_LINK},
    {"gold", WS_LINK},
};

static inline int ws_same(const char* a, const char* b, unsigned long size) {
  unsigned long i;
  for (i = 0; i < size; ++i)
    if (a[i] != b[i]) return 0;
  return 1;
}

static inline unsigned long ws_length(const char* text) {
  unsigned long size = 0;
  while (text[size] != 0) ++size;
  return size;
}

static inline const char* ws_base_name(const char* path) {
  const char* base = path;
  for (; *path != 0; ++path)
    if (*path == '/') base = path + 1;
  return base;
}

/* "x86_64-linux-gnu-g++-12" is a C++ compiler; "gcc-ar", "clang-format" and "ld.so" are not. */
static inline enum ws_tool ws_tool_of(const char* base) {
  unsigned long size = ws_length(base);
  unsigned long start = 0;
  unsigned long at, i;
  /* A version suffix: "-12", "-12.2". */
  for (at = size; at > 0 && ((base[at - 1] >= '0' && base[at - 1] <= '9') || base[at - 1] == '.'); --at) {}
  if (at > 0 && at < size && base[at - 1] == '-') size = at - 1;
  for (i = 0; i < size; ++i)
    if (base[i] == '-') start = i + 1;
  for (i = 0; i < sizeof ws_tool_names / sizeof ws_tool_names[0]; ++i) {
    const char* name = ws_tool_names[i].name;
    if (ws_length(name) == size - start && ws_same(base + start, name, size - start)) return ws_tool_names[i].tool;
  }
  return WS_NONE;
}

#endif
