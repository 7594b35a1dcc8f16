/* The exec hook. An already configured CMake tree calls its compilers by full path and ignores PATH and launchers; but
   it cannot avoid calling exec. This library is preloaded into the processes of a governed build and redirects such
   calls to the shim, with the intended path in a variable.

   It runs in foreign processes, so it uses as little of the C library as possible: no allocation, no locks (between
   fork and exec nothing else is safe), no versioned symbols (it is loaded with older libraries than it was built
   with). It does not reach static programs and those of another architecture; the governor reports compilers that ran
   without a shim. */

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "governor/shim/compiler_names.h"

extern char** environ;
void* dlsym(void*, const char*);
#define NEXT ((void*)-1L)
#define VISIBLE __attribute__((visibility("default")))

typedef int (*Spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const[],
                     char* const[]);

/* The next definitions, looked up while the program has one thread: after a fork, another thread's lock in the loader
   would never be released. */
static int (*next_execvpe)(const char*, char* const[], char* const[]);
static int (*next_execvp)(const char*, char* const[]);
static Spawn next_spawn, next_spawnp;

__attribute__((constructor)) static void look_up(void) {
  *(void**)&next_execvpe = dlsym(NEXT, "execvpe");
  *(void**)&next_execvp = dlsym(NEXT, "execvp");
  *(void**)&next_spawn = dlsym(NEXT, "posix_spawn");
  *(void**)&next_spawnp = dlsym(NEXT, "posix_spawnp");
}

enum { k_path = 4096, k_most_variables = 16384, k_most_words = 65536 };

/* By system call number only: this hook wraps libc's execve. */
static long raw_exec(const char* path, char* const* argv, char* const* envp) {
  const long result = syscall(SYS_execve, path, argv, envp);
  return result;
}

static int is_runnable(const char* path) { return syscall(SYS_faccessat, -100L, path, (long)X_OK, 0L) == 0; }

static const char* value_of(char* const* envp, const char* name) {
  const unsigned long size = ws_length(name);
  for (; envp != NULL && *envp != NULL; ++envp)
    if (ws_same(*envp, name, size) && (*envp)[size] == '=') return *envp + size + 1;
  return NULL;
}

static unsigned long put(char* at, unsigned long used, unsigned long room, const char* text) {
  while (*text != 0 && used + 1 < room) at[used++] = *text++;
  at[used] = 0;
  return used;
}

/* Whether the call is for a compiler that should go through the shim. Then `program` is the shim and `variable` the
   entry that names the intended compiler. */
static int redirected(const char* path, char* const* envp, char* program, char* variable) {
  const char* shims;
  unsigned long size;
  if (path == NULL || ws_tool_of(ws_base_name(path)) == WS_NONE) return 0;
  shims = value_of(envp, "_WHEELSMITH_SHIMS");
  if (shims == NULL || *shims != '/' || value_of(envp, "_WHEELSMITH_RUN") == NULL) return 0;
  size = ws_length(shims);
  if (size + 32 > k_path || ws_length(path) + 32 > k_path) return 0;
  if (ws_length(path) > size && ws_same(path, shims, size) && path[size] == '/') return 0;
  if (!is_runnable(path)) return 0;
  size = put(program, 0, k_path, shims);
  put(program, size, k_path, "/bin/wheelsmith-shim");
  if (!is_runnable(program)) return 0;
  size = put(variable, 0, k_path, "_WHEELSMITH_REAL=");
  if (*path != '/') {
    const long got = syscall(SYS_getcwd, variable + size, (long)(k_path - size));
    if (got <= 1) return 0;
    size += (unsigned long)got - 1;
    size = put(variable, size, k_path, "/");
  }
  return put(variable, size, k_path, path) + 1 < k_path;
}

/* The environment plus one entry, in the caller's memory. */
static int extended(char* const* envp, char* variable, char** list, unsigned long room) {
  unsigned long count = 0;
  for (; envp != NULL && envp[count] != NULL; ++count) {
    if (count + 2 >= room) return 0;
    list[count] = envp[count];
  }
  list[count] = variable;
  list[count + 1] = NULL;
  return 1;
}

static unsigned long count_of(char* const* list) {
  unsigned long count = 0;
  while (list != NULL && list[count] != NULL) ++count;
  return count;
}

static int failed(void) { return -1; /* syscall() has set errno */ }

static int exec_at(const char* path, char* const* argv, char* const* envp) {
  char program[k_path], variable[k_path];
  const unsigned long count = count_of(envp);
  if (count < k_most_variables && redirected(path, envp, program, variable)) {
    char* list[count + 2];
    if (extended(envp, variable, list, count + 2)) raw_exec(program, argv, list);
  }
  raw_exec(path, argv, envp);
  return failed();
}

VISIBLE int execve(const char* path, char* const argv[], char* const envp[]) { return exec_at(path, argv, envp); }
VISIBLE int execv(const char* path, char* const argv[]) { return exec_at(path, argv, environ); }

/* A name is looked up in PATH, where the shims stand first; only a script without "#!" needs the C library's own ways,
   and that is no compiler. */
static const char* compiler_path(const char* file) {
  return file != NULL && ws_base_name(file) != file && ws_tool_of(ws_base_name(file)) != WS_NONE ? file : NULL;
}

VISIBLE int execvpe(const char* file, char* const argv[], char* const envp[]) {
  if (compiler_path(file) != NULL) return exec_at(file, argv, envp);
  if (next_execvpe == NULL) look_up();
  return next_execvpe(file, argv, envp);
}

VISIBLE int execvp(const char* file, char* const argv[]) {
  if (compiler_path(file) != NULL) return exec_at(file, argv, environ);
  if (next_execvp == NULL) look_up();
  return next_execvp(file, argv);
}

/* The variadic functions call the C library's internal execve, which cannot be wrapped. */
#define COLLECT(first)                         \
  unsigned long count = 1, i;                  \
  va_list list, again;                         \
  va_start(list, first);                       \
  va_copy(again, list);                        \
  while (va_arg(again, const char*) != NULL) { \
    if (++count > k_most_words) {              \
      errno = E2BIG;                           \
      return -1;                               \
    }                                          \
  }                                            \
  va_end(again);                               \
  char* argv[count + 1];                       \
  argv[0] = (char*)(size_t)first;              \
  for (i = 1; i <= count; ++i) argv[i] = va_arg(list, char*)

VISIBLE int execl(const char* path, const char* word, ...) {
  COLLECT(word);
  va_end(list);
  return exec_at(path, argv, environ);
}

VISIBLE int execle(const char* path, const char* word, ...) {
  COLLECT(word);
  char* const* envp = va_arg(list, char* const*);
  va_end(list);
  return exec_at(path, argv, envp);
}

VISIBLE int execlp(const char* file, const char* word, ...) {
  COLLECT(word);
  va_end(list);
  return execvp(file, argv);
}

/* A file action may change the folder before a relative path is resolved: only absolute paths are redirected. */
static int spawn_with(Spawn* behind, pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                      const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  char program[k_path], variable[k_path];
  const unsigned long count = count_of(envp);
  Spawn next;
  if (*behind == NULL) look_up();
  next = *behind;
  if (path != NULL && *path == '/' && count < k_most_variables && redirected(path, envp, program, variable)) {
    char* list[count + 2];
    if (extended(envp, variable, list, count + 2)) return next(pid, program, actions, attributes, argv, list);
  }
  return next(pid, path, actions, attributes, argv, envp);
}

VISIBLE int posix_spawn(pid_t* restrict pid, const char* restrict path,
                        const posix_spawn_file_actions_t* restrict actions,
                        const posix_spawnattr_t* restrict attributes, char* const argv[restrict],
                        char* const envp[restrict]) {
  return spawn_with(&next_spawn, pid, path, actions, attributes, argv, envp);
}

VISIBLE int posix_spawnp(pid_t* restrict pid, const char* restrict path,
                         const posix_spawn_file_actions_t* restrict actions,
                         const posix_spawnattr_t* restrict attributes, char* const argv[restrict],
                         char* const envp[restrict]) {
  return spawn_with(&next_spawnp, pid, path, actions, attributes, argv, envp);
}
