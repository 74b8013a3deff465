/* library_famine PLACE KEEP_MS: a program that uses libdibs, and whose allocations fail: for each number, the one with this number, and in a second
 * round all from that one on. A call of the library fails then, with a code that says so. It neither waits for ever nor sends the daemon a part of a
 * request. Prints nothing, or which fact does not hold. */
#include <dibs.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static bool counts,
    rest; /* from now on allocations are counted; all behind the one with the number `hit` fail as well */
static unsigned made, hit;
static const char *step;

static bool fails(void)
{
    if (!counts || ++made < hit || (made > hit && !rest))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}

/* The signal handler may be called while nothing can be allocated. */
static void hang(int number)
{
    char line[200];
    int len = snprintf(line, sizeof line, "%s waits for ever when allocation %u fails\n", step, hit);

    (void)number;
    _exit(write(STDOUT_FILENO, line, (size_t)len) == len ? 1 : 2);
}

/* Is this an outcome that a program without memory can have? */
static bool is_fine(const struct dibs *d, const char *what, int code)
{
    static const char end[] = "out of memory";
    const char *text = dibs_message(d);
    bool fine = code == DIBS_OK || code == DIBS_NO_MEMORY ||
                (code == DIBS_GONE && strlen(text) >= sizeof end - 1 && strstr(text, end));

    if (!fine)
        printf("allocation %u fails, %s: %d, %s\n", hit, what, code, text);
    return fine;
}

/* Each call is made if all before have succeeded. */
#define MAKE(call)                                                                                                     \
    do {                                                                                                               \
        step = code == DIBS_OK ? #call : step;                                                                         \
        code = code == DIBS_OK ? (call) : code;                                                                        \
    } while (0)

/* The first wait is in vain, so that the library goes to sleep at once in the second one (base/spin.h). Each run has locks of its own: a kept
 * session that the library could not end goes on for a while. */
static bool goes_well(const char *place, uint64_t keep_ms)
{
    static char value[DIBS_VALUE_MAX], name[201], a[32], p[32], q[32];
    const struct dibs_options options = {.keep_ms = keep_ms};
    const struct dibs_wish brief = {.wait_ms = 20}, wish = {.value = value, .value_len = sizeof value};
    struct dibs_part parts[] = {
        {.name = p, .value = value, .value_len = 3000}, {.name = q, .mode = DIBS_SHARED}, {.name = name}};
    const char *const words[] = {"HOLDERS", a};
    struct dibs_reply *reply = NULL;
    struct dibs *d = NULL;
    int code = DIBS_OK;
    bool fine;

    memset(name, 'n', sizeof name - 1);
    name[snprintf(name, sizeof name, "%u-%d-", hit, rest)] = 'n';
    snprintf(a, sizeof a, "a%u-%d", hit, rest);
    snprintf(p, sizeof p, "p%u-%d", hit, rest);
    snprintf(q, sizeof q, "q%u-%d", hit, rest);
    memset(value, 'v', sizeof value);
    made = 0;
    counts = true;
    MAKE(dibs_connect(&d, place, &options));
    MAKE(dibs_lock(d, "taken", &brief, NULL) == DIBS_TIMEOUT ? DIBS_OK : DIBS_NO_MEMORY);
    MAKE(dibs_lock(d, a, &wish, NULL));
    MAKE(dibs_lock_many(d, parts, 3, NULL));
    MAKE(dibs_start_renew(d, a, 60000));
    MAKE(dibs_confirm(d, a));
    MAKE(dibs_ask(d, words, 2, &reply));
    MAKE(dibs_unlock(d, a));
    MAKE(dibs_start_unlock(d, name));
    counts = false;
    fine = is_fine(d, step, code);
    dibs_free(reply);
    dibs_close(d);
    return fine;
}

int main(int argc, char **argv)
{
    struct dibs *other = NULL;

    if (argc != 3 || dibs_connect(&other, argv[1], NULL) != DIBS_OK || dibs_lock(other, "taken", NULL, NULL) != DIBS_OK)
        return 2;
    signal(SIGALRM, hang);
    for (int k = 0; k < 2; k++, rest = true) {
        hit = 0;
        do {
            hit++;
            alarm(20);
            if (!goes_well(argv[1], strtoull(argv[2], NULL, 10)))
                return 1;
        } while (made >= hit);
    }
    dibs_close(other);
    return 0;
}
