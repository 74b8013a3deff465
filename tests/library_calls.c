/* library_calls PLACES: the calls of libdibs that no example makes, against a daemon. The first of PLACES has none. Prints nothing, or
 * which fact does not hold. */
#include <dibs.h>

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HOLDS(fact)                                                                                                    \
    do {                                                                                                               \
        if (!(fact)) {                                                                                                 \
            printf("line %d: %s\n", __LINE__, #fact);                                                                  \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

_Static_assert(sizeof(void *) != 8 || (sizeof(struct dibs_wish) == 64 && sizeof(struct dibs_part) == 56),
               "programs that were compiled before there were values pass structs of this size");

static const char *seen;
static char seen_value[32];

static void hear(void *user, const struct dibs_event *e)
{
    (void)user;
    if (strcmp(e->event, "granted") == 0) {
        snprintf(seen_value, sizeof seen_value, "%s", e->value);
        seen = seen_value;
    }
}

/* Does HOLDERS show one holder, with this value? */
static int shows(struct dibs *d, const char *lock, const char *value)
{
    const char *words[] = {"HOLDERS", lock};
    struct dibs_reply *r = NULL;
    int found = 0;

    if (dibs_ask(d, words, 2, &r) == DIBS_OK && r->count == 1)
        for (size_t k = 0; k + 1 < r->item[0]->count; k += 2)
            found |=
                strcmp(r->item[0]->item[k]->text, "value") == 0 && strcmp(r->item[0]->item[k + 1]->text, value) == 0;
    dibs_free(r);
    return found;
}

/* Commands that the daemon would not answer, or for which it would end the connection. */
static int asks_badly(struct dibs *d)
{
    static char longest[16384 - 24 + 1], longer[sizeof longest + 1];
    const char *many[257] = {"EXISTS"}, *null[] = {"PING", NULL}, *text[] = {"PING", longest};
    struct dibs_reply *r = NULL;

    for (size_t k = 1; k < 257; k++)
        many[k] = "x";
    memset(longest, 'x', sizeof longest - 1);
    memset(longer, 'x', sizeof longer - 1);
    HOLDS(dibs_ask(d, NULL, 0, &r) == DIBS_MISUSE && !r && dibs_ask(d, null, 2, &r) == DIBS_MISUSE && !r);
    HOLDS(dibs_ask(d, many, 257, &r) == DIBS_MISUSE && !r);
    HOLDS(dibs_ask(d, text, 2, &r) == DIBS_OK && r->len == sizeof longest - 1);
    dibs_free(r);
    text[1] = longer;
    HOLDS(dibs_ask(d, text, 2, &r) == DIBS_MISUSE && !r);
    return 0;
}

int main(int argc, char **argv)
{
    struct dibs *one = NULL, *two = NULL;
    uint64_t fence = 0, other = 0, again = 0;
    struct dibs_reply *r = NULL;
    int code;
    struct dibs_part many[3] = {
        {.name = "tried"}, {.name = "red", .mode = DIBS_GROUP, .group = "g"}, {.name = "shared", .mode = DIBS_SHARED}};

    if (argc != 2)
        return 2;
    HOLDS(dibs_connect(&one, argv[1], NULL) == DIBS_OK);
    HOLDS(dibs_connect(&two, argv[1], NULL) == DIBS_OK);

    HOLDS(dibs_try(one, "tried", &(struct dibs_wish){.ttl_ms = 60000}, &fence) == DIBS_OK && fence);
    HOLDS(dibs_try(two, "tried", NULL, &other) == DIBS_TIMEOUT && !other);
    HOLDS(dibs_confirm(one, "tried") == DIBS_OK);
    HOLDS(dibs_fence(one, "tried") == fence && dibs_fence(two, "tried") == 0);
    HOLDS(dibs_safe_ms(one) > 0 && dibs_safe_ms(two) == 0);

    HOLDS(dibs_confirm(one, NULL) == DIBS_MISUSE && dibs_unlock(one, NULL) == DIBS_MISUSE && !dibs_fence(one, NULL));
    HOLDS(dibs_renew(one, NULL, 1) == DIBS_MISUSE && dibs_start_renew(one, NULL, 1) == DIBS_MISUSE);
    HOLDS(dibs_upgrade(one, NULL, 0, NULL) == DIBS_MISUSE && dibs_downgrade(one, NULL) == DIBS_MISUSE);
    HOLDS(dibs_start_unlock(one, NULL) == DIBS_MISUSE && dibs_watch(one, NULL, hear, NULL) == DIBS_MISUSE);
    HOLDS(asks_badly(one) == 0);
    HOLDS(dibs_confirm(one, "tried") == DIBS_OK && dibs_fence(one, "tried") == fence);

    HOLDS(dibs_renew(one, "tried", 120000) == DIBS_OK);
    HOLDS(dibs_renew(two, "tried", 120000) != DIBS_OK);
    HOLDS(dibs_renew(one, "tried", 0) == DIBS_MISUSE && dibs_start_renew(one, "tried", 1000000001) == DIBS_MISUSE);
    HOLDS(dibs_start_renew(one, "tried", 0) == DIBS_MISUSE && strstr(dibs_message(one), "1 to 1000000000 ms"));
    HOLDS(dibs_ask(one, (const char *[]){"unlock", "tried"}, 2, &r) == DIBS_MISUSE && !r);
    HOLDS(dibs_ask(one, (const char *[]){"SESSION", "END"}, 2, &r) == DIBS_MISUSE && !r);
    HOLDS(dibs_ask(one, (const char *[]){"LOCK", "asked", "VALUE", "token"}, 4, &r) == DIBS_MISUSE && !r);
    HOLDS(dibs_ask(one, (const char *[]){"SUBSCRIBE", "asked", "token"}, 3, &r) == DIBS_MISUSE && !r);
    HOLDS(dibs_ask(one, (const char *[]){"UNLOCK", "tried", "TOKEN", "t"}, 4, &r) == DIBS_NOT_HELD);
    dibs_free(r);
    HOLDS(dibs_confirm(one, "tried") == DIBS_OK);
    HOLDS(dibs_try(one, "other", &(struct dibs_wish){.mode = DIBS_SLOTS + 1}, NULL) == DIBS_MISUSE);
    HOLDS(dibs_fence(one, "tried") == fence);

    HOLDS(dibs_unlock(one, "tried") == DIBS_OK);
    HOLDS(dibs_fence(one, "tried") == 0 && dibs_confirm(one, "tried") != DIBS_OK);
    HOLDS(dibs_try(two, "tried", NULL, &other) == DIBS_OK && other > fence);

    HOLDS(dibs_lock(one, "nested", &(struct dibs_wish){.reentrant = 1, .priority = 9}, &fence) == DIBS_OK);
    HOLDS(dibs_lock(one, "nested", NULL, NULL) == DIBS_MISUSE);
    HOLDS(dibs_lock(one, "nested", &(struct dibs_wish){.reentrant = 1, .mode = DIBS_SHARED}, &again) == DIBS_OK);
    HOLDS(again == fence);
    HOLDS(dibs_start_lock(one, "nested", &(struct dibs_wish){.reentrant = 1}) == DIBS_OK);
    HOLDS(dibs_lock_result(one, &again) == DIBS_OK && again == fence);
    HOLDS(dibs_lock(one, "nested", &(struct dibs_wish){.reentrant = 1, .mode = DIBS_SLOTS, .slots = 2}, NULL) ==
          DIBS_MISUSE);
    HOLDS(dibs_unlock(one, "nested") == DIBS_OK && dibs_fence(one, "nested") == fence);
    HOLDS(dibs_start_unlock(one, "nested") == DIBS_OK && dibs_confirm(one, "nested") == DIBS_OK);
    HOLDS(dibs_try(two, "nested", NULL, NULL) == DIBS_TIMEOUT);
    HOLDS(dibs_unlock(one, "nested") == DIBS_OK && dibs_fence(one, "nested") == 0);
    HOLDS(dibs_unlock(one, "nested") == DIBS_NOT_HELD);
    HOLDS(dibs_try(two, "nested", NULL, NULL) == DIBS_OK && dibs_unlock(two, "nested") == DIBS_OK);
    HOLDS(dibs_lock(one, "x", &(struct dibs_wish){.priority = 10}, NULL) == DIBS_MISUSE);

    HOLDS(dibs_lock(one, "page", &(struct dibs_wish){.mode = DIBS_SHARED}, &fence) == DIBS_OK);
    HOLDS(dibs_lock(two, "page", &(struct dibs_wish){.mode = DIBS_SHARED}, &again) == DIBS_OK && again > fence);
    HOLDS(dibs_upgrade(one, "page", DIBS_NO_WAIT, NULL) == DIBS_TIMEOUT);
    HOLDS(dibs_upgrade(one, "page", 20, NULL) == DIBS_TIMEOUT && dibs_fence(one, "page") == fence);
    HOLDS(dibs_unlock(two, "page") == DIBS_OK);
    HOLDS(dibs_upgrade(one, "page", 0, &fence) == DIBS_OK && fence > again && dibs_fence(one, "page") == fence);
    HOLDS(dibs_try(two, "page", &(struct dibs_wish){.mode = DIBS_SHARED}, NULL) == DIBS_TIMEOUT);
    HOLDS(dibs_downgrade(one, "page") == DIBS_OK && dibs_fence(one, "page") == fence);
    HOLDS(dibs_try(two, "page", &(struct dibs_wish){.mode = DIBS_SHARED}, NULL) == DIBS_OK);
    HOLDS(dibs_unlock(two, "page") == DIBS_OK && dibs_upgrade(two, "page", 0, NULL) == DIBS_NOT_HELD);
    HOLDS(dibs_confirm(one, "page") == DIBS_OK && dibs_unlock(one, "page") == DIBS_OK);

    HOLDS(dibs_lock_many(one, many, 3, &(struct dibs_wish){.wait_ms = DIBS_NO_WAIT}) == DIBS_TIMEOUT);
    HOLDS(dibs_fence(one, "red") == 0 && dibs_fence(one, "shared") == 0);
    HOLDS(dibs_unlock(two, "tried") == DIBS_OK);
    HOLDS(dibs_lock_many(one, many, 3, &(struct dibs_wish){.ttl_ms = 60000}) == DIBS_OK);
    HOLDS(many[0].fence == dibs_fence(one, "tried") && many[0].fence > other);
    HOLDS(many[1].fence == dibs_fence(one, "red") && many[2].fence == dibs_fence(one, "shared"));
    HOLDS(dibs_try(two, "shared", &(struct dibs_wish){.mode = DIBS_SHARED}, NULL) == DIBS_OK);
    HOLDS(dibs_try(two, "red", NULL, NULL) == DIBS_TIMEOUT);
    HOLDS(dibs_unlock(one, "red") == DIBS_OK && dibs_confirm(one, "tried") == DIBS_OK);
    HOLDS(dibs_lock_many(one, many, 3, NULL) == DIBS_MISUSE); /* it holds two of them */
    HOLDS(dibs_cancel(two) == DIBS_MISUSE);
    HOLDS(dibs_start_lock(two, "tried", NULL) == DIBS_OK && dibs_lock_result(two, NULL) == DIBS_WAITING);
    HOLDS(dibs_cancel(two) == DIBS_OK);
    while ((code = dibs_lock_result(two, NULL)) == DIBS_WAITING) {
        poll(&(struct pollfd){.fd = dibs_fd(two), .events = dibs_events(two)}, 1, dibs_timeout_ms(two));
        dibs_process(two);
    }
    HOLDS(code == DIBS_TIMEOUT && dibs_confirm(two, "shared") == DIBS_OK);
    HOLDS(dibs_lock_many(one, many, 0, NULL) == DIBS_MISUSE && dibs_lock_many(one, many, 33, NULL) == DIBS_MISUSE);

    HOLDS(dibs_lock(one, "valued", &(struct dibs_wish){.value = "a\0b", .value_len = 3}, NULL) == DIBS_OK);
    HOLDS(shows(two, "valued", "a\\x00b") && shows(two, "tried", ""));
    HOLDS(dibs_unlock(one, "tried") == DIBS_OK && dibs_unlock(one, "shared") == DIBS_OK);
    many[0].value = "first";
    many[0].value_len = 5;
    HOLDS(dibs_lock_many(one, many, 3, NULL) == DIBS_OK && shows(two, "tried", "first") && shows(two, "red", ""));
    HOLDS(dibs_lock(one, "long", &(struct dibs_wish){.value = "x", .value_len = DIBS_VALUE_MAX + 1}, NULL) ==
          DIBS_MISUSE);
    HOLDS(dibs_watch(two, "watch*", hear, NULL) == DIBS_OK);
    HOLDS(dibs_start_lock(one, "watched", &(struct dibs_wish){.value = "v", .value_len = 1}) == DIBS_OK);
    while ((code = dibs_lock_result(one, NULL)) == DIBS_WAITING) {
        poll(&(struct pollfd){.fd = dibs_fd(one), .events = dibs_events(one)}, 1, dibs_timeout_ms(one));
        dibs_process(one);
    }
    while (code == DIBS_OK && !seen) {
        poll(&(struct pollfd){.fd = dibs_fd(two), .events = dibs_events(two)}, 1, dibs_timeout_ms(two));
        if (dibs_process(two) != DIBS_OK)
            break;
    }
    HOLDS(seen && strcmp(seen, "v") == 0);
    dibs_close(one);
    dibs_close(two);
    return 0;
}
