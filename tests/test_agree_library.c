/* A libraft of another version than that whose defects are known is refused, and said so. Here it is one that has what came
 * after 0.15. */
#include "member/agree.h"
#include "test.h"

#include <string.h>

const void *raft_heap_get(void);

const void *raft_heap_get(void)
{
    return NULL;
}

static enum disk_status nothing(void *user, const uint8_t *bytes, size_t len)
{
    (void)user, (void)bytes, (void)len;
    return DISK_WRITTEN;
}

static void a_newer_libraft_is_refused(void **state)
{
    const struct disk disk = {NULL, nothing, nothing};
    char line[256];
    struct dme_text why;

    (void)state;
    dme_text_init(&why, line, sizeof line);
    assert_null(agree_new(&(struct agree_conf){.disk = &disk}, NULL, 0, &why));
    assert_non_null(strstr(line, "libraft is newer here than 0.15"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_newer_libraft_is_refused)};

    return cmocka_run_group_tests_name("agree_library", tests, NULL, NULL);
}
