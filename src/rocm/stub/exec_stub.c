/* The relative-exec stub. Wheels cannot hold links, so where ROCm has a link to a program (hipcc -> ../lib/llvm/bin/…),
   the wheel holds this: a program that runs another one whose place is told relative to its own folder, with the same
   words and the same environment. It is compiled once, with us, and stands alone: no C library (so none of a packaging
   machine's leaks into the wheels), no allocation, no relocation. The packager writes the relative path over k_target's
   blank.

   The own folder is that of /proc/self/exe: the file itself, whatever link or PATH led to it; the hard link of an
   expanded devel tree thus runs that tree's programs. Without /proc the kernel's word for what it started (AT_EXECFN)
   serves. */

typedef unsigned long Word;

enum { k_room = 4096, k_blank = 1008, k_at_execfn = 31, k_not_found = 127 };

/* The mark of 16 bytes is what the packager looks for; behind it stands the target, ended by NUL. */
static const char k_target[16 + k_blank] __attribute__((used, aligned(16))) = "WS-EXEC-TARGET:";

#if defined(__x86_64__)
enum { k_write = 1, k_execve = 59, k_exit = 60, k_readlink = 89 };
static long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
  return result;
}
static long read_link(const char* path, char* into, Word room) {
  return call(k_readlink, (long)path, (long)into, (long)room);
}
__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call begin\n hlt\n");
#elif defined(__aarch64__)
enum { k_write = 64, k_execve = 221, k_exit = 93, k_readlinkat = 78 };
static long call4(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
static long call(long number, long a, long b, long c) { return call4(number, a, b, c, 0); }
static long read_link(const char* path, char* into, Word room) {
  return call4(k_readlinkat, -100, (long)path, (long)into, (long)room);
}
__asm__(".globl _start\n_start:\n mov x29, #0\n mov x0, sp\n and sp, x0, #-16\n bl begin\n");
#else
#error "the stub speaks to the kernel itself and knows x86-64 and aarch64"
#endif

static Word length(const char* text) {
  Word size = 0;
  while (text[size] != 0) ++size;
  return size;
}

static void say(const char* text) { call(k_write, 2, (long)text, (long)length(text)); }

static void fail(const char* what, const char* path, long error) {
  char digits[12];
  Word at = sizeof digits - 1;
  digits[at] = 0;
  for (Word rest = (Word)-error; at > 0 && (rest != 0 || at == sizeof digits - 1); rest /= 10)
    digits[--at] = (char)('0' + rest % 10);
  say("rocm: ");
  say(what);
  say(path);
  if (error == -2) {
    say(": there is no such file; install the packages of this ROCm again");
  } else if (error == -13) {
    say(": permission denied");
  } else if (error != 0) {
    say(": error ");
    say(digits + at);
  }
  say("\n");
  call(k_exit, k_not_found, 0, 0);
  for (;;) {}
}

__attribute__((used, noreturn)) void begin(Word* stack) {
  char path[k_room];
  const char* target = k_target;
  __asm__("" : "+r"(target)); /* its contents are not what the compiler sees */
  const Word count = *stack;
  char** argv = (char**)(stack + 1);
  char** envp = argv + count + 1;
  Word* aux = (Word*)envp;
  while (*aux != 0) ++aux;
  ++aux;

  long size = read_link("/proc/self/exe", path, k_room - 1);
  if (size <= 0 || path[0] != '/') {
    const char* started = 0;
    for (; aux[0] != 0; aux += 2)
      if (aux[0] == k_at_execfn) started = (const char*)aux[1];
    if (started == 0) fail("cannot find out where this program is: /proc is not there", "", 0);
    for (size = 0; started[size] != 0 && size < k_room - 1; ++size) path[size] = started[size];
  }
  while (size > 0 && path[size - 1] != '/') --size;
  Word used = (Word)size;
  for (Word i = 16; i < sizeof k_target && target[i] != 0; ++i) {
    if (used + 1 >= k_room) fail("the path of the program behind this one is too long: ", path, 0);
    path[used++] = target[i];
  }
  path[used] = 0;
  fail("cannot run ", path, call(k_execve, (long)path, (long)argv, (long)envp));
  for (;;) {}
}
