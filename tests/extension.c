/* A Python extension module without Python's headers, so that the tests need none. */
#include <math.h>
#include <stdio.h>
#include <string.h>
extern void* PyModule_Create2(void* definition, int version);
extern void* PyFloat_FromDouble(double value);
static struct { long words[32]; } definition;
volatile double demo_input = 2.0;
void* demo_value(void) { printf("%zu\n", strlen("demo")); return PyFloat_FromDouble(pow(demo_input, 0.5)); }
void* PyInit_demo(void) { return PyModule_Create2(&definition, 1013); }
