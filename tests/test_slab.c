/* Memory for very many small things (base/slab.h): blocks are zeroed, aligned and apart from each other, and what is free goes back to
 * the system, a slab at a time.
 * Invariant: I31. */
#include "test.h"

#include "base/random.h"
#include "base/slab.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 20000, SIZE_MOST = 9000 };

static struct {
    uint8_t *at;
    size_t size;
} block[MANY];

static size_t draw_size(uint64_t *seed)
{
    uint64_t x = random_splitmix(seed);

    return x % 16 ? 1 + x / 16 % 600 : 1 + x / 16 % SIZE_MOST;
}

static void make(unsigned k, size_t size)
{
    block[k].size = size;
    block[k].at = slab_new(size);
    assert_int_equal((uintptr_t)block[k].at % 16, 0);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(block[k].at[i], 0);
    memset(block[k].at, (int)(k % 255 + 1), size);
}

static void end(unsigned k)
{
    for (size_t i = 0; block[k].at && i < block[k].size; i++)
        assert_int_equal(block[k].at[i], k % 255 + 1); /* no other block was written into it */
    slab_free(block[k].at);
    block[k].at = NULL;
}

static void blocks_are_zeroed_aligned_and_apart(void **state)
{
    uint64_t seed = 5;
    size_t before = slab_count();

    (void)state;
    for (unsigned round = 0; round < 4 * MANY; round++) {
        unsigned k = (unsigned)(random_splitmix(&seed) % MANY);

        if (block[k].at)
            end(k);
        else
            make(k, draw_size(&seed));
    }
    for (unsigned k = 0; k < MANY; k++)
        end(k);
    assert_true(slab_count() <= before + 64); /* one for each size of blocks */
    slab_free(NULL);
}

/* Each slab is given back with its last block: there is no moment at which all of them are. */
static void what_is_free_goes_back_at_once(void **state)
{
    enum { SIZE = 240, PER_SLAB = (1 << 16) / SIZE };
    size_t before = slab_count();

    (void)state;
    for (unsigned k = 0; k < MANY; k++)
        make(k, SIZE);
    if (slab_count()) /* AddressSanitizer has all blocks to itself */
        assert_in_range(slab_count() - before, MANY / PER_SLAB, MANY / PER_SLAB + 2);
    for (unsigned k = 0; k < MANY; k++) {
        size_t now = slab_count();

        end(k);
        assert_true(now - slab_count() <= 1);
    }
    assert_true(slab_count() <= before + 1);
}

/* One thing that comes and goes takes no slab each time; and one that is too large for a slab with others has its own. */
static void a_slab_is_kept_for_what_comes_and_goes(void **state)
{
    size_t before;

    (void)state;
    make(0, 300);
    before = slab_count();
    for (unsigned k = 0; k < 10; k++) {
        end(0);
        assert_int_equal(slab_count(), before);
        make(0, 300);
        assert_int_equal(slab_count(), before);
    }
    make(1, 1 << 20);
    make(2, 1 << 13);
    end(1);
    end(2);
    assert_int_equal(slab_count(), before);
    end(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
        cmocka_unit_test(what_is_free_goes_back_at_once),
        cmocka_unit_test(a_slab_is_kept_for_what_comes_and_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
