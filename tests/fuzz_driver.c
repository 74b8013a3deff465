/* Runs a fuzz target on inputs made from a seed, where there is no libFuzzer. With files as arguments, on those.
 * Afterwards it runs on the inputs that are kept in tests/corpus, in a directory of the target's name: those that libFuzzer has
 * found to reach something new. They are made by
 *
 *   make fuzz && mkdir NEW && build/fuzz/fuzz_wire -len_control=0 -max_total_time=600 NEW
 *   build/fuzz/fuzz_wire -set_cover_merge=1 -use_counters=0 tests/corpus/fuzz_wire NEW
 *
 *   FUZZ_SEED=1 FUZZ_RUNS=10000   the defaults; input k of a seed is always the same */
#include "fuzz.h"
#include "test.h"

#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { INPUT_MAX = 600 };

static char driver_where[80];

/* Sanitizers are to end with a signal too, so that the input can be named. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__asan_default_options(void)
{
    return "abort_on_error=1:handle_abort=0";
}
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

static void driver_died(int signal_number)
{
    ssize_t ignored = write(STDERR_FILENO, driver_where, strlen(driver_where));

    (void)ignored;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Bytes of any value, small values only, or a mixture of both: decoders and choices like small ones. */
static size_t driver_make(uint64_t seed, uint8_t *input)
{
    size_t len = test_below(&seed, INPUT_MAX);
    uint32_t style = test_below(&seed, 3);

    for (size_t k = 0; k < len; k++) {
        uint8_t byte = (uint8_t)test_random(&seed);

        input[k] = style == 0 || (style == 1 && test_below(&seed, 4) == 0) ? byte : byte & 7;
    }
    /* The first bytes choose the configuration: spread them evenly. */
    for (size_t k = 0; k < 4 && k < len; k++)
        input[k] = (uint8_t)test_random(&seed);
    return len;
}

static int driver_file(const char *path)
{
    static uint8_t input[1 << 20];
    FILE *from = fopen(path, "rb");
    size_t len = from ? fread(input, 1, sizeof input, from) : 0;

    if (!from) {
        perror(path);
        return 2;
    }
    fclose(from);
    snprintf(driver_where, sizeof driver_where, "# died on %.60s\n", path);
    return LLVMFuzzerTestOneInput(input, len);
}

/* How many there are, which must be some; -1: one of them cannot be read. */
static int driver_corpus(const char *program)
{
    const char *slash = strrchr(program, '/');
    char path[512];
    struct dirent *entry;
    int count = 0;
    DIR *dir;

    snprintf(path, sizeof path, "tests/corpus/%s", slash ? slash + 1 : program);
    dir = opendir(path);
    while (dir && count >= 0 && (entry = readdir(dir))) {
        snprintf(path, sizeof path, "tests/corpus/%.60s/%.255s", slash ? slash + 1 : program, entry->d_name);
        alarm(60);
        if (*entry->d_name != '.')
            count = driver_file(path) == 0 ? count + 1 : -1;
    }
    if (dir)
        closedir(dir);
    return count;
}

static uint64_t driver_number(const char *name, uint64_t otherwise)
{
    return getenv(name) ? strtoull(getenv(name), NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    uint64_t seed = driver_number("FUZZ_SEED", 1), runs = driver_number("FUZZ_RUNS", 10000);
    uint8_t *input = malloc(INPUT_MAX);
    int kept;

    signal(SIGABRT, driver_died);
    signal(SIGSEGV, driver_died);
    signal(SIGALRM, driver_died);
    for (int k = 1; k < argc; k++)
        if (driver_file(argv[k]) != 0)
            return 2;
    if (argc > 1)
        return 0;
    printf("# FUZZ_SEED=%llu FUZZ_RUNS=%llu\n", (unsigned long long)seed, (unsigned long long)runs);
    for (uint64_t k = 0; k < runs; k++) {
        size_t len = driver_make(seed * 1000003 + k, input);
        uint8_t *exact = malloc(len ? len : 1);

        snprintf(driver_where, sizeof driver_where, "# died on input %llu of seed %llu\n", (unsigned long long)k,
                 (unsigned long long)seed);
        memcpy(exact, input, len);
        alarm(60); /* against endless loops only */
        LLVMFuzzerTestOneInput(exact, len);
        free(exact);
    }
    free(input);
    kept = driver_corpus(argv[0]);
    printf("ok 1 - %llu inputs\n%sok 2 - %d inputs that are kept\n1..2\n", (unsigned long long)runs,
           kept <= 0 ? "not " : "", kept);
    return kept <= 0;
}
