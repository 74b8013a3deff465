/* late_math.c - the functions of libm, which is loaded when the first of them is called.
 *
 * Only the laboratory computes with them. `dibs lock` would load the library each time, which takes it a twentieth of its time. So the
 * program dibs has these functions in place of the library. They call the library's, and their results are the same. Tests, other
 * programs, and other modes of building than `release` have the library itself. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef double late_function(double);
typedef double late_function_of_two(double, double);

static void *late_find(const char *name)
{
    void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL), *found = library ? dlsym(library, name) : NULL;

    if (!found) {
        fprintf(stderr, "dibs: cannot load libm.so.6, which is part of the C library: %s\n", dlerror());
        abort();
    }
    return found;
}

/* Threads that come here at the same time find the same function. */
static void *late_load(void **function, const char *name)
{
    void *found = __atomic_load_n(function, __ATOMIC_ACQUIRE);

    if (!found) {
        found = late_find(name);
        __atomic_store_n(function, found, __ATOMIC_RELEASE);
    }
    return found;
}

#define LATE(name)                                                                                                     \
    double name(double x)                                                                                              \
    {                                                                                                                  \
        static void *function;                                                                                         \
                                                                                                                       \
        return ((late_function *)late_load(&function, #name))(x);                                                      \
    }
#define LATE_OF_TWO(name)                                                                                              \
    double name(double x, double y)                                                                                    \
    {                                                                                                                  \
        static void *function;                                                                                         \
                                                                                                                       \
        return ((late_function_of_two *)late_load(&function, #name))(x, y);                                            \
    }

LATE(cbrt)
LATE(ceil)
LATE(cos)
LATE(exp)
LATE(floor)
LATE(log)
LATE(log10)
LATE(round)
LATE(sqrt)
LATE_OF_TWO(fmax)
LATE_OF_TWO(fmin)
LATE_OF_TWO(pow)
