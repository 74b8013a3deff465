/* interrupt.c - see interrupt.h. */
#include "interrupt.h"

#include <errno.h>
#include <stdint.h>
#include <time.h>

static volatile sig_atomic_t interrupt_came;
static _Atomic uint64_t interrupt_ms; /* when the first one came */

/* Only functions that a signal handler may call. */
static void interrupt_hear(int number)
{
    int error = errno;
    struct timespec t;
    uint64_t now_ms;

    clock_gettime(CLOCK_MONOTONIC, &t);
    now_ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    if (!interrupt_came) {
        interrupt_ms = now_ms;
        interrupt_came = 1;
    } else if (now_ms >= interrupt_ms + INTERRUPT_ONE_MS) { /* two threads may hear at once, in any order */
        signal(number, SIG_DFL);
        raise(number); /* it comes when this function has returned */
    }
    errno = error;
}

const volatile sig_atomic_t *interrupt_catch(void)
{
    const struct sigaction hear = {.sa_handler = interrupt_hear, .sa_flags = (int)SA_RESTART};
    struct sigaction before;

    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &hear, NULL);
    return &interrupt_came;
}
