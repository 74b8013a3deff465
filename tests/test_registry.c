/* The registry of messages between members (link/registry.h): the form of every message, and the table in src/link/README.md.
 *
 *   build/release/tests/test_registry --table    prints the table as it should be
 * Invariant: I19. */
#include "test.h"

#include "base/bytes.h"
#include "link/registry.h"

#include <stdio.h>
#include <string.h>

static const char *const part_about[PARTS] = {[PART_VIEW] = "view",          [PART_STEP] = "algorithm",
                                              [PART_KIND] = "kind",          [PART_CARRIED] = "carried-over holders",
                                              [PART_REPORT] = "reports",     [PART_CONVERT] = "changes of the mode",
                                              [PART_KEEP] = "kept sessions", "tokens",
                                              [PART_MEMBER] = "members",     [PART_ADMIN] = "queries and events",
                                              [PART_DEADLOCK] = "deadlocks"};

static void add(struct bytes *to, const char *text)
{
    memcpy(bytes_add(to, strlen(text)), text, strlen(text));
}

static void add_row(struct bytes *to, unsigned type)
{
    const struct registry_entry *e = &registry[type];
    char line[512];

    snprintf(line, sizeof line, "| %u | %s | %u | %s | %s | %s -> %s | ", type, e->name, e->since,
             e->sort == LINK_LETTER ? "letter" : "note", part_about[e->part], e->from, e->to);
    add(to, line);
    for (const struct registry_field *f = e->field; f->name; f++) {
        if (f->size >= REGISTRY_LONG)
            snprintf(line, sizeof line, "%s%s", f->name,
                     f->size == REGISTRY_REST   ? ".."
                     : f->size == REGISTRY_LONG ? "+"
                                                : "");
        else
            snprintf(line, sizeof line, "%s:%u", f->name, f->size);
        add(to, line);
        add(to, f[1].name ? ", " : "");
    }
    snprintf(line, sizeof line, " | %s |\n", e->says);
    add(to, line);
}

static void make_table(struct bytes *to)
{
    add(to, "| number | message | since | sent as | about | from -> to | fields | what it says "
            "|\n|---|---|---|---|---|---|---|---|\n");
    for (unsigned part = 1; part < PARTS; part++)
        for (unsigned type = 0; type < REGISTRY_SIZE; type++)
            if (registry[type].name && registry[type].part == part)
                add_row(to, type);
}

static void the_readme_has_the_table_of_all_messages(void **state)
{
    static char text[1 << 16];
    struct bytes table = {0};
    FILE *from = fopen("src/link/README.md", "r");

    (void)state;
    assert_non_null(from);
    text[fread(text, 1, sizeof text - 1, from)] = '\0';
    fclose(from);
    make_table(&table);
    *bytes_add(&table, 1) = '\0';
    if (!strstr(text, (char *)table.at))
        fail_msg("src/link/README.md differs from link/registry.h; take the output of %s", "test_registry --table");
    bytes_free(&table);
}

static void every_message_is_described(void **state)
{
    unsigned count = 0;

    (void)state;
    for (unsigned type = 0; type < REGISTRY_SIZE; type++) {
        const struct registry_entry *e = &registry[type];

        if (!e->name)
            continue;
        count++;
        assert_true(type > 0 && e->sort != LINK_NOTHING && e->part > 0 && e->part < PARTS);
        assert_in_range(e->since, LINK_VERSION_FIRST, type == NOTE_NEXT ? LINK_VERSION + 1 : LINK_VERSION);
        assert_true(*e->from && *e->to && *e->says && e->field[0].name);
        for (const struct registry_field *f = e->field; f->name; f++) {
            assert_in_range(f->size, 1, REGISTRY_REST);
            assert_true(f->size != REGISTRY_REST || !f[1].name); /* nothing can follow it */
        }
    }
    assert_true(count > 25);
}

/* A message of this type: numbers are 1, texts have 3 bytes, the rest has none. Returns its length. */
static size_t make_message(unsigned type, uint8_t *bytes)
{
    uint8_t *at = bytes;

    *at++ = (uint8_t)type;
    for (const struct registry_field *f = registry[type].field; f->name; f++) {
        size_t len = f->size == REGISTRY_TEXT   ? 4
                     : f->size == REGISTRY_LONG ? 5
                     : f->size == REGISTRY_REST ? 0
                                                : f->size;

        memset(at, 0, len);
        if (f->size == REGISTRY_TEXT || f->size == REGISTRY_LONG)
            *at = 3;
        at += len;
    }
    return (size_t)(at - bytes);
}

static bool ends_with_rest(unsigned type)
{
    const struct registry_field *f = registry[type].field;

    while (f[1].name)
        f++;
    return f->size == REGISTRY_REST;
}

static void every_truncation_and_every_extension_is_refused(void **state)
{
    uint8_t bytes[512];
    const char *wrong;

    (void)state;
    for (unsigned type = 0; type < REGISTRY_SIZE; type++) {
        const struct registry_entry *e = &registry[type];
        enum link_sort other = e->sort == LINK_LETTER ? LINK_NOTE : LINK_LETTER;
        size_t len = e->name ? make_message(type, bytes) : 0;

        if (!e->name)
            continue;
        assert_ptr_equal(registry_check(e->sort, bytes, len, &wrong), e);
        assert_null(wrong);
        assert_null(registry_check(other, bytes, len, &wrong));
        for (size_t cut = 0; cut < len; cut++) {
            assert_null(registry_check(e->sort, bytes, cut, &wrong));
            assert_non_null(wrong);
        }
        bytes[len] = 1;
        assert_true(ends_with_rest(type) == (registry_check(e->sort, bytes, len + 1, &wrong) != NULL));
    }
}

static void a_type_that_is_not_registered_is_refused(void **state)
{
    const char *wrong;

    (void)state;
    for (unsigned type = 0; type < REGISTRY_SIZE; type++)
        if (!registry[type].name) {
            uint8_t byte = (uint8_t)type;

            assert_null(registry_check(LINK_LETTER, &byte, 1, &wrong));
            assert_null(registry_check(LINK_NOTE, &byte, 1, &wrong));
        }
    assert_null(registry_check(LINK_NOTE, (const uint8_t *)"", 0, &wrong));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_readme_has_the_table_of_all_messages),
        cmocka_unit_test(every_message_is_described),
        cmocka_unit_test(every_truncation_and_every_extension_is_refused),
        cmocka_unit_test(a_type_that_is_not_registered_is_refused),
    };

    if (argc > 1 && strcmp(argv[1], "--table") == 0) {
        struct bytes table = {0};

        make_table(&table);
        fwrite(table.at, 1, bytes_len(&table), stdout);
        bytes_free(&table);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
