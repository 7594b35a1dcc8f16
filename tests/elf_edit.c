/* What the property test edits: it reads constants, pointers that the loader relocates, zeros, thread-local data, the
   result of a constructor, and another library. Any byte that moved away shows in the number. */
#include <stdint.h>

extern int depend(int);

static const char text[] = "constants that stand where the linker put them, and nowhere else";
static const int numbers[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static const char *const words[] = {"one", "two", "three", "four", text, text + 10};
static const int *pointers[] = {numbers, numbers + 3, numbers + 7};
static int (*functions[])(int) = {depend, depend};
#ifndef ZEROS
#define ZEROS 1000
#endif
static unsigned char zeros[ZEROS];
static __thread int per_thread = 17;
static int built;

__attribute__((constructor)) static void build(void) { built = 41; }

int compute(int seed) {
  unsigned sum = (unsigned)seed;
  for (unsigned i = 0; i < sizeof text; i++) sum = sum * 31 + (unsigned char)text[i];
  for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
    for (const char *p = words[i]; *p; p++) sum = sum * 33 + (unsigned char)*p;
  for (unsigned i = 0; i < sizeof pointers / sizeof *pointers; i++) sum = sum * 7 + (unsigned)*pointers[i];
  for (unsigned i = 0; i < sizeof zeros; i++) sum += zeros[i];
  for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++) sum = sum * 5 + (unsigned)functions[i]((int)i);
  zeros[seed % ZEROS] = 1;
  per_thread += seed;
  return (int)((sum + (unsigned)per_thread + (unsigned)built) & 0x7fffffff);
}

#ifdef PROGRAM
#include <stdio.h>
int main(void) { return printf("%d\n", compute(5)) < 0; }
#endif
