/* What a daemon refuses when its memory is short (serve/reserve.c): the bound that an operator has set, and the reserve. tests/memory.sh has daemons
 * that run out of memory.
 * Invariant: I19. */
#include "served.h"

#include "base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { MUCH = 32 << 20 };

static uint8_t *block; /* of this process, so that the bound has an order of magnitude */

static int setup(void **state)
{
    (void)state;
    served_init("ant");
    served_log();
    block = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(block != MAP_FAILED);
    memset(block, 1, MUCH);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    return munmap(block, MUCH);
}

/* The daemon looks at its memory now, with this bound. Returns why clients are refused; or null. */
static const char *look(uint64_t bound)
{
    served_conf.memory_max = bound;
    served.memory_look_ns = 0;
    serve_mind_memory(&served);
    return serve_is_short(&served);
}

static uint64_t used(void)
{
    look(0);
    return served.node.stats.memory;
}

/* It comes first: the daemon has not opened the kernel's file yet. */
static void a_kernel_that_does_not_tell_has_no_client_refused(void **state)
{
    struct rlimit limit, none;
    const char *refusal;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    refusal = look(1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_null(refusal);
    assert_int_equal(served.node.stats.memory, 0);
    assert_non_null(look(1)); /* it asks again, and can be told */
}

static void what_the_process_has_touched_counts_and_what_it_has_only_mapped_does_not(void **state)
{
    uint64_t before = used();
    uint8_t *more = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_true(before >= MUCH);
    assert_true(more != MAP_FAILED);
    assert_true(used() < before + MUCH / 2);
    memset(more, 1, MUCH);
    assert_in_range(used(), before + MUCH / 2, before + 2u * MUCH);
    munmap(more, MUCH);
}

/* Pages of files, as of the program itself, are not what clients have made it allocate. */
static void pages_of_files_do_not_count(void **state)
{
    uint64_t before = used();
    FILE *file = tmpfile();
    uint8_t *pages;

    (void)state;
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), MUCH), 0);
    pages = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    assert_true(pages != MAP_FAILED);
    memset(pages, 1, MUCH);
    assert_true(used() < before + MUCH / 2);
    munmap(pages, MUCH);
    fclose(file);
}

static void at_the_bound_clients_are_refused_and_the_log_says_it_once(void **state)
{
    uint64_t now = used();

    (void)state;
    assert_null(look(now + MUCH / 8));
    assert_string_equal(served_log(), "");
    assert_non_null(strstr(look(now - MUCH / 8), "raise its --memory-max"));
    assert_true(served_logged("are the bound: clients are refused"));
    assert_int_equal(served.node.stats.memory_max, now - MUCH / 8);
    assert_non_null(look(now - MUCH / 8));
    assert_string_equal(served_log(), "");
}

/* Else a daemon at its bound would refuse one request, and accept the next. */
static void clients_are_refused_until_there_is_a_sixteenth_of_room(void **state)
{
    uint64_t now = used();

    (void)state;
    assert_null(look(now + now / 32));
    assert_non_null(look(now - MUCH / 8));
    assert_non_null(look(now + now / 32)); /* less than a sixteenth below the bound */
    assert_null(strstr(served_log(), "there is room"));
    assert_null(look(now + now / 8));
    assert_true(served_logged("there is room below --memory-max again"));
}

static void without_a_bound_no_client_is_refused(void **state)
{
    (void)state;
    assert_non_null(look(1));
    assert_null(look(0));
}

/* Asking the kernel takes a system call, and the daemon does it at every event. */
static void the_kernel_is_asked_seldom(void **state)
{
    (void)state;
    assert_null(look(0));
    served_conf.memory_max = 1;
    for (unsigned k = 0; k < 100; k++) {
        served.memory_look_ns = uv_hrtime() + 1000000000;
        serve_mind_memory(&served);
        assert_false(served.is_full);
    }
    served.memory_look_ns = 0;
    serve_mind_memory(&served);
    assert_true(served.is_full);
    assert_in_range(served.memory_look_ns, uv_hrtime() - 1000000000, uv_hrtime() + 1000000000);
}

/* A sanitizer would end the process when an allocation fails. */
#if defined __SANITIZE_ADDRESS__
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#endif

/* A reserve so large that the machine does not have it is one that has just been used up. */
static void while_the_reserve_is_used_up_clients_are_refused_and_the_log_says_it_once(void **state)
{
    (void)state;
    mem_keep_reserve(SIZE_MAX / 4, "no test gets here");
    assert_string_equal(look(0), "this daemon is out of memory; try again later, or give it more");
    assert_true(served_logged("out of memory: clients are refused"));
    look(1);
    assert_non_null(strstr(serve_is_short(&served), "out of memory")); /* the more urgent of two reasons */
    assert_null(strstr(served_log(), "out of memory"));
    mem_keep_reserve(1, "no test gets here");
    assert_null(look(0));
    assert_true(served_logged("memory is available again"));
    assert_null(look(0));
    assert_string_equal(served_log(), "");
}

/* The first call finds no memory. */
static void *get(size_t size)
{
    static unsigned calls;

    return calls++ ? malloc(size) : NULL;
}

static void the_reserve_is_filled_again_when_there_is_memory(void **state)
{
    (void)state;
    mem_keep_reserve(1 << 12, "no test gets here");
    free(mem_get(get, 1));
    assert_true(mem_is_short());
    assert_null(look(0));
    assert_false(mem_is_short());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kernel_that_does_not_tell_has_no_client_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_process_has_touched_counts_and_what_it_has_only_mapped_does_not, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(pages_of_files_do_not_count, setup, teardown),
        cmocka_unit_test_setup_teardown(at_the_bound_clients_are_refused_and_the_log_says_it_once, setup, teardown),
        cmocka_unit_test_setup_teardown(clients_are_refused_until_there_is_a_sixteenth_of_room, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_bound_no_client_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_kernel_is_asked_seldom, setup, teardown),
        cmocka_unit_test_setup_teardown(while_the_reserve_is_used_up_clients_are_refused_and_the_log_says_it_once,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(the_reserve_is_filled_again_when_there_is_memory, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
